"""The programs that download, each behind the same port."""

"""SQLite: `writer` is the one thread that writes, `database` runs readers beside it, `watch` notices other processes."""

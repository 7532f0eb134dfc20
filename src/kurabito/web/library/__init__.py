"""Libraries and their folders."""

"""Keeping the installation in order: `backups`, `integrity`, `retention`, `disk_space`, and checkpoints of SQLite's log (`wal`)."""

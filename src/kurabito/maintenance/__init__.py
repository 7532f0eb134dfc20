"""Maintenance of the database: backups, integrity checks, retention, and checkpoints of SQLite's log."""

"""Keeping the installation in order: `backups`, `integrity`, `retention`, `disk_space`, `notices`, and checkpoints of SQLite's log (`wal`).

backups.py    copies of a SQLite database, and the way back
disk_space.py whether a disk has room for what is written to it
integrity.py  is the database whole?
kept_access.py who may come in after a restore: what was shut since the copy stays shut
notices.py    what needs a person, and what of it its keeper hid until it changes
retention.py  retention: deletes what has expired, as a task like any other
wal.py        checkpoints of SQLite's log: who may ask for one, how often, and what became of it
wal_watch.py  looks at the size of SQLite's log from time to time
"""

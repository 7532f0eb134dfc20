"""SQLite: `writer` is the one thread that writes, `database` runs readers beside it, `watch` notices other processes.

checkpoints.py moves what was written from SQLite's log into its file, beside the writer and not in its way
connection.py  one transaction on SQLite, and retries while another process holds the write lock
database.py    SQLite: one writer thread, readers beside it, and no caller ever gets "database is locked"
privacy.py     a SQLite file for its owner alone: feeds with passkeys
rows.py        a statement for many rows on SQLite: once for each, or for hundreds at once where it takes them as one SELECT
tally.py       what a migration on SQLite must not lose: rows, and the rows that other rows refer to
watch.py       notices what other processes commit to a SQLite file
writer.py      the one thread of a process that writes to a SQLite file
"""

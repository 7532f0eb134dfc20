"""The contract of the two planes: what is stored, who may write it, and how a row is leased.

    values.py   every value that an enum-like column may hold
    codes.py    why a row is in trouble
    jobs.py     `jobs` as a leased table
    thumbnails.py  `thumbnails` and `thumbnail_cleanup_jobs` as leased tables, and the limit on what is read for them
    deletion.py what a `delete` job is told and writes down
    wal.py      `wal_maintenance_jobs` as a leased table
    rights.py   what a data plane may write
    planes.py   data planes say that they live

The control plane decides and the data plane executes; the database is all they share.
"""

"""A process that writes to a SQLite file without pause, or keeps its lock; `test_sqlite_file.py` starts it.

`python sqlite_writer.py FILE batches SECONDS` prints how many transactions it committed and the longest one took.
`python sqlite_writer.py FILE hold` takes the write lock, says so, and keeps it until its input ends.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from pathlib import Path

from kurabito.db.port import Connection
from kurabito.db.sqlite.database import SqliteDatabase


def batches(path: Path, seconds: float) -> None:
    database = SqliteDatabase(path)
    database.open()

    def load(conn: Connection) -> None:
        for _ in range(500):
            conn.run("INSERT INTO notes (text) VALUES ('from a batch')")

    until, committed, longest = time.monotonic() + seconds, 0, 0.0
    while time.monotonic() < until:
        began = time.monotonic()
        database.write_blocking(load)
        committed, longest = committed + 1, max(longest, time.monotonic() - began)
    database.close()
    sys.stdout.write(f"{committed} {longest}\n")


def hold(path: Path) -> None:
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("BEGIN IMMEDIATE")
    sys.stdout.write("held\n")
    sys.stdout.flush()
    sys.stdin.read()
    raw.close()


if __name__ == "__main__":
    file, what = Path(sys.argv[1]), sys.argv[2]
    if what == "hold":
        hold(file)
    else:
        batches(file, float(sys.argv[3]))

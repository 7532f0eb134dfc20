"""The process that removes a library is killed in the middle; the next one goes on, and nothing is left over."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from kurabito.app.compose.library import open_library
from kurabito.db import migrate
from kurabito.db.migrate import PRODUCT
from kurabito.library.libraries import LibrarySettings
from kurabito.runtime import TaskState, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

FILES = 60_000
LIMIT = 120.0
PROGRAM = """
import asyncio, sys
from kurabito.library.removal import LibraryRemoval
from kurabito.runtime import Registry, Worker, open_queue

async def main():
    async with open_queue(sys.argv[1]) as queue:
        registry = Registry()
        LibraryRemoval(queue).join(registry)
        await Worker(queue, registry).run()

asyncio.run(main())
"""
FILL = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at)
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
SELECT 1, n || '.mkv', 1, 1, 0, 0 FROM number
"""


def start(url: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", PROGRAM, url])


def known(file: Path) -> int:
    """How many files are known."""
    with sqlite3.connect(file) as raw:
        return int(raw.execute("SELECT count(*) FROM library_files").fetchone()[0])


def until_fewer(file: Path, files: int) -> None:
    ends = time.monotonic() + LIMIT
    while known(file) >= files:
        assert time.monotonic() < ends, "nothing was forgotten"


async def test_a_removal_survives_the_death_of_its_workers(tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    file = tmp_path / "kurabito.db"
    url = f"sqlite:///{file}"
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        parts = open_library(Settings(state=tmp_path / "state"), queue)
        await parts.libraries.create(str(tmp_path / "films"), LibrarySettings(name="Films"))
        await queue.database.write(lambda conn: conn.raw.execute(FILL, [FILES]))
        task = await parts.removal.begin(1)
        left = FILES
        for _ in range(2):
            worker = start(url)
            until_fewer(file, left)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            left = known(file)
            # There is a library for whatever is left.
            assert (await parts.libraries.get(1)).library.removing_since is not None
        worker = start(url)
        done = await queue.wait(task.id, timeout=LIMIT)
        worker.terminate()
        worker.wait()
        assert (done.state, done.lost_leases) == (TaskState.SUCCEEDED, 2)
        assert done.result == {"library_id": 1, "file_count": left}
        tables = "SELECT (SELECT count(*) FROM library_files), (SELECT count(*) FROM library_roots)"
        assert await queue.database.read(lambda conn: conn.all(tables)) == [(0, 0)]

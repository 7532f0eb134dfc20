"""A worker that was written from the page about the protocol alone does its part."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from kurabito.clock import SECOND
from kurabito.dataplane.files.paths import as_text
from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT

WORKER = Path(__file__).parents[3] / "examples" / "foreign_worker.py"
NAMES = [b"a.mkv", b"folder/b.mkv", b"folder/caf\xe9.mkv", b"c.mkv"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with a library whose files wait to be hashed, and the job to do it."""
    root = tmp_path / "library"
    database = open_database(f"sqlite:///{tmp_path / 'kurabito.db'}")
    database.open()
    migrate(database, PRODUCT)
    database.close()
    with closing(sqlite3.connect(tmp_path / "kurabito.db", isolation_level=None)) as raw:
        raw.execute(
            "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'shows', ?, 0, 0)",
            (str(root),),
        )
        for name in NAMES:
            path = os.path.join(os.fsencode(root), name)  # noqa: PTH118 - a name that is no text
            os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
            with open(path, "wb") as content:  # noqa: PTH123
                content.write(b"same" if name != b"c.mkv" else b"else")
            add(raw, as_text(os.fsdecode(name)))
        add(raw, "gone.mkv")
        add(raw, "../outside.mkv")
        raw.execute("INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES ('j', 'hash', 1, 0, 0)")
    return tmp_path / "kurabito.db"


def add(raw: sqlite3.Connection, path: str) -> None:
    raw.execute(
        "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
        "VALUES (1, ?, 4, 0, 0, 0)",
        (path,),
    )


def ask(file: Path, question: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as raw:
        return raw.execute(question).fetchall()


def test_it_hashes_what_is_there_and_ends_its_job(file: Path) -> None:
    subprocess.run([sys.executable, WORKER, file, "--once"], check=True, timeout=60)
    assert ask(file, "SELECT status, progress, lease_expires_at, error_code FROM jobs") == [
        ("completed", 1.0, None, None)
    ]
    same = hashlib.sha256(b"same").digest()
    found = ask(file, "SELECT relative_path, content_hash FROM library_files WHERE needs_hash = 0")
    assert {str(path): content for path, content in found} == {
        "a.mkv": same,
        "folder/b.mkv": same,
        "folder/caf\uefe9.mkv": same,
        "c.mkv": hashlib.sha256(b"else").digest(),
    }
    troubled = ask(file, "SELECT relative_path, hash_error_count FROM library_files WHERE needs_hash = 1 ORDER BY 1")
    assert troubled == [("../outside.mkv", 1), ("gone.mkv", 1)]
    # The triggers hear of it whoever writes.
    assert ask(file, "SELECT file_count, copies FROM duplicate_groups WHERE file_count > 1") == [(3, 3)]


def test_it_takes_over_nothing_that_is_alive_and_frees_what_is_not(file: Path) -> None:
    moment = time.time_ns() // 1000
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        raw.execute(
            "UPDATE jobs SET status = 'running', worker_id = 'other#1', lease_expires_at = ?", (moment + 60 * SECOND,)
        )
        subprocess.run([sys.executable, WORKER, file, "--once"], check=True, timeout=60)
        assert ask(file, "SELECT status, worker_id FROM jobs") == [("running", "other#1")]
        raw.execute("UPDATE jobs SET lease_expires_at = ?", (moment,))
    subprocess.run([sys.executable, WORKER, file, "--once"], check=True, timeout=60)
    assert ask(file, "SELECT status, worker_id, error_code FROM jobs") == [("retryable", None, "LEASE_EXPIRED")]


def test_killed_in_the_middle_it_leaves_what_another_can_take_up(file: Path) -> None:
    large = file.parent / "library" / "a.mkv"
    # Nothing of it is on the disk, and reading it takes seconds.
    os.truncate(large, 20 << 30)
    process = subprocess.Popen([sys.executable, WORKER, file])
    try:
        while ask(file, "SELECT status FROM jobs") == [("pending",)]:
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert ask(file, "SELECT status, worker_id IS NULL FROM jobs") == [("running", 0)]
    os.truncate(large, 4)
    with closing(sqlite3.connect(file, isolation_level=None)) as raw:
        raw.execute("UPDATE jobs SET lease_expires_at = 0")
        subprocess.run([sys.executable, WORKER, file, "--once"], check=True, timeout=60)
        assert ask(file, "SELECT status, error_code FROM jobs") == [("retryable", "LEASE_EXPIRED")]
        # As the control plane does.
        raw.execute("UPDATE jobs SET status = 'pending'")
    subprocess.run([sys.executable, WORKER, file, "--once"], check=True, timeout=60)
    assert ask(file, "SELECT status FROM jobs") == [("completed",)]
    assert ask(file, "SELECT count(*) FROM library_files WHERE needs_hash = 0") == [(4,)]

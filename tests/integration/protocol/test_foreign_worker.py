"""A worker that was written from the page about the protocol alone does its part, on both databases."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from tests.support.waiting import PATIENCE

from kurabito.dataplane.files.paths import as_text
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT

WORKER = Path(__file__).parents[3] / "examples" / "foreign_worker.py"
NAMES = [b"a.mkv", b"folder/b.mkv", b"folder/caf\xe9.mkv", b"c.mkv"]
ADD_LIBRARY = (
    "INSERT INTO library_roots (id, name, root_path, algorithm, created_at, updated_at) "
    "VALUES (1, 'shows', :root, :algorithm, :now, :now)"
)
ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, :path, 4, 1000000000, :now, :now)"
)
ADD_JOB = "INSERT INTO jobs (id, kind, library_id, created_at, updated_at) VALUES ('j', 'hash', 1, :now, :now)"
HASHED = "SELECT relative_path, hash_algorithm, content_hash FROM library_files WHERE needs_hash = 0"


@dataclass
class Shows:
    """A library whose files wait to be hashed, and the job to do it; the worker is a process of its own."""

    url: str
    database: Database
    folder: Path

    def run(self, sql: str, **values: Any) -> int:
        return self.database.write_blocking(lambda conn: conn.run(sql, values))

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        return self.database.read_blocking(lambda conn: conn.all(sql))

    def work(self, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, WORKER, self.url, "--once", *options],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    @contextmanager
    def at_work(self) -> Iterator[subprocess.Popen[bytes]]:
        """The worker, once it has claimed the job."""
        process = subprocess.Popen([sys.executable, WORKER, self.url])
        try:
            while self.ask("SELECT status FROM jobs") == [("pending",)]:
                time.sleep(0.005)
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def shows(url: str, disk: Path) -> Iterator[Shows]:
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)
    shows = Shows(url, database, disk)
    shows.run(ADD_LIBRARY, root=str(disk), algorithm="sha256")
    for name in NAMES:
        path = os.path.join(os.fsencode(disk), name)  # noqa: PTH118 - a name that is no text
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb") as content:  # noqa: PTH123
            content.write(b"same" if name != b"c.mkv" else b"else")
        os.utime(path, (1, 1))
        shows.run(ADD_FILE, path=as_text(os.fsdecode(name)))
    shows.run(ADD_FILE, path="gone.mkv")
    shows.run(ADD_JOB)
    yield shows
    database.close()


def test_it_hashes_what_is_there_and_ends_its_job(shows: Shows) -> None:
    (shows.folder / "changed.mkv").write_bytes(b"five!")
    shows.run(ADD_FILE, path="changed.mkv")
    outcome = shows.work()
    assert outcome.returncode == 0, outcome.stderr
    assert shows.ask("SELECT status, progress, lease_expires_at, error_code FROM jobs") == [
        ("completed", 1.0, None, None)
    ]
    same = hashlib.sha256(b"same").digest()
    assert {path: content for path, _, content in shows.ask(HASHED)} == {
        "a.mkv": same,
        "folder/b.mkv": same,
        "folder/caf\uefe9.mkv": same,
        "c.mkv": hashlib.sha256(b"else").digest(),
    }
    troubled = (
        "SELECT relative_path, hash_error_count, hash_last_error FROM library_files WHERE needs_hash = 1 ORDER BY 1"
    )
    assert shows.ask(troubled) == [
        ("changed.mkv", 0, "FILE_CHANGED: it changed since it was last seen"),
        ("gone.mkv", 1, "FILE_UNREADABLE: No such file or directory"),
    ]
    # The triggers hear of every writer, and it took its leave.
    assert shows.ask("SELECT file_count FROM duplicate_groups WHERE file_count > 1") == [(3,)]
    assert shows.ask("SELECT name FROM data_planes") == []


def test_it_hashes_with_the_algorithm_of_the_library(shows: Shows) -> None:
    shows.run("UPDATE library_roots SET algorithm = 'blake3'")
    assert shows.work().returncode == 0
    found = shows.ask(HASHED)
    assert len(found) == len(NAMES)
    assert {algorithm for _, algorithm, _ in found} == {"blake3"}
    assert ("a.mkv", "blake3", blake3(b"same").digest()) in found


def test_a_job_that_it_cannot_do_is_left_to_others(shows: Shows, tmp_path: Path) -> None:
    shows.run("UPDATE library_roots SET algorithm = 'blake3'")
    # As if it were not installed.
    (tmp_path / "blake3.py").write_text("raise ImportError")
    assert shows.work(PYTHONPATH=str(tmp_path)).returncode == 0
    assert shows.ask("SELECT status, worker_id FROM jobs") == [("pending", None)]


def test_a_database_of_another_major_is_refused_with_words(shows: Shows) -> None:
    shows.run("UPDATE protocol_version SET major = 2")
    outcome = shows.work()
    assert outcome.returncode == 1
    assert outcome.stderr == "the database speaks version 2.0 of the protocol, and this program 1.0\n"
    assert shows.ask("SELECT status FROM jobs") == [("pending",)]


def test_it_takes_over_nothing_that_is_alive_and_frees_what_is_not(shows: Shows) -> None:
    alive = "UPDATE jobs SET status = 'running', worker_id = 'other#1', lease_expires_at = :now + :seconds * 1000000"
    shows.run(alive, seconds=60)
    assert shows.work().returncode == 0
    assert shows.ask("SELECT status, worker_id FROM jobs") == [("running", "other#1")]
    shows.run(alive, seconds=0)
    assert shows.work().returncode == 0
    assert shows.ask("SELECT status, worker_id, error_code FROM jobs") == [("retryable", None, "LEASE_EXPIRED")]


def test_killed_in_the_middle_it_leaves_what_another_can_take_up(shows: Shows) -> None:
    large = shows.folder / "a.mkv"
    # Nothing of it is on the disk, and reading it takes seconds.
    os.truncate(large, 20 << 30)
    with shows.at_work() as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert shows.ask("SELECT status FROM jobs WHERE worker_id IS NOT NULL") == [("running",)]
    os.truncate(large, 4)
    os.utime(large, (1, 1))
    shows.run("UPDATE jobs SET lease_expires_at = 0")
    assert shows.work().returncode == 0
    assert shows.ask("SELECT status, error_code FROM jobs") == [("retryable", "LEASE_EXPIRED")]
    # As the control plane does.
    shows.run("UPDATE jobs SET status = 'pending'")
    assert shows.work().returncode == 0
    assert shows.ask("SELECT status FROM jobs") == [("completed",)]
    assert len(shows.ask(HASHED)) == len(NAMES)

"""A database of the earlier system is taken over with everything in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kurabito.db import migrate, open_database
from kurabito.db.errors import UniqueConflict
from kurabito.db.migrate import PRODUCT

BEFORE = """
CREATE TABLE jobs (
    id VARCHAR(36) PRIMARY KEY, kind VARCHAR(9) NOT NULL, status VARCHAR(9) NOT NULL, dry_run BOOLEAN NOT NULL,
    worker_id VARCHAR(128), worker_heartbeat_at DATETIME, progress FLOAT NOT NULL, total_items INTEGER,
    processed_items INTEGER NOT NULL, payload JSON NOT NULL, error_message TEXT,
    created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, started_at DATETIME, finished_at DATETIME
);
CREATE INDEX ix_jobs_kind_status ON jobs (kind, status);
CREATE INDEX ix_jobs_created_id ON jobs (created_at, id);
CREATE TABLE library_roots (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL UNIQUE, root_path VARCHAR(2048) NOT NULL UNIQUE,
    created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, last_scanned_at DATETIME
);
CREATE TABLE scan_sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, status VARCHAR(9) NOT NULL, started_at DATETIME NOT NULL, finished_at DATETIME,
    error_message TEXT, files_seen BIGINT NOT NULL, directories_seen BIGINT NOT NULL, bytes_seen BIGINT NOT NULL
);
CREATE TABLE library_files (
    id INTEGER PRIMARY KEY AUTOINCREMENT, library_id INTEGER NOT NULL, relative_path VARCHAR(4096) NOT NULL,
    size_bytes BIGINT NOT NULL, mtime_ns BIGINT NOT NULL, inode BIGINT, device BIGINT,
    created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL, remark TEXT
);
"""
HASHES = """
ALTER TABLE library_files ADD COLUMN is_missing BOOLEAN NOT NULL DEFAULT 0;
ALTER TABLE library_files ADD COLUMN needs_hash BOOLEAN NOT NULL DEFAULT 1;
ALTER TABLE library_files ADD COLUMN hash_algorithm VARCHAR(6);
ALTER TABLE library_files ADD COLUMN content_hash BLOB;
UPDATE library_files SET needs_hash = 0, hash_algorithm = 'BLAKE3', content_hash = x'11' WHERE id IN (41, 42);
"""
MOMENT = "2024-05-06 07:08:09.123456"


def job(number: int, kind: str, status: str, minute: int) -> tuple[Any, ...]:
    created = f"2024-05-06 07:{minute:02}:00.000000"
    return (
        f"{number:08}-0000-4000-8000-000000000000",
        kind,
        status,
        1,
        None,
        None,
        0.5,
        10,
        5,
        "{}",
        None,
        created,
        created,
    )


def legacy(path: Path, *, hashes: bool = True) -> Path:
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(BEFORE)
        raw.execute(
            "INSERT INTO library_roots VALUES (7, 'shows', '/media/shows', ?, '2024-05-06T09:08:09+02:00', NULL)",
            (MOMENT,),
        )
        raw.execute("INSERT INTO scan_sessions VALUES (3, 'SUCCEEDED', ?, ?, NULL, 2, 1, 300)", (MOMENT, MOMENT))
        files = [(41, 7, "a.mkv", 100, 5, 1, 1), (42, 7, "b/ä.mkv", 100, 6, 2, 1), (43, 7, "c.mkv", 100, 7, 3, 1)]
        for file in files:
            raw.execute("INSERT INTO library_files VALUES (?,?,?,?,?,?,?,?,?,'keep me')", (*file, MOMENT, MOMENT))
        rows = [
            job(1, "SCAN", "RUNNING", 5),
            job(2, "HASH", "RUNNING", 3),
            job(3, "SCAN", "PENDING", 1),
            job(4, "DELETE", "RUNNING", 2),
            job(5, "SCAN", "COMPLETED", 0),
        ]
        columns = (
            "id, kind, status, dry_run, worker_id, worker_heartbeat_at, progress, total_items, processed_items, payload, "
            "error_message, created_at, updated_at"
        )
        raw.executemany(f"INSERT INTO jobs ({columns}) VALUES ({', '.join('?' * 13)})", rows)
        if hashes:
            raw.executescript(HASHES)
        raw.commit()
    return path


def taken_over(path: Path) -> sqlite3.Connection:
    database = open_database(f"sqlite:///{path}")
    database.open()
    try:
        migrate(database, PRODUCT)
    finally:
        database.close()
    raw = sqlite3.connect(path)
    raw.row_factory = sqlite3.Row
    return raw


def microseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000_000)


@pytest.mark.parametrize("hashes", [True, False], ids=["with hashes", "columns missing"])
def test_nothing_is_lost_and_times_are_numbers(tmp_path: Path, hashes: bool) -> None:
    with closing(taken_over(legacy(tmp_path / "old.db", hashes=hashes))) as raw:
        (root,) = raw.execute("SELECT * FROM library_roots").fetchall()
        assert (root["id"], root["name"], root["root_path"]) == (7, "shows", "/media/shows")
        assert root["created_at"] == microseconds(MOMENT)
        # It had a zone.
        assert root["updated_at"] == microseconds("2024-05-06 07:08:09")
        assert (root["last_scanned_at"], root["algorithm"], root["hash_policy"]) == (None, "blake3", "candidates")
        (session,) = raw.execute("SELECT * FROM scan_sessions").fetchall()
        assert (session["id"], session["status"], session["files_seen"], session["error_count"]) == (
            3,
            "succeeded",
            2,
            0,
        )
        assert session["finished_at"] == microseconds(MOMENT)
        files = raw.execute("SELECT * FROM library_files ORDER BY id").fetchall()
        assert [(file["id"], file["relative_path"], file["size_bytes"]) for file in files] == [
            (41, "a.mkv", 100),
            (42, "b/ä.mkv", 100),
            (43, "c.mkv", 100),
        ]
        # A column that we do not have would be in the way of one that we may add.
        assert "remark" not in files[0].keys()  # noqa: SIM118 (a row of sqlite3 is no mapping)
        kept = raw.execute("SELECT * FROM earlier_library_files ORDER BY id").fetchall()
        assert [(row["id"], row["remark"], row["is_carried"]) for row in kept] == [
            (number, "keep me", 1) for number in (41, 42, 43)
        ]
        assert {file["created_at"] for file in files} == {microseconds(MOMENT)}
        assert [file["hash_algorithm"] for file in files] == (["blake3", "blake3", None] if hashes else [None] * 3)
        assert [file["needs_hash"] for file in files] == ([0, 0, 1] if hashes else [1, 1, 1])
        groups = [tuple(group) for group in raw.execute("SELECT * FROM duplicate_groups")]
        assert groups == ([("blake3", b"\x11", 2, 200, 2)] if hashes else [])


def test_one_scan_or_hash_stays_and_the_others_can_be_retried(tmp_path: Path) -> None:
    with closing(taken_over(legacy(tmp_path / "old.db"))) as raw:
        jobs = {row["id"][7]: row for row in raw.execute("SELECT * FROM jobs")}
        assert {number: row["kind"] for number, row in jobs.items()} == {
            "1": "scan", "2": "hash", "3": "scan", "4": "delete", "5": "scan",
        }  # fmt: skip
        # Running before pending, then the older.
        assert {number: row["status"] for number, row in jobs.items()} == {
            "1": "retryable", "2": "running", "3": "retryable", "4": "running", "5": "completed",
        }  # fmt: skip
        assert {number for number, row in jobs.items() if row["error_code"] == "SUPERSEDED"} == {"1", "3"}
        assert all(row["error_message"] for row in (jobs["1"], jobs["3"]))
        assert jobs["1"]["created_at"] == microseconds("2024-05-06 07:05:00")
        assert (jobs["5"]["total_items"], jobs["5"]["processed_items"], jobs["5"]["progress"]) == (10, 5, 0.5)
        index = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'ix_jobs_single_active_scan_hash'").fetchone()[
            0
        ]
        assert "jobs ((1))" in index
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute("UPDATE jobs SET status = 'pending' WHERE id LIKE '00000001%'")


def test_a_migration_that_was_made_is_named_as_the_protocol_names_it(tmp_path: Path) -> None:
    with closing(taken_over(legacy(tmp_path / "old.db", hashes=False))) as raw:
        names = [row[0] for row in raw.execute("SELECT name FROM kurabito_migrations WHERE number = 11")]
        assert names == ["duplicate_group_query_indexes"]
        assert raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'ix_library_files_dedup_group'").fetchone()


def test_a_second_active_scan_is_refused_by_the_database_itself(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'new.db'}")
    database.open()
    migrate(database, PRODUCT)
    insert = "INSERT INTO jobs (id, kind, status, created_at, updated_at) VALUES (:id, :kind, :status, :now, :now)"

    def add(number: str, kind: str, status: str) -> None:
        database.write_blocking(lambda conn: conn.run(insert, {"id": number, "kind": kind, "status": status}))

    try:
        add("a", "scan", "pending")
        for kind in ("scan", "hash"):
            with pytest.raises(UniqueConflict):
                add("b", kind, "running")
        add("c", "scan", "retryable")
        add("d", "delete", "pending")
        add("e", "delete", "running")
    finally:
        database.close()

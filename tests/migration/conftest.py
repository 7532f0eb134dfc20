"""Databases of the earlier system, in the shapes that its versions and their accidents left behind."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from kurabito.db import migrate, open_database
from kurabito.db.adoption import TakenTable
from kurabito.db.migrate import PRODUCT, RUNTIME
from kurabito.db.rights import say_control_plane

Row = dict[str, Any]
MOMENT = 1_714_979_289_123_456
FILES = 60
"""So many that the first report of rows that were gone could be told from chance."""

# Its own statements, with the references that its tables had among one another.
COLUMNS: dict[str, dict[str, str]] = {
    "library_roots": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "name": "VARCHAR(255) NOT NULL UNIQUE",
        "root_path": "VARCHAR(2048) NOT NULL UNIQUE",
        "created_at": "DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP",
        "updated_at": "DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP",
        "last_scanned_at": "DATETIME",
    },
    "jobs": {
        "id": "VARCHAR(36) PRIMARY KEY",
        "kind": "VARCHAR(9) NOT NULL",
        "status": "VARCHAR(9) NOT NULL",
        "dry_run": "BOOLEAN NOT NULL",
        "worker_id": "VARCHAR(128)",
        "worker_heartbeat_at": "DATETIME",
        "lease_expires_at": "DATETIME",
        "progress": "FLOAT NOT NULL",
        "total_items": "INTEGER",
        "processed_items": "INTEGER NOT NULL",
        "payload": "JSON NOT NULL",
        "error_code": "VARCHAR(64)",
        "error_message": "TEXT",
        "created_at": "DATETIME NOT NULL",
        "updated_at": "DATETIME NOT NULL",
        "started_at": "DATETIME",
        "finished_at": "DATETIME",
    },
    "scan_sessions": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "job_id": "VARCHAR(36) REFERENCES jobs(id) ON DELETE CASCADE",
        "library_id": "INTEGER REFERENCES library_roots(id) ON DELETE CASCADE",
        "status": "VARCHAR(9) NOT NULL",
        "started_at": "DATETIME NOT NULL",
        "finished_at": "DATETIME",
        "error_message": "TEXT",
        "files_seen": "BIGINT NOT NULL DEFAULT 0",
        "directories_seen": "BIGINT NOT NULL DEFAULT 0",
        "bytes_seen": "BIGINT NOT NULL DEFAULT 0",
    },
    "library_files": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "library_id": "INTEGER NOT NULL REFERENCES library_roots(id) ON DELETE CASCADE",
        "relative_path": "VARCHAR(4096) NOT NULL",
        "size_bytes": "BIGINT NOT NULL",
        "mtime_ns": "BIGINT NOT NULL",
        "inode": "BIGINT",
        "device": "BIGINT",
        "is_missing": "BOOLEAN NOT NULL DEFAULT 0",
        "needs_hash": "BOOLEAN NOT NULL DEFAULT 1",
        "hash_algorithm": "VARCHAR(6)",
        "content_hash": "BLOB",
        "hashed_at": "DATETIME",
        "hash_retry_after": "DATETIME",
        "created_at": "DATETIME NOT NULL",
        "updated_at": "DATETIME NOT NULL",
    },
    "thumbnails": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "thumb_key": "VARCHAR(128) NOT NULL UNIQUE",
        "file_id": "INTEGER NOT NULL REFERENCES library_files(id) ON DELETE CASCADE",
        "group_key": "VARCHAR(256)",
        "status": "VARCHAR(16) NOT NULL DEFAULT 'pending'",
        "media_type": "VARCHAR(16) NOT NULL",
        "format": "VARCHAR(16) NOT NULL DEFAULT 'jpeg'",
        "max_dimension": "INTEGER NOT NULL DEFAULT 256",
        "source_size_bytes": "BIGINT NOT NULL",
        "source_mtime_ns": "BIGINT NOT NULL",
        "output_path": "VARCHAR(1024)",
        "width": "INTEGER",
        "error_count": "INTEGER NOT NULL DEFAULT 0",
        "retry_after": "DATETIME",
        "lease_expires_at": "DATETIME",
        "created_at": "DATETIME NOT NULL",
        "updated_at": "DATETIME NOT NULL",
    },
    "thumbnail_cleanup_jobs": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "group_key": "VARCHAR(256) NOT NULL",
        "status": "VARCHAR(16) NOT NULL",
        "execute_after": "DATETIME NOT NULL",
        "error_code": "VARCHAR(64)",
        "created_at": "DATETIME NOT NULL",
        "updated_at": "DATETIME NOT NULL",
    },
    "wal_maintenance_jobs": {
        "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
        "requested_mode": "VARCHAR(16) NOT NULL",
        "status": "VARCHAR(16) NOT NULL",
        "reason": "TEXT",
        "execute_after": "DATETIME NOT NULL",
        "retry_count": "INTEGER NOT NULL DEFAULT 0",
        "retry_after": "DATETIME",
        "checkpoint_busy": "INTEGER",
        "checkpoint_log_frames": "INTEGER",
        "checkpointed_frames": "INTEGER",
        "created_at": "DATETIME NOT NULL",
        "updated_at": "DATETIME NOT NULL",
        "finished_at": "DATETIME",
    },
    "io_rate_limits": {
        "bucket_key": "VARCHAR(64) PRIMARY KEY",
        "next_available_at_ms": "BIGINT NOT NULL DEFAULT 0",
        "updated_at": "DATETIME NOT NULL",
    },
}
ENUMS = {"kind", "status", "hash_algorithm", "media_type", "format", "requested_mode"}
FLAGS = {"dry_run", "is_missing", "needs_hash"}
SCAN, HASH, DELETE, DONE = (f"0000000{number}-0000-4000-8000-000000000000" for number in range(1, 5))


def is_time(column: str) -> bool:
    return column.endswith(("_at", "_after"))


def content(number: int) -> bytes:
    return bytes([number]) * 32


def contents() -> dict[str, list[Row]]:
    """What the earlier system knew, as ours is to know it."""
    at = {"created_at": MOMENT, "updated_at": MOMENT + 60_000_000}
    files = [
        {
            "id": number, "library_id": 7 if number % 3 else 9, "relative_path": f"Show {number % 5}/ä {number}.mkv",
            "size_bytes": 2**33 + number // 4, "mtime_ns": 1_700_000_000_123_456_789 + number, "inode": 2**40 + number,
            "device": 66, "is_missing": int(number == 150), "needs_hash": int(number % 7 == 0),
            "hash_algorithm": ("blake3" if number % 2 else "sha256") if number % 7 else None,
            "content_hash": content(number // 4) if number % 7 else None, "hashed_at": MOMENT + number * 1_000_000,
            "hash_retry_after": None if number % 11 else MOMENT + 3_600_000_000, **at,
        }
        for number in range(101, 101 + FILES)
    ]  # fmt: skip
    return {
        "library_roots": [
            {"id": 7, "name": "shows", "root_path": "/libraries/shows", "last_scanned_at": MOMENT + 5_000_000, **at},
            {"id": 9, "name": "films", "root_path": "/libraries/films", "last_scanned_at": None, **at},
        ],
        "jobs": [
            {"id": key, "kind": kind, "status": status, "dry_run": 1, "worker_id": None, "worker_heartbeat_at": MOMENT,
             "lease_expires_at": None, "progress": 0.5, "total_items": 10, "processed_items": 5,
             "payload": '{"library_id": 7}', "error_code": None, "error_message": None, "started_at": MOMENT,
             "finished_at": None, **at}
            for key, kind, status in (
                (SCAN, "scan", "running"), (HASH, "hash", "retryable"), (DELETE, "delete", "pending"),
                (DONE, "scan", "completed"),
            )
        ],
        "scan_sessions": [
            {"id": number, "job_id": job, "library_id": 7, "status": status, "started_at": MOMENT,
             "finished_at": MOMENT if status != "running" else None, "error_message": None, "files_seen": 5,
             "directories_seen": 2, "bytes_seen": 2**41}
            for number, job, status in ((3, SCAN, "running"), (4, DONE, "succeeded"), (5, DONE, "failed"))
        ],
        "library_files": files,
        "thumbnails": [
            {"id": number, "thumb_key": f"key-{number}", "file_id": 100 + number, "group_key": f"file:{100 + number}",
             "status": status, "media_type": "video", "format": "webp", "max_dimension": 256,
             "source_size_bytes": 2**33, "source_mtime_ns": 1_700_000_000_123_456_789,
             "output_path": f"aa/key-{number}.webp", "width": 256, "error_count": 0, "retry_after": MOMENT,
             "lease_expires_at": None, **at}
            for number, status in ((1, "ready"), (2, "pending"), (3, "running"), (4, "failed"))
        ],
        "thumbnail_cleanup_jobs": [
            {"id": number, "group_key": f"file:{number}", "status": status, "execute_after": MOMENT, "error_code": None,
             **at}
            for number, status in ((1, "pending"), (2, "completed"), (3, "failed"))
        ],
        "wal_maintenance_jobs": [
            {"id": number, "requested_mode": mode, "status": status, "reason": "large", "execute_after": MOMENT,
             "retry_count": 1, "retry_after": MOMENT, "checkpoint_busy": 0, "checkpoint_log_frames": 17,
             "checkpointed_frames": 17, "finished_at": MOMENT, **at}
            for number, mode, status in ((1, "passive", "completed"), (2, "truncate", "retryable"))
        ],
        "io_rate_limits": [
            {"bucket_key": "thumbnail_io_global", "next_available_at_ms": MOMENT // 1000, "updated_at": MOMENT}
        ],
    }  # fmt: skip


def iso(moment: int) -> str:
    """As an ORM writes it: UTC, and silent about that."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)).strftime("%Y-%m-%d %H:%M:%S.%f")


def iso_with_zone(moment: int) -> str:
    there = timezone(timedelta(hours=2))
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)).astimezone(there).isoformat()


def as_is(value: Any) -> Any:
    return value


@dataclass
class Earlier:
    """One shape of such a database. What it holds is what `contents` says, in the spelling of this one."""

    tables: tuple[str, ...] = tuple(COLUMNS)
    time: Callable[[int], Any] = iso
    spell: Callable[[str], str] = str.upper
    job_id: Callable[[str], Any] = as_is
    digest: Callable[[bytes], Any] = as_is
    flag: Callable[[int], Any] = as_is
    named: Mapping[str, str] = field(default_factory=dict)
    """Another name for a table."""
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Another definition for a column, or "" for one that it lacks."""
    further: str = ""
    """More statements, once all of that is there."""
    precision: int = 1
    """Microseconds in the unit of its times."""
    rows: dict[str, list[Row]] = field(default_factory=contents)

    def write(self, path: Path) -> Path:
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("PRAGMA foreign_keys = ON")
            for table in self.tables:
                definitions = self._definitions(table)
                raw.execute(
                    f"CREATE TABLE {self._called(table)} ({', '.join(f'{name} {kind}' for name, kind in definitions.items())})"
                )
                for row in self.rows[table]:
                    cells = {name: self._stored(name, value) for name, value in row.items() if name in definitions}
                    if table == "jobs":
                        cells["id"] = self.job_id(row["id"])
                    if table == "scan_sessions" and "job_id" in definitions:
                        cells["job_id"] = self.job_id(row["job_id"])
                    names, marks = ", ".join(cells), ", ".join("?" * len(cells))
                    raw.execute(f"INSERT INTO {self._called(table)} ({names}) VALUES ({marks})", [*cells.values()])
            raw.commit()
            raw.execute("PRAGMA foreign_keys = OFF")
            raw.executescript(self.further)
            raw.commit()
        return path

    def expected(self) -> dict[str, list[Row]]:
        """The rows that ours are to have, with the columns that this shape had."""
        rows: dict[str, list[Row]] = {}
        for table in self.tables:
            there = self._definitions(table)
            rows[table] = [
                {name: self._known(name, row[name]) for name in row if name in there} for row in self.rows[table]
            ]
        for row in rows.get("jobs", []):
            row["id"] = str(self.job_id(row["id"]))
        for row in rows.get("scan_sessions", []):
            if row.get("job_id") is not None:
                row["job_id"] = str(self.job_id(row["job_id"]))
        return rows

    def _known(self, column: str, value: Any) -> Any:
        return value // self.precision * self.precision if is_time(column) and value is not None else value

    def _definitions(self, table: str) -> dict[str, str]:
        all_of_them = {**COLUMNS[table], **self.columns.get(table, {})}
        return {name: kind for name, kind in all_of_them.items() if kind}

    def _called(self, table: str) -> str:
        return self.named.get(table, table)

    def _stored(self, column: str, value: Any) -> Any:
        if value is None:
            return None
        if is_time(column):
            return self.time(value)
        if column in ENUMS:
            return self.spell(value)
        if column == "content_hash":
            return self.digest(value)
        return self.flag(value) if column in FLAGS else value


def taken_over(path: Path) -> tuple[sqlite3.Connection, list[TakenTable]]:
    """The database after both sets of migrations, and what was told of it."""
    told: list[TakenTable] = []
    database = open_database(f"sqlite:///{path}")
    database.open()
    try:
        migrate(database, RUNTIME)
        migrate(database, PRODUCT, tell=told.extend)
    finally:
        database.close()
    raw = sqlite3.connect(path)
    say_control_plane(raw)
    raw.row_factory = sqlite3.Row
    return raw, told


def assert_all_there(raw: sqlite3.Connection, expected: Mapping[str, list[Row]]) -> None:
    """Every row is there, each of its values is right, and there are no others."""
    for table, rows in expected.items():
        key = "bucket_key" if table == "io_rate_limits" else "id"
        found = {row[key]: dict(row) for row in raw.execute(f"SELECT * FROM {table}")}
        assert sorted(found, key=str) == sorted((row[key] for row in rows), key=str), table
        for row in rows:
            assert {name: found[row[key]][name] for name in row} == row, table
    assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    assert raw.execute("PRAGMA integrity_check").fetchall()[0][0] == "ok"
    left = raw.execute("SELECT name FROM sqlite_master WHERE name LIKE 'kurabito_aside%'").fetchall()
    assert left == []


class Workshop:
    """Everything that the tests of take-overs are made with."""

    Earlier = Earlier
    jobs = (SCAN, HASH, DELETE, DONE)
    moment = MOMENT
    columns = COLUMNS
    taken_over = staticmethod(taken_over)
    assert_all_there = staticmethod(assert_all_there)
    iso = staticmethod(iso)
    iso_with_zone = staticmethod(iso_with_zone)


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()

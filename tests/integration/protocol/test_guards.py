"""A program that opens the SQLite file and has not said that it is the control plane is held to the protocol by the file itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol.rights import DATA_PLANE
from kurabito.protocol.rules import rules
from kurabito.protocol.tables import TABLES

NOW = 1_700_000_000_000_000
HASH = b"h" * 32
ROWS = (
    "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'shows', '/shows', 1, 1)",
    (
        "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
        "VALUES (1, 1, 'a.mkv', 10, 1, 1, 1)"
    ),
    "INSERT INTO jobs (id, kind, status, created_at, updated_at) VALUES ('waits', 'hash', 'pending', 1, 1)",
    (
        "INSERT INTO jobs (id, kind, status, worker_id, lease_expires_at, created_at, updated_at) "
        f"VALUES ('runs', 'delete', 'running', 'other#1', {NOW}, 1, 1)"
    ),
    "INSERT INTO jobs (id, kind, dry_run, created_at, updated_at) VALUES ('removes', 'delete', 0, 1, 1)",
    "INSERT INTO jobs (id, kind, status, created_at, updated_at) VALUES ('over', 'scan', 'cancelled', 1, 1)",
    "INSERT INTO jobs (id, kind, status, created_at, updated_at) VALUES ('lost', 'scan', 'retryable', 1, 1)",
    "INSERT INTO scan_sessions (id, job_id, library_id, started_at) VALUES (1, 'over', 1, 1)",
    "INSERT INTO scan_findings (session_id, finding, file_id) VALUES (1, 'added', 1)",
    "INSERT INTO deletion_policy (id, allow_delete, updated_at) VALUES (1, 0, 1)",
    (
        "INSERT INTO deletion_plans (id, mode, rules, group_count, file_count, freed_bytes, is_complete, created_at) "
        "VALUES (1, 'trash', '{}', 1, 1, 1, 1, 1)"
    ),
    "INSERT INTO deletion_steps VALUES (1, 1, 1, 1, 'a', 1, 1, 'blake3', x'00', 2, 1, 'b', 1, 'kept_is_older')",
    (
        "INSERT INTO deletion_log (id, job_id, position, action, state, library_id, relative_path, created_at) "
        "VALUES ('l', 'runs', 1, 'trash', 'intent', 1, 'a', 1)"
    ),
    (
        "INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, "
        "trashed_at) VALUES ('t', 1, 1, 'a', '.kurabito-trash/t', 1, 'blake3', zeroblob(32), 1)"
    ),
    (
        "INSERT INTO thumbnails (id, thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes, "
        "source_mtime_ns, output_path, created_at, updated_at) VALUES (1, 'k', 1, 'g', 'image', 'jpeg', 320, 1, 1, 'k.jpg', 1, 1)"
    ),
    "INSERT INTO thumbnail_cleanup_jobs (id, group_key, execute_after, created_at, updated_at) VALUES (1, 'g', 1, 1, 1)",
    (
        "INSERT INTO wal_maintenance_jobs (id, requested_mode, reason, execute_after, created_at, updated_at) "
        "VALUES (1, 'passive', '{}', 1, 1, 1)"
    ),
    "INSERT INTO inspections (id, kind, folder, created_at, updated_at) VALUES (1, 'arrival', '/done', 1, 1)",
    "INSERT INTO inspected_files VALUES (1, 1, 'a.mkv', 1, 1, 1, 1)",
    "INSERT INTO inspected_media VALUES (1, 'a.mkv', 1, 1, NULL, NULL)",
    (
        "INSERT INTO placements (id, library_id, mode, size_bytes, target_path, created_at, updated_at) "
        "VALUES (1, 1, 'link', 1, 'a.mkv', 1, 1)"
    ),
    "INSERT INTO io_rate_limits (bucket_key, next_available_at_ms, created_at, updated_at) VALUES ('b', 1, 1, 1)",
    (
        "INSERT INTO data_planes (name, lines, version, protocol, started_at, heartbeat_at, expires_at) "
        "VALUES ('foreign', '[]', '1', '1.0', 1, 1, 1)"
    ),
)
CLAIM = (
    f"UPDATE jobs SET status = 'running', worker_id = 'foreign#1', lease_expires_at = {NOW}, started_at = 1, updated_at = 1 "
    "WHERE id = 'waits'"
)
TAKE = "worker_id = NULL, worker_heartbeat_at = NULL, lease_expires_at = NULL, status = 'retryable', error_code = 'LEASE_EXPIRED'"
FORBIDDEN = {
    "INSERT INTO jobs (id, kind, created_at, updated_at) VALUES ('mine', 'delete', 1, 1)": "PLANE-3",
    "UPDATE jobs SET dry_run = 0 WHERE id = 'runs'": "PLANE-1",
    "UPDATE jobs SET payload = '{\"purge\": []}' WHERE id = 'runs'": "PLANE-1",
    "UPDATE jobs SET lost_leases = 0 WHERE id = 'runs'": "PLANE-1",
    "DELETE FROM jobs WHERE id = 'over'": "PLANE-4",
    "UPDATE jobs SET status = 'pending' WHERE id = 'lost'": "LEASE-7",
    "UPDATE jobs SET status = 'completed' WHERE id = 'over'": "LEASE-7",
    "UPDATE jobs SET status = 'completed' WHERE id = 'waits'": "LEASE-7",
    "UPDATE jobs SET status = 'cancelled' WHERE id = 'runs'": "LEASE-7",
    "UPDATE jobs SET processed_items = 5, updated_at = 2 WHERE id = 'over'": "LEASE-7",
    "UPDATE jobs SET worker_id = 'foreign#2', updated_at = 2 WHERE id = 'runs'": "LEASE-7",
    f"UPDATE jobs SET {TAKE}, updated_at = {NOW - 1} WHERE id = 'runs'": "LEASE-7",
    CLAIM.replace("foreign#1", "stranger#1"): "REG-1",
    CLAIM.replace("foreign#1", "foreign"): "REG-1",
    CLAIM.replace("'waits'", "'removes'"): "JOB-1",
    "UPDATE jobs SET progress = 1.5 WHERE id = 'runs'": "PROGRESS-1",
    f"UPDATE jobs SET lease_expires_at = {NOW}000 WHERE id = 'runs'": "VALUE-1",
    "UPDATE library_roots SET ignored = '[]'": "PLANE-2",
    "UPDATE deletion_policy SET allow_delete = 1": "PLANE-2",
    "INSERT INTO deletion_plans SELECT 2, mode, rules, 1, 1, 1, 1, 1, NULL, NULL FROM deletion_plans": "PLANE-2",
    "UPDATE deletion_steps SET kept_path = 'c'": "PLANE-2",
    "UPDATE protocol_version SET major = 2": "PLANE-2",
    "UPDATE library_files SET library_id = 2": "PLANE-1",
    "UPDATE library_files SET relative_path = '../a'": "PATH-1",
    "UPDATE library_files SET relative_path = '/etc/passwd'": "PATH-1",
    "UPDATE library_files SET relative_path = '.kurabito-trash/5f'": "PATH-1",
    "UPDATE library_files SET relative_path = 'a/.kurabito-trash/5f'": "PATH-1",
    "UPDATE library_files SET size_bytes = -1": "VALUE-2",
    "UPDATE library_files SET hash_algorithm = 'blake3', content_hash = x'00'": "HASH-1",
    "UPDATE library_files SET content_hash = zeroblob(32)": "HASH-1",
    "UPDATE library_files SET edge_hash = 'abc'": "HASH-1",
    "UPDATE library_files SET hash_algorithm = 'sha256', content_hash = zeroblob(32)": "HASH-2",
    "DELETE FROM deletion_log": "PLANE-4",
    "UPDATE deletion_log SET trash_path = 'b'": "PLANE-1",
    "DELETE FROM trash_entries": "PLANE-4",
    "INSERT INTO thumbnails SELECT 2, 'l', 1, 'g', 'image', 'jpeg', 320, 1, 1, 'l.jpg', 'pending', NULL, NULL, NULL, NULL, NULL, "
    "0, NULL, NULL, NULL, NULL, 1, 1, NULL, NULL": "PLANE-3",
    "UPDATE thumbnails SET output_path = '../x'": "LEASE-7",
    "UPDATE thumbnails SET status = 'ready'": "LEASE-7",
    "UPDATE placements SET status = 'completed'": "LEASE-7",
    "UPDATE placements SET status = 'running', worker_id = 'stranger#1', updated_at = 2": "REG-1",
    "UPDATE placements SET target_path = '../x'": "PLANE-1",
    "INSERT INTO placements (library_id, mode, size_bytes, target_path, created_at, updated_at) "
    "VALUES (1, 'write', 1, 'x', 1, 1)": "PLANE-3",
    "DELETE FROM inspections": "PLANE-4",
    "UPDATE inspected_files SET relative_path = 'b'": "PLANE-1",
    "UPDATE inspected_media SET relative_path = 'b'": "PLANE-1",
    "UPDATE data_planes SET protocol = '2.0'": "VER-2",
    "INSERT INTO data_planes (name, lines, version, started_at, heartbeat_at, expires_at) VALUES ('x', '[]', '1', 1, 1, 1)": "VER-2",
}
PATHS = ("", ".", "..", "/a", "a/", "a//b", "a/./b", "a/../b", "./a", "../a", "a/..", "a/.", ".kurabito-trash/a")
LEGAL_PATHS = (
    "a",
    ".hidden",
    "a/.hidden/b",
    "...",
    "a/..b",
    "a..",
    "!odd",
    " ",
    ".kurabito-trash",
    ".kurabito-trash.mkv",
    "a/.kurabito-trashed/b",
)
ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
    "VALUES (1, :path, 1, 1, 1, 1)"
)


@pytest.fixture
def file(migrated_sqlite: str) -> Path:
    """A database in which every table of the protocol has a row."""
    database = open_database(migrated_sqlite)
    database.open()
    migrate(database, PRODUCT)
    for row in ROWS:
        database.write_blocking(lambda conn, row=row: conn.run(row))  # type: ignore[misc]
    database.close()
    return Path(migrated_sqlite.removeprefix("sqlite:///"))


@pytest.fixture
def foreign(file: Path) -> Iterator[sqlite3.Connection]:
    """A plain connection of a program that is not ours."""
    raw = sqlite3.connect(file, isolation_level=None)
    yield raw
    raw.close()


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_what_the_protocol_forbids_is_refused_with_its_rule(foreign: sqlite3.Connection, statement: str) -> None:
    rule = FORBIDDEN[statement]
    assert rule in rules()
    with pytest.raises(sqlite3.IntegrityError, match=f"^{rule}: "):
        foreign.execute(statement)


def test_every_column_that_is_not_listed_is_refused(foreign: sqlite3.Connection) -> None:
    listed = {
        (table.name, column)
        for table in TABLES
        for column in table.columns
        if column not in DATA_PLANE.update.get(table.name, ()) and table.name != "duplicate_groups"
    }
    assert len(listed) > 100
    for table, column in sorted(listed):
        with pytest.raises(sqlite3.IntegrityError, match=r"^(PLANE-1|PLANE-2|LEASE-7): "):
            foreign.execute(f"UPDATE {table} SET {column} = {column}")


def test_a_whole_job_is_done_by_a_program_that_keeps_to_it(foreign: sqlite3.Connection) -> None:
    assert foreign.execute(CLAIM).rowcount == 1
    mine = "WHERE id = 'waits' AND status = 'running' AND worker_id = 'foreign#1'"
    foreign.execute(f"UPDATE jobs SET processed_items = 1, progress = 0.5, updated_at = 2 {mine}")
    foreign.execute(
        "UPDATE library_files SET hash_algorithm = 'blake3', content_hash = ?, needs_hash = 0 WHERE id = 1", (HASH,)
    )
    ended = foreign.execute(f"UPDATE jobs SET status = 'completed', lease_expires_at = NULL, finished_at = 3 {mine}")
    assert ended.rowcount == 1
    # What is stale is taken away, and what is ours is given back.
    assert foreign.execute(f"UPDATE jobs SET {TAKE}, updated_at = {NOW} WHERE id = 'runs'").rowcount == 1
    foreign.execute(
        "UPDATE thumbnails SET status = 'running', worker_id = 'foreign#2', lease_expires_at = 99, updated_at = 1"
    )
    foreign.execute(
        "UPDATE thumbnails SET status = 'pending', worker_id = NULL, lease_expires_at = NULL, updated_at = 2"
    )


@pytest.fixture
def known(url: str) -> Iterator[Database]:
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)
    yield database
    database.close()


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_leads_elsewhere_is_refused_to_everybody(known: Database, path: str) -> None:
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.CheckViolation)):
        known.write_blocking(lambda conn: conn.run(ADD_FILE, {"path": path}))


def test_odd_names_are_names(known: Database) -> None:
    for path in LEGAL_PATHS:
        known.write_blocking(lambda conn, path=path: conn.run(ADD_FILE, {"path": path}))  # type: ignore[misc]
    assert known.read_blocking(lambda conn: conn.value("SELECT count(*) FROM library_files")) == len(LEGAL_PATHS)


@pytest.mark.parametrize(
    ("change", "values"),
    [
        ("size_bytes = -1", {}),
        ("hash_algorithm = 'blake3'", {}),
        ("hash_algorithm = 'blake3', content_hash = :short", {"short": b"abc"}),
        ("edge_hash = :short", {"short": b"abc"}),
    ],
)
def test_values_of_another_form_are_refused_to_everybody(
    known: Database, change: str, values: dict[str, bytes]
) -> None:
    known.write_blocking(lambda conn: conn.run(ADD_FILE, {"path": "a"}))
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.CheckViolation)):
        known.write_blocking(lambda conn: conn.run(f"UPDATE library_files SET {change}", values))


def test_a_plane_of_another_major_is_refused_on_both_databases(known: Database) -> None:
    join = (
        "INSERT INTO data_planes (name, lines, version, protocol, started_at, heartbeat_at, expires_at) "
        "VALUES ('a', '[]', '1', :protocol, 1, 1, 1)"
    )
    for protocol in ("", "0.9", "2.0", "one"):
        with pytest.raises((sqlite3.IntegrityError, psycopg.errors.CheckViolation), match="VER-2"):
            known.write_blocking(lambda conn, protocol=protocol: conn.run(join, {"protocol": protocol}))  # type: ignore[misc]
    known.write_blocking(lambda conn: conn.run(join, {"protocol": "1.7"}))

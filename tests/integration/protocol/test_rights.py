"""A data plane can write what the protocol gives it and nothing else, and the database itself sees to that."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.support.planes import register

from kurabito.db import Connection, Database, Dialect, leases, migrate, open_database
from kurabito.db.factory import sqlite_path
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import grants, restrict
from kurabito.library.deletion import policy
from kurabito.protocol.leased.jobs import FINISH, FINISH_COLUMNS, FINISH_VALUES, JOBS, PROGRESS_COLUMNS, PROGRESS_VALUES
from kurabito.protocol.rights import DATA_PLANE, rights_of_path

ROLE = "kurabito_dataplane"
PROTOCOL = (
    "protocol_version",
    "library_roots",
    "jobs",
    "scan_sessions",
    "library_files",
    "scan_findings",
    "duplicate_groups",
    "deletion_policy",
    "deletion_plans",
    "deletion_steps",
    "deletion_log",
    "trash_entries",
    "inspections",
    "inspected_files",
    "inspected_media",
    "placements",
    "wal_maintenance_jobs",
    "data_planes",
    "thumbnails",
    "thumbnail_cleanup_jobs",
    "io_rate_limits",
)
ADD_JOB = "INSERT INTO jobs (id, kind, status, created_at, updated_at) VALUES ('j', 'scan', :status, :now, :now)"
ADD_FILE = (
    "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, inode, device, is_missing, needs_hash, "
    "hash_algorithm, content_hash, created_at, updated_at) "
    "VALUES (1, :path, 1, 1, 1, 1, 0, 0, 'blake3', :hash, :now, :now)"
)
REFUSALS = (sqlite3.DatabaseError, psycopg.errors.InsufficientPrivilege)


def opened(url: str, **options: Any) -> Iterator[Database]:
    database = open_database(url, **options)
    database.open()
    yield database
    database.close()


@pytest.fixture
def owner(url: str) -> Iterator[Database]:
    """The database as the control plane has it."""
    for database in opened(url):
        migrate(database, PRODUCT)
        if database.dialect is Dialect.POSTGRES:
            database.write_blocking(make_role)
        yield database


@pytest.fixture
def plane(url: str, owner: Database) -> Iterator[Database]:
    """The same database as a data plane has it."""
    register(owner)
    yield from opened(url, rights=DATA_PLANE, role=ROLE)


def make_role(conn: Connection) -> None:
    if conn.one("SELECT 1 FROM pg_roles WHERE rolname = :role", {"role": ROLE}) is None:
        conn.script(f"CREATE ROLE {ROLE} NOLOGIN")
    for statement in grants(DATA_PLANE, ROLE, PROTOCOL):
        conn.script(statement)


def columns_of(database: Database, table: str) -> list[str]:
    if database.dialect is Dialect.SQLITE:
        rows = database.read_blocking(lambda conn: conn.all(f"SELECT name FROM pragma_table_info('{table}')"))
    else:
        rows = database.read_blocking(
            lambda conn: conn.all(
                "SELECT column_name FROM information_schema.columns WHERE table_name = :table", {"table": table}
            )
        )
    assert rows
    return [name for (name,) in rows]


def is_allowed(database: Database, statement: str) -> bool:
    try:
        database.write_blocking(lambda conn: conn.run(statement))
    except REFUSALS as refused:
        if re.search("prohibited|not authorized|permission denied", str(refused)) is None:
            raise
        return False
    return True


@pytest.mark.parametrize("table", PROTOCOL)
def test_every_column_can_be_written_exactly_if_the_protocol_says_so(
    owner: Database, plane: Database, table: str
) -> None:
    for column in columns_of(owner, table):
        expected = column in DATA_PLANE.update.get(table, ())
        assert is_allowed(plane, f"UPDATE {table} SET {column} = {column}") is expected, column
    assert is_allowed(plane, f"DELETE FROM {table}") is (table in DATA_PLANE.delete)
    first = columns_of(owner, table)[0]
    inserting = f"INSERT INTO {table} ({first}) SELECT {first} FROM {table}"
    assert is_allowed(plane, inserting) is (table in DATA_PLANE.insert)


def test_what_is_no_business_of_a_data_plane_is_refused(owner: Database, plane: Database) -> None:
    for statement in (
        "DELETE FROM api_keys",
        "UPDATE passwords SET hash = ''",
        "UPDATE library_naming SET extras = 'leave'",
        "INSERT INTO sessions (token_hash, created_at, seen_at, expires_at) VALUES ('x', 0, 0, 0)",
        "DROP TABLE jobs",
        "CREATE TABLE mine (id INTEGER)",
        "ALTER TABLE jobs ADD COLUMN mine INTEGER",
        "DROP INDEX ix_jobs_single_active_scan_hash",
    ):
        with pytest.raises((*REFUSALS, Exception)):
            plane.write_blocking(lambda conn, statement=statement: conn.run(statement))  # type: ignore[misc]


def test_the_summary_is_written_by_its_triggers_alone(owner: Database, plane: Database) -> None:
    for number in range(2):
        values = {"path": f"{number}.mkv", "hash": b"h" * 32}
        plane.write_blocking(lambda conn, values=values: conn.run(ADD_FILE, values))  # type: ignore[misc]
    assert owner.read_blocking(lambda conn: conn.all("SELECT * FROM duplicate_groups")) == [
        ("blake3", b"h" * 32, 2, 2, 1)
    ]
    assert not is_allowed(plane, "UPDATE duplicate_groups SET file_count = 7")


def test_a_whole_job_is_done_within_the_rights(owner: Database, plane: Database) -> None:
    owner.write_blocking(lambda conn: conn.run(ADD_JOB, {"status": "pending"}))
    (job,) = plane.write_blocking(lambda conn: leases.claim(conn, JOBS, "plane#1", lease=1000, limit=1))
    assert job[:2] == ("j", "scan")
    rows = [("j", "plane#1", 5, 0.5)]
    assert not plane.write_blocking(
        lambda conn: leases.heartbeat(conn, JOBS, rows, lease=1000, given=PROGRESS_VALUES, columns=PROGRESS_COLUMNS)
    )
    ends = [("j", "plane#1", "completed", 1.0, None, None)]
    assert not plane.write_blocking(
        lambda conn: leases.finish(conn, JOBS, FINISH, ends, given=FINISH_VALUES, columns=FINISH_COLUMNS)
    )
    row = owner.read_blocking(lambda conn: conn.one("SELECT status, progress, lease_expires_at FROM jobs"))
    assert row == ("completed", 1.0, None)


def test_a_plane_that_is_not_registered_claims_nothing(owner: Database, plane: Database) -> None:
    owner.write_blocking(lambda conn: conn.run(ADD_JOB, {"status": "pending"}))
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.CheckViolation), match="REG-1"):
        plane.write_blocking(lambda conn: leases.claim(conn, JOBS, "stranger#1", lease=1000, limit=1))
    assert owner.read_blocking(lambda conn: conn.all("SELECT status FROM jobs")) == [("pending",)]


def test_a_job_that_removes_is_not_claimed_unless_the_keeper_allows_it(owner: Database, plane: Database) -> None:
    adding = "INSERT INTO jobs (id, kind, dry_run, created_at, updated_at) VALUES ('d', 'delete', 0, :now, :now)"
    owner.write_blocking(lambda conn: conn.run(adding))
    # As a plane would that does not look at the keeper's setting.
    claim = "UPDATE jobs SET status = 'running', worker_id = 'plane#1'"
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.CheckViolation), match="JOB-1"):
        plane.write_blocking(lambda conn: conn.run(claim))
    owner.write_blocking(lambda conn: policy.store(conn, allowed=True))
    assert plane.write_blocking(lambda conn: conn.run(claim)) == 1


def test_a_stale_job_becomes_retryable_within_the_rights(owner: Database, plane: Database) -> None:
    owner.write_blocking(lambda conn: conn.run(ADD_JOB, {"status": "running"}))
    assert len(plane.write_blocking(lambda conn: leases.recover(conn, JOBS))) == 1
    row = owner.read_blocking(lambda conn: conn.one("SELECT status, error_code, worker_id FROM jobs"))
    assert row == ("retryable", "LEASE_EXPIRED", None)


@pytest.mark.parametrize("path", JOBS.writes)
def test_the_statements_of_a_path_need_no_more_than_its_own_columns(migrated_sqlite: str, path: str) -> None:
    database = open_database(migrated_sqlite)
    database.open()
    migrate(database, PRODUCT)
    status = "pending" if path == leases.CLAIM else "running"
    database.write_blocking(lambda conn: conn.run(ADD_JOB, {"status": status}))
    register(database)
    database.close()
    raw = sqlite3.connect(sqlite_path(migrated_sqlite), isolation_level=None)
    try:
        restrict(raw, rights_of_path(path))
        conn = open_database(migrated_sqlite).wrap(raw)
        match path:
            case leases.CLAIM:
                assert leases.claim(conn, JOBS, "plane#1", lease=1, limit=1)
            case leases.HEARTBEAT:
                rows = [("j", "plane#1", 5, 0.5)]
                given = {"given": PROGRESS_VALUES, "columns": PROGRESS_COLUMNS}
                assert leases.heartbeat(conn, JOBS, rows, lease=1, **given) == {("j", "plane#1")}  # type: ignore[arg-type]
            case leases.RECOVER:
                assert leases.recover(conn, JOBS)
            case _:
                rows = [("j", "plane#1", "completed", 1.0, None, None)]  # type: ignore[list-item]
                ended = leases.finish(conn, JOBS, FINISH, rows, given=FINISH_VALUES, columns=FINISH_COLUMNS)
                assert ended == {("j", "plane#1")}
        with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
            raw.execute("UPDATE jobs SET kind = 'hash'")
    finally:
        raw.close()

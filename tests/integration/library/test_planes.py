"""Data planes are held to their rights, and what a dead one left goes on at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from tests.support import commands
from tests.support.commands import KURABITO
from tests.support.waiting import PATIENCE

from kurabito.app.database import missing_role, prepare_database
from kurabito.app.dataplane_process import supervised_plane
from kurabito.attention import Severity
from kurabito.clock import ManualClock
from kurabito.db import leases, open_database
from kurabito.db.rights import quoted
from kurabito.doctor.stores import data_plane_role
from kurabito.protocol import planes
from kurabito.protocol.leased.jobs import JOBS
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

ADD = "INSERT INTO jobs (id, kind, created_at, updated_at) VALUES ('a', 'delete', :now, :now)"


@pytest.fixture
def settings(fresh_postgres: str, tmp_path: Path) -> Iterator[Settings]:
    role = f"plane_{os.urandom(4).hex()}"
    yield Settings(state=tmp_path / "state", database=fresh_postgres, dataplane_role=role)
    with psycopg.connect(fresh_postgres, autocommit=True) as admin:
        if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone():
            admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def run(settings: Settings, *arguments: str, database: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "KURABITO_STATE": str(settings.state),
        "KURABITO_DATABASE": database or settings.database,
        "KURABITO_DATAPLANE_ROLE": settings.dataplane_role,
        "KURABITO_LOG_FORMAT": "json",
    }
    return commands.run([*KURABITO, *arguments], env=environment, timeout=PATIENCE)


@pytest.fixture
def nobody(settings: Settings) -> Iterator[str]:
    """The DSN of an owner of the database who may not make roles."""
    name = f"keeper_{os.urandom(4).hex()}"
    database = urlsplit(settings.database).path.lstrip("/")
    with psycopg.connect(settings.database, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN".encode())
        admin.execute(f"ALTER DATABASE {database} OWNER TO {name}".encode())
        admin.execute(f"ALTER SCHEMA public OWNER TO {name}".encode())
        parts = urlsplit(settings.database)
        yield urlunsplit(parts._replace(netloc=parts.netloc.replace("postgres", name, 1)))
        admin.execute(f"ALTER DATABASE {database} OWNER TO CURRENT_USER".encode())
        admin.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER".encode())
        admin.execute(f"DROP OWNED BY {name}".encode())
        admin.execute(f"DROP ROLE {name}".encode())


def test_the_role_is_made_with_the_tables(settings: Settings) -> None:
    for _ in range(2):
        prepare_database(settings)
    database = open_database(settings.database)
    database.open()
    try:
        assert missing_role(settings, database) is None
    finally:
        database.close()
    finding = data_plane_role(settings)
    assert finding is not None
    assert finding.verdict is Severity.OK
    plane = open_database(settings.database, role=settings.dataplane_role)
    plane.open()
    try:
        plane.write_blocking(lambda conn: planes.announce(conn, "plane", ["scan"], "1", 30.0))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            plane.write_blocking(lambda conn: conn.run("UPDATE library_roots SET name = name"))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            plane.read_blocking(lambda conn: conn.all("SELECT * FROM api_keys"))
    finally:
        plane.close()
    assert "does not hold" not in run(settings, "dataplane", "--once").stderr


def test_whoever_may_not_make_roles_is_told_what_to_run(settings: Settings, nobody: str) -> None:
    outcome = run(settings, "db", "migrate", database=nobody)
    assert outcome.returncode == 0, outcome.stderr
    assert f"CREATE ROLE {quoted(settings.dataplane_role)} NOLOGIN;" in outcome.stdout
    finding = data_plane_role(settings.model_copy(update={"database": nobody}))
    assert finding is not None
    assert finding.verdict is Severity.WARNING
    plane = run(settings, "dataplane", "--once", database=nobody)
    assert plane.returncode == 0
    assert "does not hold this data plane to its rights" in plane.stderr
    script = outcome.stdout[outcome.stdout.index("CREATE ROLE") :]
    with psycopg.connect(settings.database, autocommit=True) as admin:
        admin.execute(script.encode())
    assert "CREATE ROLE" not in run(settings, "db", "migrate", database=nobody).stdout
    assert "does not hold" not in run(settings, "dataplane", "--once", database=nobody).stderr


async def test_the_job_of_a_dead_plane_is_retried_at_once(queue: SqlQueue, clock: ManualClock, tmp_path: Path) -> None:
    database = queue.database
    await database.write(lambda conn: conn.run(ADD))
    await database.write(lambda conn: planes.announce(conn, "nas-1", ["delete"], "1", 30.0))
    await database.write(lambda conn: leases.claim(conn, JOBS, "nas-1#7", lease=30_000_000, limit=1))
    rescue = supervised_plane(Settings(state=tmp_path), database)._queue
    assert await rescue.expire_worker("nas-2") == 0
    assert await rescue.recover() == 0
    assert await rescue.expire_worker("nas-1") == 1
    assert await rescue.recover() == 1
    assert await database.read(lambda conn: conn.all("SELECT status, error_code FROM jobs")) == [
        ("retryable", "LEASE_EXPIRED")
    ]
    assert await database.read(planes.living) == []


LOOK = """
import os, ctypes, platform
from kurabito.dataplane.priority import lower_priority
lower_priority(nice=7, idle_io=True)
lower_priority(nice=3, idle_io=False)
call = {"x86_64": 252, "aarch64": 31, "riscv64": 31}[platform.machine()]
print(os.getpriority(os.PRIO_PROCESS, 0), ctypes.CDLL(None).syscall(call, 1, 0) >> 13)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has classes of I/O")
def test_a_data_plane_lets_others_go_first() -> None:
    shown = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, timeout=PATIENCE, check=True)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert shown.stdout.split() == [str(max(before, 7)), "3"]

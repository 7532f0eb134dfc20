"""Databases for stages: each is a copy of one that has every table, and goes when its scenario is over."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from kurabito.conformance import journal
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT, RUNTIME
from kurabito.protocol.rights import DATA_PLANE, READABLE

ROLE: Final = "kurabito_dataplane"

Opened = tuple[Database, str]
"""A database and its URL."""
NewDatabase = Callable[[], AbstractContextManager[Opened]]


@contextmanager
def sqlite_databases(folder: Path) -> Iterator[NewDatabase]:
    """What makes SQLite files, each in a folder of its own below this one."""
    template = folder / "template.db"
    _make_tables(f"sqlite:///{template}")

    @contextmanager
    def new() -> Iterator[Opened]:
        place = folder / uuid4().hex
        place.mkdir()
        shutil.copyfile(template, place / "kurabito.db")
        with _opened(f"sqlite:///{place / 'kurabito.db'}") as opened:
            yield opened

    yield new


@contextmanager
def postgres_databases(url: str) -> Iterator[NewDatabase]:
    """What makes databases on the server that a URL names; its user may make databases."""
    import psycopg
    from psycopg import sql

    def named(name: str) -> str:
        return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))

    with psycopg.connect(url, autocommit=True) as server:

        @contextmanager
        def copy_of(template: str) -> Iterator[str]:
            name = f"conformance_{uuid4().hex}"
            names = (sql.Identifier(name), sql.Identifier(template))
            server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
            try:
                yield name
            finally:
                server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(names[0]))

        @contextmanager
        def new() -> Iterator[Opened]:
            with copy_of(template) as name, _opened(named(name)) as opened:
                yield opened

        with copy_of("template0") as template:
            _make_tables(named(template))
            yield new


def _make_tables(url: str) -> None:
    """Make every table, and have all writes noted."""
    with closing(open_database(url)) as database:
        database.open()
        for tables in (RUNTIME, PRODUCT):
            migrate(database, tables)
        if database.dialect.has_server:
            from kurabito.db.postgres.roles import ensure_role

            ensure_role(database, ROLE, DATA_PLANE, READABLE)
        database.write_blocking(journal.install)


@contextmanager
def _opened(url: str) -> Iterator[Opened]:
    with closing(open_database(url, create=False)) as database:
        database.open()
        yield database, url

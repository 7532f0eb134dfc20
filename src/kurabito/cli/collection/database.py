"""The database of an installation, for commands that look into it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from kurabito.db import Database
    from kurabito.settings import Settings


T = TypeVar("T")


@contextmanager
def opened_database() -> Iterator[tuple[Settings, Database]]:
    """The settings and the database, which is there and up to date; raises ConfigError."""
    from kurabito.app.database import is_new, pending_migrations
    from kurabito.db import open_database
    from kurabito.errors import ConfigError
    from kurabito.settings import load
    from kurabito.settings.store import stored_settings

    settings = stored_settings(load())
    if is_new(settings):
        raise ConfigError("there is no database yet; `kurabito serve` makes it")
    database = open_database(settings.database)
    database.open()
    try:
        if pending_migrations(database):
            raise ConfigError("the database is not up to date; start `kurabito serve` once")
        yield settings, database
    finally:
        database.close()


def asked(question: Callable[[Database], Awaitable[T]]) -> T:
    """The answer to a question to that database; raises ConfigError."""
    import asyncio

    with opened_database() as (_, database):

        async def ask() -> T:
            return await question(database)

        return asyncio.run(ask())

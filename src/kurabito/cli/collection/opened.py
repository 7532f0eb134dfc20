"""The database of an installation, for commands that look into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kurabito.db import Database
    from kurabito.settings import Settings


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

"""The product's database, for a command that works on it whether or not `serve` runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kurabito.db import Database
    from kurabito.settings import Settings


@contextmanager
def product_database(settings: Settings, *, create: bool = False) -> Iterator[Database]:
    """The database of the settings with the product's tables; a missing one is made only if `create`."""
    from kurabito.app.database import is_new, prepare_database
    from kurabito.app.state import prepare_state
    from kurabito.db import open_database

    if create:
        prepare_state(settings.state, umask=settings.umask)
    if create or not is_new(settings):
        prepare_database(settings)
    database = open_database(settings.database, create=create)
    database.open()
    try:
        yield database
    finally:
        database.close()

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
    from kurabito.db import migrate, open_database
    from kurabito.db.migrate import PRODUCT

    if create:
        _make_state(settings)
    database = open_database(settings.database, create=create)
    database.open()
    try:
        migrate(database, PRODUCT)
        yield database
    finally:
        database.close()


def _make_state(settings: Settings) -> None:
    from kurabito.errors import ConfigError

    try:
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the state folder {settings.state} cannot be created: {error.strerror}; set KURABITO_STATE to a folder "
            "that you may write"
        ) from None

"""Data planes in tests: registered, as they have to be before they claim."""

from __future__ import annotations

from typing import Final

from kurabito.db import Database
from kurabito.protocol import planes

_LONG: Final = 10.0**8
"""Seconds: the time in a test is moved by hand."""


def register(database: Database, name: str = "plane") -> None:
    """Have a data plane of this name on the list, for as long as the test takes."""
    database.write_blocking(lambda conn: planes.announce(conn, name, ["everything"], "1", _LONG))

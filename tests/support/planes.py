"""Data planes in tests: registered, as they have to be before they claim; and rows that no plane can write any more."""

from __future__ import annotations

from typing import Final

from kurabito.db import Database, Dialect
from kurabito.protocol import planes

_LONG: Final = 10.0**8
"""Seconds: the time in a test is moved by hand."""


def register(database: Database, name: str = "plane") -> None:
    """Have a data plane of this name on the list, for as long as the test takes."""
    database.write_blocking(lambda conn: planes.announce(conn, name, ["everything"], "1", _LONG))


def allow_any_path(database: Database) -> None:
    """Have the database take every path: a row from before it looked at them may be there."""
    guard = {
        Dialect.SQLITE: "DROP TRIGGER tr_library_files_path",
        Dialect.POSTGRES: "ALTER TABLE library_files DROP CONSTRAINT path_below_library",
    }
    database.write_blocking(lambda conn: conn.script(guard[conn.dialect]))

"""What is no business of a plane: the schema, and the tables of other parts of Kurabito."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from kurabito.db import Connection, Dialect
from kurabito.protocol.rights import CONFORMANCE_JOURNAL
from kurabito.protocol.tables import TABLES

_NAMED_SQLITE: Final = "SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite%'"
_NAMED_POSTGRES: Final = """
    SELECT relname, CASE relkind WHEN 'r' THEN 'table' ELSE 'other' END FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace
    UNION ALL
    SELECT tgname || ' of ' || tgrelid::regclass, 'trigger' FROM pg_trigger WHERE NOT tgisinternal
"""
_OF_THE_PROTOCOL: Final = {*(table.name for table in TABLES), CONFORMANCE_JOURNAL}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Both as they are at one moment."""

    names: frozenset[str]
    """Tables, indexes and triggers."""
    contents: dict[str, str]
    """Of each table of another part, what all of its rows come to."""


def look_around(conn: Connection) -> Surroundings:
    """See how the schema and the other tables are now."""
    named = conn.all(_NAMED_POSTGRES if conn.dialect is Dialect.POSTGRES else _NAMED_SQLITE)
    others = [name for name, kind in named if kind == "table" and name not in _OF_THE_PROTOCOL]
    return Surroundings(frozenset(name for name, _ in named), {name: _content(conn, name) for name in others})


def _content(conn: Connection, table: str) -> str:
    rows = sorted(repr([_plain(value) for value in row]) for row in conn.all(f'SELECT * FROM "{table}"'))
    return blake2b("\n".join(rows).encode()).hexdigest()


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value

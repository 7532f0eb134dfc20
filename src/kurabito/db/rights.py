"""What a connection may write, and who holds it to that.

SQLite asks an authorizer about every table and column when a statement is prepared. PostgreSQL has roles with grants. A
right is given column by column for UPDATE and table by table for INSERT and DELETE; reading is always allowed, and changing
the schema never.

Another program that opens a SQLite file has no authorizer of ours. Triggers in the file hold it to the protocol; they let a
connection pass that says, with `say_control_plane`, that it decides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]

_LOOKING: Final = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
    }
)
_ASKED: Final = "sqlite_compileoption_used"
"""A function of SQLite itself, so that the triggers work on every connection; a plain one says 0 to our word."""
CONTROL_PLANE: Final = "KURABITO_CONTROL_PLANE"
_PRAGMAS: Final = frozenset({"data_version", "wal_checkpoint", "query_only", "synchronous"})


@dataclass(frozen=True, slots=True)
class WriteRights:
    """What may be written."""

    update: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The columns of each table."""
    insert: frozenset[str] = frozenset()
    delete: frozenset[str] = frozenset()
    triggered: frozenset[str] = frozenset()
    """Tables that are written by triggers only."""


def say_control_plane(raw: sqlite3.Connection) -> None:
    """Have the triggers of the file let this connection write what is the control plane's to decide."""
    raw.create_function(_ASKED, 1, lambda word: int(word == CONTROL_PLANE))


def restrict(raw: sqlite3.Connection, rights: WriteRights) -> None:
    """From now on refuse every statement on this connection that would write something else."""
    # Its first use declares it as a table, which looks like a change of the schema.
    raw.execute("SELECT count(*) FROM json_each('[]')").fetchone()
    raw.set_authorizer(_authorizer(rights))


def _authorizer(rights: WriteRights) -> Authorizer:
    def allow(action: int, first: str | None, second: str | None, _: str | None, inside: str | None) -> int:
        if action in _LOOKING:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA:
            return sqlite3.SQLITE_OK if first in _PRAGMAS else sqlite3.SQLITE_DENY
        allowed = inside is not None and first in rights.triggered
        match action:
            case sqlite3.SQLITE_UPDATE:
                allowed = allowed or second in rights.update.get(first or "", ())
            case sqlite3.SQLITE_INSERT:
                allowed = allowed or first in rights.insert
            case sqlite3.SQLITE_DELETE:
                allowed = allowed or first in rights.delete
            case _:
                allowed = False
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return allow


def grants(rights: WriteRights, role: str, readable: Iterable[str]) -> list[str]:
    """The statements that give a PostgreSQL role these rights and no others on our tables."""
    who = quoted(role)
    statements = [f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {who}", f"GRANT USAGE ON SCHEMA public TO {who}"]
    statements += [f"GRANT SELECT ON {quoted(table)} TO {who}" for table in sorted(readable)]
    for table, columns in sorted(rights.update.items()):
        listed = ", ".join(quoted(column) for column in sorted(columns))
        statements.append(f"GRANT UPDATE ({listed}) ON {quoted(table)} TO {who}")
    statements += [f"GRANT INSERT ON {quoted(table)} TO {who}" for table in sorted(rights.insert)]
    statements += [f"GRANT DELETE ON {quoted(table)} TO {who}" for table in sorted(rights.delete)]
    return statements


def quoted(name: str) -> str:
    """A name as PostgreSQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'

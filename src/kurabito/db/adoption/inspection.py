"""Which tables of the earlier system a SQLite database has, and which names are taken by other programs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

from kurabito.db.adoption.tables import EARLIER, EarlierTable, leftovers_of
from kurabito.db.adoption.values import word
from kurabito.db.errors import ForeignTables
from kurabito.db.port import Connection, Dialect
from kurabito.db.sqlite.connection import quoted

_OBJECTS: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
# Any program may have jobs and thumbnails. Where none of these stands beside them, their rows have to tell whose they are.
_TELLTALE: Final = frozenset(
    (
        "library_files", "library_roots", "scan_sessions", "thumbnail_cleanup_jobs", "wal_maintenance_jobs",
        "io_rate_limits",
    )
)  # fmt: skip
_LEDGER: Final = "kurabito_migrations"
_APPLIED: Final = f"SELECT number FROM {_LEDGER} WHERE set_name = 'product'"
_COLUMNS: Final = "SELECT name, hidden FROM pragma_table_xinfo(?)"
_HIDDEN: Final = 1
"""A column that a virtual table does not show. What SQLite computes from other columns has a larger number."""
_RELATION: Final = "SELECT 1 WHERE to_regclass(:name) IS NOT NULL"


class SchemaObject(NamedTuple):
    """A table, view, index or trigger, as SQLite lists it."""

    kind: str
    name: str
    table: str
    sql: str | None


class EarlierSource(NamedTuple):
    """A table of the earlier system that a database has."""

    spec: EarlierTable
    name: str
    """What it is called there."""
    stays: bool
    """It is read and left as it is: its name is not one that we need."""


def objects_of(raw: sqlite3.Connection) -> dict[str, SchemaObject]:
    """Everything in the database, by its name in lowercase: SQLite does not tell `Jobs` from `jobs`."""
    cursor = raw.cursor()
    cursor.row_factory = None
    return {found.name.lower(): found for found in map(SchemaObject._make, cursor.execute(_OBJECTS))}


def columns_of(raw: sqlite3.Connection, table: str) -> list[str]:
    """The columns that can be read, as they are spelt."""
    return [name for name, hidden in raw.execute(_COLUMNS, (table,)) if hidden != _HIDDEN]


def stored_columns_of(raw: sqlite3.Connection, table: str) -> set[str]:
    """The columns that hold something of their own: not those that SQLite computes from others."""
    return {name for name, hidden in raw.execute(_COLUMNS, (table,)) if not hidden}


def sources_in(raw: sqlite3.Connection, pending: Collection[int]) -> list[EarlierSource]:
    """The earlier tables in whose place a pending migration makes ours: each before what an interrupted step left of it."""
    objects = objects_of(raw)
    return [source for spec in EARLIER if spec.made_by in pending for source in _sources_of(raw, spec, objects)]


def names_made_by(pending: Collection[int]) -> set[str]:
    """Names that pending migrations need for tables of ours which the earlier system had too."""
    return {spec.name for spec in EARLIER if spec.made_by in pending}


def holds_earlier_tables(raw: sqlite3.Connection) -> bool:
    """Whether a database has tables of the earlier system that were not taken over yet."""
    done = {number for (number,) in raw.execute(_APPLIED)} if _LEDGER in objects_of(raw) else set()
    return bool(sources_in(raw, {spec.made_by for spec in EARLIER} - done))


def refuse_foreign(conn: Connection, needed: Collection[str], sources: Collection[EarlierSource], advice: str) -> None:
    """Raise ForeignTables when another program has one of the names that are needed."""
    if conn.dialect is Dialect.POSTGRES:
        taken = [name for name in needed if conn.one(_RELATION, {"name": name}) is not None]
        says = "; the tables of an earlier system are taken over from its SQLite file only"
    else:
        ours = {source.name.lower() for source in sources if not source.stays}
        objects = objects_of(conn.raw)
        taken = [found.name for name, found in objects.items() if name in needed and found.table.lower() not in ours]
        says = ""
    if taken:
        raise ForeignTables(
            f"the database has {', '.join(sorted(taken))} already, which Kurabito did not make and has to{says}. Nothing was "
            f"changed: {advice}"
        )


def _sources_of(
    raw: sqlite3.Connection, spec: EarlierTable, objects: dict[str, SchemaObject]
) -> Iterator[EarlierSource]:
    others = spec.also_called if "library_files" in objects else ()
    is_alone = objects.keys().isdisjoint(_TELLTALE)
    named = [
        (spec.name, False),
        *((name, True) for name in others),
        *((name, False) for name in leftovers_of(spec.name)),
    ]
    for name, stays in named:
        found = objects.get(name)
        if found is not None and _is_of(raw, spec, found, is_alone):
            yield EarlierSource(spec, found.name, stays)


def _is_of(raw: sqlite3.Connection, spec: EarlierTable, found: SchemaObject, is_alone: bool) -> bool:
    if found.kind != "table" or (found.sql or "").upper().startswith("CREATE VIRTUAL"):
        return False
    there = {name.lower() for name in columns_of(raw, found.name)}
    if not all(there & {mark, *spec.renamed.get(mark, ())} for mark in spec.marks):
        return False
    return not is_alone or all(_says_only(raw, found.name, column, spec) for column in spec.words if column in there)


def _says_only(raw: sqlite3.Connection, table: str, column: str, spec: EarlierTable) -> bool:
    """Whether a column holds nothing but the words of the earlier system."""
    for (value,) in raw.execute(f"SELECT DISTINCT {quoted(column)} FROM {quoted(table)} LIMIT 100"):
        try:
            word(value, spec.words[column])
        except ValueError:
            return False
    return True


def first_free(raw: sqlite3.Connection, name: str) -> str:
    """The name, or with a number behind it where it is taken."""
    taken: Any = objects_of(raw).keys()
    candidates = (name if count == 1 else f"{name}_{count}" for count in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate not in taken)

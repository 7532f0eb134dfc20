"""All tables of the earlier system: out of the way, into ours, and counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from kurabito.db.adoption.inspection import EarlierSource, first_free, objects_of
from kurabito.db.adoption.rows import Carrier
from kurabito.db.adoption.tables import LIBRARIES, EarlierTable, unknown_folder
from kurabito.db.errors import RowsWouldBeLost
from kurabito.db.port import Connection
from kurabito.db.sqlite.connection import quoted

_ORPHANS: Final = (
    "SELECT DISTINCT library_id FROM library_files WHERE library_id NOT IN (SELECT id FROM library_roots) ORDER BY 1"
)
_NAMELESS: Final = "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (:id, :name, :root_path, :now, :now)"


@dataclass(frozen=True, slots=True)
class TakenTable:
    """What became of one table of the earlier system."""

    name: str
    rows: int
    carried: int
    """Rows that are in our table now."""
    kept: int
    """Rows of `kept_in`: those that could not be carried over, and those that lost a part."""
    kept_in: str | None
    reasons: tuple[str, ...]
    stays: bool
    """The table itself is still there."""


class Aside:
    """The earlier tables of a database while the migrations make ours in their place."""

    def __init__(self, conn: Connection, sources: list[EarlierSource]) -> None:
        self._conn = conn
        self._raw: sqlite3.Connection = conn.raw
        self._sources = sources
        self._now_called: dict[str, str] = {}
        self._rows: dict[str, int] = {}
        self._sequences: dict[str, int] = {}

    @property
    def names(self) -> set[str]:
        """The tables that are taken over and then go."""
        return {source.name for source in self._sources if not source.stays}

    def move(self) -> None:
        """Give our names free, and those of our indexes and triggers."""
        if not self._sources:
            return
        self._sequences = _sequences(self._raw)
        for source in self._sources:
            self._rows[source.name] = _count(self._raw, source.name)
            self._now_called[source.name] = source.name
            if not source.stays:
                _drop_companions(self._raw, source.name)
        with _references_stay(self._raw):
            for source in self._sources:
                if source.name.lower() == source.spec.name:
                    aside = first_free(self._raw, f"kurabito_aside_{source.spec.name}")
                    self._raw.execute(f"ALTER TABLE {quoted(source.name)} RENAME TO {aside}")
                    self._now_called[source.name] = aside

    def take_over(self) -> list[TakenTable]:
        """Fill our tables, and drop theirs. Raises RowsWouldBeLost where a row is neither in ours nor kept."""
        taken = [table for spec in dict.fromkeys(source.spec for source in self._sources) for table in self._fill(spec)]
        for source in self._sources:
            if not source.stays:
                self._raw.execute(f"DROP TABLE {quoted(self._now_called[source.name])}")
        if taken:
            self._name_libraries()
        return taken

    def _fill(self, spec: EarlierTable) -> Iterator[TakenTable]:
        sources = [source for source in self._sources if source.spec is spec]
        carried, first = 0, None
        reasons: list[str] = []
        with _many_active(self._raw, spec):
            for source in sources:
                carrier = Carrier(self._conn, source, self._now_called[source.name])
                carrier.carry(first)
                first = first or self._now_called[source.name]
                carried += carrier.carried
                self._check(source, carrier)
                reasons = [reason for reason, _ in carrier.reasons.most_common(5)]
                yield TakenTable(
                    source.name,
                    self._rows[source.name],
                    carrier.carried,
                    carrier.copies,
                    carrier.kept_in,
                    tuple(reasons),
                    source.stays,
                )
        _refuse_difference(spec.name, carried, _count(self._raw, spec.name))
        if spec.is_essential and not carried and any(self._rows[source.name] for source in sources):
            raise RowsWouldBeLost(
                f"none of the rows of {sources[0].name} can be taken over ({'; '.join(reasons)}), so nothing was changed. Please "
                "report this, with the text of its CREATE TABLE"
            )
        self._continue_numbers(spec, {source.name for source in sources})

    def _check(self, source: EarlierSource, carrier: Carrier) -> None:
        _refuse_difference(source.name, self._rows[source.name], carrier.carried + carrier.kept + carrier.known_already)
        if carrier.kept_in is not None:
            _refuse_difference(carrier.kept_in, carrier.copies, _count(self._raw, carrier.kept_in))

    def _continue_numbers(self, spec: EarlierTable, names: set[str]) -> None:
        """Give no number a second time, also where the rows that had the highest ones are gone."""
        highest = max((self._sequences.get(name, 0) for name in names), default=0)
        if highest > _sequences(self._raw).get(spec.name, 0):
            self._raw.execute("DELETE FROM sqlite_sequence WHERE name = ?", (spec.name,))
            self._raw.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (spec.name, highest))

    def _name_libraries(self) -> None:
        """Give files whose library is not known one that can be seen and removed."""
        if LIBRARIES.name not in objects_of(self._raw):
            return
        for (library_id,) in self._conn.all(_ORPHANS):
            named = {"id": library_id, "name": f"earlier library {library_id}"}
            self._conn.run(_NAMELESS, {**named, "root_path": unknown_folder(library_id)})


def _drop_companions(raw: sqlite3.Connection, table: str) -> None:
    """Drop the indexes and triggers of a table that is about to go: ours have the same names."""
    for found in objects_of(raw).values():
        if found.table.lower() == table.lower() and found.kind in ("index", "trigger") and found.sql:
            raw.execute(f"DROP {found.kind} {quoted(found.name)}")


@contextmanager
def _references_stay(raw: sqlite3.Connection) -> Iterator[None]:
    """Have tables of other programs, that refer to one that is renamed, refer to ours once it is there."""
    raw.execute("PRAGMA legacy_alter_table = ON")
    try:
        yield
    finally:
        raw.execute("PRAGMA legacy_alter_table = OFF")


@contextmanager
def _many_active(raw: sqlite3.Connection, spec: EarlierTable) -> Iterator[None]:
    """Allow several active rows while the table is filled; then one stays, and the index is made again."""
    if not spec.one_active:
        yield
        return
    definition = objects_of(raw)[spec.one_active].sql
    raw.execute(f"DROP INDEX {spec.one_active}")
    yield
    raw.execute(spec.supersede)
    raw.execute(str(definition))


def _refuse_difference(table: str, expected: int, found: int) -> None:
    if expected != found:
        raise RowsWouldBeLost(
            f"{table} has {expected} rows and {found} of them were accounted for, so the take-over was undone and nothing is "
            "changed. Please report this, with the text of its CREATE TABLE"
        )


def _count(raw: sqlite3.Connection, table: str) -> int:
    (count,) = raw.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()
    return int(count)


def _sequences(raw: sqlite3.Connection) -> dict[str, int]:
    if raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").fetchone() is None:
        return {}
    return {name: seq for name, seq in raw.execute("SELECT name, seq FROM sqlite_sequence") if isinstance(seq, int)}

"""The rows of one earlier table, carried into ours or kept as they were."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from kurabito.db.adoption import values
from kurabito.db.adoption.inspection import EarlierSource, columns_of, first_free, stored_columns_of
from kurabito.db.adoption.tables import Cells
from kurabito.db.port import Connection
from kurabito.db.sqlite.connection import quoted

KEPT: Final = "earlier_"
"""How the name of a table begins that has what was not carried over."""
_MOMENTS: Final = ("_at", "_after")
_FLAGS: Final = frozenset(("dry_run", "is_missing", "needs_hash", "watched"))
_OF_TIME: Final = ("created_at", "started_at", "updated_at", "finished_at", "execute_after")
_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "INTEGER": values.number,
    "REAL": values.real,
    "TEXT": values.text,
    "BLOB": values.digest,
}


class _Column(NamedTuple):
    """A column of ours."""

    name: str
    read: Callable[[Any], Any]
    is_needed: bool
    default: Any
    is_moment: bool


class _Unfit(Exception):
    """The row cannot become one of ours."""


class Carrier:
    """Reads a table of the earlier system row by row, and says where each row went."""

    def __init__(self, conn: Connection, source: EarlierSource, table: str) -> None:
        self._conn = conn
        self._raw: sqlite3.Connection = conn.raw
        self._spec = source.spec
        self._table = table
        """What it is called now that it was moved aside."""
        self._called = source.name
        self._theirs = columns_of(self._raw, table)
        self._ours = [self._described(*row) for row in self._raw.execute(f"PRAGMA table_info({self._spec.name})")]
        names, marks = self._names([column.name for column in self._ours]), ", ".join("?" * len(self._ours))
        self._statement = f"INSERT INTO {self._spec.name} ({names}) VALUES ({marks})"
        self._found = self._matched()
        """Which of their columns becomes which of ours."""
        stored = stored_columns_of(self._raw, table)
        self._unknown = {
            place: name
            for place, name in enumerate(self._theirs)
            if place not in self._found.values() and name in stored
        }
        self.kept_in: str | None = None
        self.reasons: Counter[str] = Counter()
        self.carried = self.kept = self.known_already = 0
        """Rows that are in ours; rows that are not, and are kept; rows that another table had already given us."""
        self.copies = 0
        """Rows of `kept_in`, those included that were carried all but something."""

    def carry(self, first: str | None) -> None:
        """Carry every row. `first` is the table that has the say where both have a row."""
        with _undecodable_as_bytes(self._raw):
            for row in self._raw.execute(f"SELECT {self._names(self._theirs)} FROM {quoted(self._table)}"):
                self._carry_row(row, first)

    def _carry_row(self, row: tuple[Any, ...], first: str | None) -> None:
        why: list[str] = []
        try:
            cells = self._converted(row, why)
            if first is not None and self._is_there(cells):
                self._compare(row, first)
                return
            why += self._insert_apart(cells)
        except _Unfit as unfit:
            self.kept += 1
            self._keep(row, False, [*why, str(unfit)])
            return
        self.carried += 1
        if lost := [name for place, name in self._unknown.items() if row[place] is not None]:
            why.append(f"Kurabito has no column for {', '.join(lost)}")
        if why:
            self._keep(row, True, why)

    def _converted(self, row: tuple[Any, ...], why: list[str]) -> Cells:
        cells: Cells = {}
        for column in self._ours:
            place = self._found.get(column.name)
            value = None if place is None else row[place]
            try:
                cells[column.name] = None if value is None else column.read(value)
            except (ValueError, OverflowError) as problem:
                if column.is_needed and not column.is_moment:
                    raise _Unfit(f"{column.name}: {problem}") from problem
                cells[column.name] = None
                why.append(f"{column.name}: {problem}")
        why += self._spec.settle(cells)
        for column in self._ours:
            if column.is_needed and cells[column.name] is None:
                cells[column.name] = self._stand_in(column, cells)
        return cells

    def _stand_in(self, column: _Column, cells: Cells) -> Any:
        if column.name in self._spec.absent:
            return self._spec.absent[column.name](cells)
        if column.is_moment:
            known = (cells.get(name) for name in _OF_TIME)
            return next((moment for moment in known if moment is not None), self._conn.now())
        return column.default

    def _insert_apart(self, cells: Cells) -> list[str]:
        """Insert a row, under another name where one of ours has its own; says so."""
        twins = self._spec.twins
        asked = f"SELECT 1 FROM {self._spec.name} WHERE {twins} = ?"
        if not twins or self._raw.execute(asked, (cells[twins],)).fetchone() is None:
            self._insert(cells)
            return []
        cells[twins] = f"{cells[twins]} ({cells[self._spec.key]})"
        self._insert(cells)
        return [f"another one has its {twins}"]

    def _insert(self, cells: Cells) -> None:
        try:
            self._raw.execute(self._statement, [cells[column.name] for column in self._ours])
        except (sqlite3.IntegrityError, UnicodeEncodeError, OverflowError) as problem:
            raise _Unfit(str(problem)) from problem

    def _is_there(self, cells: Cells) -> bool:
        asked = f"SELECT 1 FROM {self._spec.name} WHERE {self._spec.key} = ?"
        return self._raw.execute(asked, (cells[self._spec.key],)).fetchone() is not None

    def _compare(self, row: tuple[Any, ...], first: str) -> None:
        """Of a row that both tables have, the one of `first` was carried; this one is kept where it says something else."""
        shared = {name.lower(): name for name in columns_of(self._raw, first)}
        said = {
            shared[name.lower()]: cell for name, cell in zip(self._theirs, row, strict=True) if name.lower() in shared
        }
        same = " AND ".join(f"{quoted(name)} IS ?" for name in said)
        asked = f"SELECT 1 FROM {quoted(first)} WHERE {same}"
        if self._raw.execute(asked, [*said.values()]).fetchone() is None:
            self.kept += 1
            self._keep(row, False, ["another row has its key"])
        else:
            self.known_already += 1

    def _keep(self, row: tuple[Any, ...], is_carried: bool, why: list[str]) -> None:
        if self.kept_in is None:
            self.kept_in = first_free(self._raw, KEPT + self._called.lower())
            # Without types and keys each value stays what it was, and nothing of ours is held back by it.
            columns = self._names([*self._theirs, self._apart("is_carried"), self._apart("kept_because")])
            self._raw.execute(f"CREATE TABLE {quoted(self.kept_in)} ({columns})")
        self.copies += 1
        self.reasons.update(why)
        marks = ", ".join("?" * (len(row) + 2))
        kept = [*row, int(is_carried), "; ".join(why)]
        self._raw.execute(f"INSERT INTO {quoted(self.kept_in)} VALUES ({marks})", kept)

    def _described(self, _: int, name: str, kind: str, needed: int, default: str | None, key: int) -> _Column:
        is_moment = kind == "INTEGER" and name.endswith(_MOMENTS)
        read = _READERS[kind]
        if name in self._spec.words:
            read = partial(values.word, allowed=self._spec.words[name])
        elif name == "job_id" or (name == "id" and kind == "TEXT"):
            read = values.job_id
        elif name in _FLAGS:
            read = values.flag
        elif is_moment:
            read = values.moment
        (stands_for,) = self._raw.execute(f"SELECT {default or 'NULL'}").fetchone()
        return _Column(name, read, bool(needed or key), stands_for, is_moment)

    def _matched(self) -> dict[str, int]:
        places = {name.lower(): place for place, name in enumerate(self._theirs)}
        found = {}
        for column in self._ours:
            called = (column.name, *self._spec.renamed.get(column.name, ()))
            place = next((places[name] for name in called if name in places), None)
            if place is not None:
                found[column.name] = place
        return found

    def _apart(self, name: str) -> str:
        """The name of a column of `kept_in`, unless theirs has one of that name."""
        while name in {theirs.lower() for theirs in self._theirs}:
            name += "_"
        return name

    def _names(self, columns: list[str]) -> str:
        return ", ".join(quoted(name) for name in columns)


@contextmanager
def _undecodable_as_bytes(raw: sqlite3.Connection) -> Iterator[None]:
    """Have text that is no UTF-8 read as the bytes it is: it is kept, where SQLite's reader would only fail."""

    def decoded(found: bytes) -> str | bytes:
        try:
            return found.decode()
        except UnicodeDecodeError:
            return found

    before, raw.text_factory = raw.text_factory, decoded
    try:
        yield
    finally:
        raw.text_factory = before

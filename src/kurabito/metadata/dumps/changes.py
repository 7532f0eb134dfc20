"""Brings the index to what the dumps say, some changes at a time, so that no other writer waits long.

Every name changes in one transaction with all the entries that have it: a folder that is matched meanwhile sees the entries of
its name as they were or as they will be, never some of them. What a kill interrupts is continued by the next call, because only
the differences are written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from kurabito.db import Connection, Database, Queries, Query
from kurabito.metadata.dumps.join import JOIN, IndexContent, Joined, content_of_dumps
from kurabito.metadata.dumps.store import BATCH, editions, note_joined

Row = tuple[Any, ...]
Report = Callable[[int, int], object]
"""Is told how many changes were written, and how many there are."""

_SQL: Final = Queries("kurabito.metadata.dumps", "changes.sql")
_MOST_TRIES: Final = 5


class IndexChange(NamedTuple):
    """Rows that leave a table and rows that come into it, in one transaction."""

    forget: Query | None
    gone: list[Row]
    add: Query
    new: list[Row]


class IndexMoved(Exception):
    """Another process imported something while the changes were written."""


def bring_up_to_date(database: Database, report: Report = lambda _done, _total: None) -> Joined:
    """Make the index of all that was imported. A kill in the middle leaves every name whole; the next call goes on."""
    for tries_left in reversed(range(_MOST_TRIES)):
        stamp, content, changes = database.read_blocking(_plan)
        try:
            for done, change in enumerate(changes, 1):
                database.write_blocking(partial(_write, change=change, stamp=stamp))
                report(done, len(changes))
            database.write_blocking(partial(_end, stamp=stamp))
        except IndexMoved:
            if not tries_left:
                raise
            continue
        return content.joined
    raise AssertionError


def _plan(conn: Connection) -> tuple[Row, IndexContent, list[IndexChange]]:
    content = content_of_dumps(conn)
    return _stamp(conn), content, list(_changes(conn, content))


def _changes(conn: Connection, content: IndexContent) -> Iterator[IndexChange]:
    """New entries first, then names, and at last the entries that are gone: a name never leads to none."""
    old, new = _rows(conn, _SQL.entries), {tuple(row) for row in content.entries}
    ids = {row[0] for row in new}
    replaced = [row for row in old - new if row[0] in ids]
    # An entry is written with what completes it.
    completed = {row[0]: tuple(row) for row in content.completions}
    for batch in _batches(sorted(new - old, key=_first)):
        gone = [row for row in replaced if row[0] in {one[0] for one in batch}]
        yield IndexChange(_SQL.forget_entries, gone, JOIN.add_entries, batch)
    known = {row[0]: row for row in _rows(conn, _SQL.completions)}
    rewritten = {row[0] for row in new - old}
    lacking = [row for row in completed.values() if row[0] in rewritten or _adds(known.get(row[0]), row)]
    for batch in _batches(lacking):
        yield IndexChange(None, [], JOIN.complete, batch)
    own = {row for row in _rows(conn, _SQL.titles) if row[2] != "bangumi-data"}
    named = {row[:2] for row in _rows(conn, _SQL.titles)} - {row[:2] for row in own}
    titles = {tuple(row) for row in content.titles if tuple(row[:2]) not in named}
    yield from _by_key(own, titles, _SQL.forget_titles, JOIN.add_titles)
    yield from _by_key(_rows(conn, _SQL.sounds), set(content.sounds), _SQL.forget_sounds, JOIN.add_sounds)
    offsets = {tuple(row) for row in content.offsets}
    yield from _by_key(_rows(conn, _SQL.offsets), offsets, _SQL.forget_offsets, JOIN.add_offsets)
    for batch in _batches(sorted((row for row in old if row[0] not in ids), key=_first)):
        yield IndexChange(_SQL.forget_entries, batch, JOIN.add_entries, [])


def _by_key(old: set[Row], new: set[Row], forget: Query, add: Query) -> Iterator[IndexChange]:
    """The changes of a table whose rows of one first column belong together."""
    gone, come = _grouped(old - new), _grouped(new - old)
    batch: tuple[list[Row], list[Row]] = [], []
    for key in sorted(gone.keys() | come.keys()):
        batch[0].extend(gone.get(key, ()))
        batch[1].extend(come.get(key, ()))
        if len(batch[0]) + len(batch[1]) >= BATCH:
            yield IndexChange(forget, batch[0], add, batch[1])
            batch = [], []
    if batch[0] or batch[1]:
        yield IndexChange(forget, batch[0], add, batch[1])


def _grouped(rows: Iterable[Row]) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return found


def _batches(rows: Sequence[Row]) -> Iterator[list[Row]]:
    for start in range(0, len(rows), BATCH):
        yield list(rows[start : start + BATCH])


def _adds(known: Row | None, wanted: Row) -> bool:
    """Whether a completion changes an entry. Ids and titles that it has stay; how long it is and its franchise do not."""
    if known is None:
        return True
    is_new = any(old is None and new is not None for old, new in zip(known[1:6], wanted[1:6], strict=True))
    return is_new or known[6:] != wanted[6:]


def _rows(conn: Connection, query: Query) -> set[Row]:
    return {tuple(row) for row in conn.all(query)}


def _first(row: Row) -> Any:
    return row[0]


def _write(conn: Connection, change: IndexChange, stamp: Row) -> None:
    _check(conn, stamp)
    if change.forget is not None and change.gone:
        conn.run(change.forget, {"rows": json.dumps(change.gone, ensure_ascii=False)})
    if change.new:
        conn.run(change.add, {"rows": json.dumps(change.new, ensure_ascii=False)})


def _end(conn: Connection, stamp: Row) -> None:
    _check(conn, stamp)
    note_joined(conn)


def _check(conn: Connection, stamp: Row) -> None:
    """Another import may have given entries other numbers; what was planned is then worth nothing."""
    if _stamp(conn) != stamp:
        raise IndexMoved


def _stamp(conn: Connection) -> Row:
    return conn.value(_SQL.imported_at), *editions(conn)

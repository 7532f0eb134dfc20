"""Brings the index to what the dumps say, some changes at a time, so that no other writer waits long.

Every name changes in one transaction with all the entries that have it: a folder that is matched meanwhile sees the entries of
its name as they were or as they will be, never some of them. What a kill interrupts is continued by the next call, because only
the differences are written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple

from kurabito.db import Connection, Database, Queries, Query
from kurabito.metadata.dumps.join import JOIN, ROW, IndexContent, Joined, content_of_dumps
from kurabito.metadata.dumps.store import BATCH, editions, note_joined

Values = tuple[Any, ...]
"""A row as it is compared: its first value is what it is about."""
Report = Callable[[int, int], object]
"""Is told how many changes were written, and how many there are."""

_SQL: Final = Queries("kurabito.metadata.dumps", "changes.sql", row=ROW)
_MOST_TRIES: Final = 5
_key: Final = itemgetter(0)


class IndexChange(NamedTuple):
    """Rows that leave a table and rows that come into it, in one transaction."""

    forget: Query
    gone: list[Values]
    add: Query
    new: list[Values]


class IndexMoved(Exception):
    """Another process imported something while the changes were written."""


def unheard(_done: int, _total: int) -> None:
    """For who does not want to know how far it is."""


def counted(total: int, report: Report) -> Callable[[int], None]:
    """Has a report told how many rows of all were stored, batch by batch."""
    stored = 0

    def note(rows: int) -> None:
        nonlocal stored
        stored += rows
        report(stored, total)

    return note


def bring_up_to_date(database: Database, report: Report = unheard) -> Joined:
    """Make the index of all that was imported. A kill in the middle leaves every name whole; the next call goes on."""
    for tries_left in reversed(range(_MOST_TRIES)):
        stamp, content, changes = database.read_blocking(_plan)
        try:
            for done, change in enumerate(changes, 1):
                database.write_blocking(partial(_write, change=change, stamp=stamp), durable=False)
                report(done, len(changes))
            database.write_blocking(partial(_end, stamp=stamp))
        except IndexMoved:
            if not tries_left:
                raise
            continue
        return content.joined
    raise AssertionError


def join_dumps(conn: Connection) -> Joined:
    """Make the index of all that was imported, in the caller's transaction."""
    _, content, changes = _plan(conn)
    for change in changes:
        _apply(conn, change)
    note_joined(conn)
    return content.joined


def _plan(conn: Connection) -> tuple[Values, IndexContent, list[IndexChange]]:
    content = content_of_dumps(conn)
    return _stamp(conn), content, list(_changes(conn, content))


def _changes(conn: Connection, content: IndexContent) -> Iterator[IndexChange]:
    """New entries first, then names, and at last the entries that are gone: a name never leads to none."""
    old, new = _rows(conn, _SQL.entries), set(content.entries)
    ids = set(map(_key, new))
    replaced = {_key(entry): entry for entry in old - new if _key(entry) in ids}
    for batch in _batches(sorted(new - old, key=_key)):
        gone = [replaced[key] for key in map(_key, batch) if key in replaced]
        yield IndexChange(_SQL.forget_entries, gone, JOIN.add_entries, batch)
    titles = {tuple(title) for title in content.titles}
    yield from _by_key(_rows(conn, _SQL.titles), titles, _SQL.forget_titles, JOIN.add_titles)
    yield from _by_key(_rows(conn, _SQL.sounds), set(content.sounds), _SQL.forget_sounds, JOIN.add_sounds)
    offsets = {tuple(offset) for offset in content.offsets}
    yield from _by_key(_rows(conn, _SQL.offsets), offsets, _SQL.forget_offsets, JOIN.add_offsets)
    for batch in _batches(sorted((entry for entry in old if _key(entry) not in ids), key=_key)):
        yield IndexChange(_SQL.forget_entries, batch, JOIN.add_entries, [])


def _by_key(old: set[Values], new: set[Values], forget: Query, add: Query) -> Iterator[IndexChange]:
    """The changes of a table whose rows of one first column belong together."""
    gone, come = _grouped(old - new), _grouped(new - old)
    batch: tuple[list[Values], list[Values]] = [], []
    for key in sorted(gone.keys() | come.keys()):
        batch[0].extend(gone.get(key, ()))
        batch[1].extend(come.get(key, ()))
        if len(batch[0]) + len(batch[1]) >= BATCH:
            yield IndexChange(forget, batch[0], add, batch[1])
            batch = [], []
    if batch[0] or batch[1]:
        yield IndexChange(forget, batch[0], add, batch[1])


def _grouped(rows: Iterable[Values]) -> dict[Any, list[Values]]:
    found: dict[Any, list[Values]] = {}
    for values in rows:
        found.setdefault(_key(values), []).append(values)
    return found


def _batches(rows: Sequence[Values]) -> Iterator[list[Values]]:
    for start in range(0, len(rows), BATCH):
        yield list(rows[start : start + BATCH])


def _rows(conn: Connection, query: Query) -> set[Values]:
    return {tuple(row) for row in conn.all(query)}


def _write(conn: Connection, change: IndexChange, stamp: Values) -> None:
    _check(conn, stamp)
    _apply(conn, change)


def _apply(conn: Connection, change: IndexChange) -> None:
    if change.gone:
        conn.run(change.forget, {"rows": json.dumps(change.gone, ensure_ascii=False)})
    if change.new:
        conn.run(change.add, {"rows": json.dumps(change.new, ensure_ascii=False)})


def _end(conn: Connection, stamp: Values) -> None:
    _check(conn, stamp)
    note_joined(conn)


def _check(conn: Connection, stamp: Values) -> None:
    """Another import may have given entries other numbers; what was planned is then worth nothing."""
    if _stamp(conn) != stamp:
        raise IndexMoved


def _stamp(conn: Connection) -> Values:
    return conn.value(_SQL.imported_at), *editions(conn)

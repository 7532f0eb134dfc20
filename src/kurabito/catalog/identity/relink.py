"""Reads links again after a rule, an offset, a name, the index or the parser changed, and puts each where it belongs now.

Which links belong elsewhere is judged beside everything else, without a transaction that writes; only what changes is written, some
links at a time. Nothing is downloaded or cancelled by it: a link that would be downloaded in its new place is held until a person
confirms it, and one that was downloaded stays so. What a person placed stays where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.relinks import sources, store
from kurabito.catalog.relinks.judge import LinkJudge, LinkRange, open_judges
from kurabito.catalog.relinks.links import SQL
from kurabito.catalog.relinks.mover import LinkMover, Moved
from kurabito.catalog.relinks.store import Relink, RelinkCause, RelinkedLink
from kurabito.catalog.states import HeldReason
from kurabito.db import Connection
from kurabito.runtime import Registry
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before

RELINK: Final = "catalog.relink"
KEEP: Final = "catalog.relink_if_due"
_LOOKED_AT_EVERY: Final = 300.0
_RANGE: Final = 10_000
_AT_ONCE: Final = 50

Wake = Callable[["RelinkTask"], Awaitable[object]]
"""Has links read again; what a change of rules or series calls."""


@dataclass(frozen=True, slots=True)
class RelinkTask:
    """Which links to read again: those that these rules concern, whose titles have these names, folded, or of one series; else all."""

    conditions: tuple[str, ...] = ()
    series_id: int | None = None
    names: tuple[str, ...] = ()
    cause: RelinkCause = RelinkCause.RULE

    def ranges(self, last: int) -> list[LinkRange]:
        """The links up to the last one, as they are judged; those of one series together."""
        step = _RANGE if self.series_id is None else max(last, 1)
        return [
            LinkRange(after, min(after + step, last), self.series_id, self.conditions, self.names)
            for after in range(0, last, step)
        ]


@dataclass(slots=True)
class Relinked:
    """What came of reading again."""

    read: int = 0
    moved: int = 0
    """Links that went to another series or episode."""
    held: int = 0
    """Those of them that wait to be confirmed before they are downloaded."""

    def add(self, moved: Moved) -> None:
        self.moved += moved.links
        self.held += moved.held


class Relinker:
    """The task that reads links again."""

    def __init__(self, queue: DelegatedTasks, sink: LinkSink | None = None, url: str | None = None) -> None:
        self._queue = queue
        self._database = queue.database
        self._sink = sink
        self._url = url
        """Of the same database, for processes that judge many links."""

    def join(self, registry: Registry) -> None:
        """Register the task."""
        registry.task(RELINK, concurrency=1)(self.relink)
        registry.task(KEEP)(self.relink_if_due)
        registry.every(_LOOKED_AT_EVERY, KEEP, unique_key=KEEP)

    async def wake(self, task: RelinkTask) -> UUID:
        """Have links read again in the background; the task."""
        return await read_again(self._queue, task)

    async def relink_if_due(self) -> RelinkCause | None:
        """Have all links read again that an older parser, or an older index, was the last to read; why."""
        cause = await self._database.read(sources.due)
        if cause is not None:
            await self.wake(RelinkTask(cause=cause))
        return cause

    async def relink(self, task: RelinkTask) -> Relinked:
        """Read the links again, and note what came of it."""
        read_by = await self._database.read(sources.current)
        run = await self._database.write(lambda conn: store.begin(conn, task.cause))
        done = await self._relink(task, run)
        is_all = task.cause in (RelinkCause.INDEX, RelinkCause.PARSER)

        def finish(conn: Connection) -> None:
            store.finish(conn, run, read=done.read, is_kept=task.cause is RelinkCause.PARSER)
            if is_all:
                sources.note(conn, read_by)

        await self._database.write(finish)
        return done

    async def page(self, *, limit: int = 20, cursor: str | None = None) -> Page[Relink]:
        """What came of reading again, the newest first."""
        before = id_before(cursor)
        found = await self._database.read(lambda conn: store.page(conn, before=before, limit=limit + 1))
        return Page.cut(found, limit, lambda last: str(last.id))

    async def moved(self, relink_id: int, *, limit: int = 50, cursor: str | None = None) -> Page[RelinkedLink]:
        """The links that a run moved, the newest first; raises RelinkNotFound."""
        before = id_before(cursor)

        def look(conn: Connection) -> list[RelinkedLink]:
            store.find(conn, relink_id)
            return store.moved(conn, relink_id, before=before, limit=limit + 1)

        return Page.cut(await self._database.read(look), limit, lambda last: str(last.link_id))

    async def _relink(self, task: RelinkTask, run: int) -> Relinked:
        """Range after range, by as many judges as there are."""
        done, mover = Relinked(), LinkMover(run, self._sink)
        ranges = task.ranges(await self._database.read(lambda conn: int(conn.value(SQL.last))))
        if ranges:
            left = iter(ranges)
            try:
                async with (
                    open_judges(self._database, self._url, len(ranges)) as judges,
                    asyncio.TaskGroup() as all_of_them,
                ):
                    for judge in judges:
                        all_of_them.create_task(self._take_turns(judge, left, mover, done))
            except ExceptionGroup as failed:
                # The first of them says why; the others were stopped by it.
                raise failed.exceptions[0] from None
        return done

    async def _take_turns(self, judge: LinkJudge, left: Iterator[LinkRange], mover: LinkMover, done: Relinked) -> None:
        for links in left:
            judged = await judge.judge(links)
            done.read += judged.read
            # A transaction is short, so that others wait little; and a crash repeats little.
            for start in range(0, len(judged.moves), _AT_ONCE):
                some = judged.moves[start : start + _AT_ONCE]
                done.add(await self._database.write(partial(mover.move, moves=some)))

    async def confirm(self) -> int:
        """Download what was read again and waits for that; how many links."""

        def store(conn: Connection) -> int:
            lock_catalog(conn)
            waiting = [link_id for (link_id,) in conn.all(SQL.waiting)]
            RowChanges(conn).column(
                "anime_links", "held_reason", ((one, HeldReason.READ_AGAIN, None) for one in waiting)
            )
            if waiting and self._sink is not None:
                self._sink.accept(conn, waiting)
            return len(waiting)

        return await self._database.write(store)

    async def count_waiting(self) -> int:
        """How many links wait to be confirmed."""
        return await self._database.read(lambda conn: len(conn.all(SQL.waiting)))


async def read_again(queue: DelegatedTasks, task: RelinkTask) -> UUID:
    """Have links read again in the background; the task, which may be one that waits already."""
    about = "|".join((*sorted(task.conditions), *sorted(task.names)))
    key = f"{RELINK}:{task.cause}:{task.series_id}:{about}"[:200]
    return (await queue.enqueue(RELINK, task, unique_key=key)).id

"""Reads links again after a rule, an offset, a name, the index or the parser changed, and puts each where it belongs now.

Which links belong elsewhere is judged beside everything else, without a transaction that writes; only what changes is written, some
links at a time. Nothing is downloaded or cancelled by it: a link that would be downloaded in its new place is held until a person
confirms it, and one that was downloaded stays so. What a person placed stays where it is.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import astuple, dataclass
from functools import partial
from typing import Final
from uuid import UUID

from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.relinks import held_links, sources, store
from kurabito.catalog.relinks.judge import JudgedLinks, LinkJudge, open_judges
from kurabito.catalog.relinks.links import SQL
from kurabito.catalog.relinks.mover import LinkMover, Moved
from kurabito.catalog.relinks.scope import LinkRange, RulePatterns, by_title
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
_AT_ONCE: Final = 25
_LONGEST_PAUSE: Final = 0.03
_PAUSE: Final = 3
"""Times as long as a transaction took: other writes wait for the disk, which has to take what was moved, too."""
_AHEAD: Final = 8
"""Ranges that may be judged before their links are moved: where one has all of the moves, the judges go on."""

Wake = Callable[["RelinkTask"], Awaitable[object]]
"""Has links read again; what a change of rules or series calls."""


@dataclass(frozen=True, slots=True)
class RelinkTask:
    """Which links to read again: those whose titles these rules fit, or that have these names, folded, or of one series; else all."""

    rules: tuple[RulePatterns, ...] = ()
    series_id: int | None = None
    names: tuple[str, ...] = ()
    cause: RelinkCause = RelinkCause.RULE

    def ranges(self, conn: Connection) -> list[LinkRange]:
        """The links, as they are judged: those of a series together, because what their names mean is decided once for all."""
        found = conn.all(SQL.ranges, {"series_id": self.series_id, "size": _RANGE})
        return [LinkRange(tuple(map(int, ids.split(","))), self.rules, self.names) for (ids,) in found]


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
        if task.series_id is None:
            await self._settle_asked(task, run, done)
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
        """Range after range, by as many judges as there are; one after the other is written meanwhile."""
        done, mover = Relinked(), LinkMover(run, self._sink)
        ranges = await self._database.read(task.ranges)
        if ranges:
            left, judged = iter(ranges), asyncio.Queue[JudgedLinks](_AHEAD)
            try:
                async with (
                    open_judges(self._database, self._url, len(ranges)) as judges,
                    asyncio.TaskGroup() as all_of_them,
                ):
                    for judge in judges:
                        all_of_them.create_task(_take_turns(judge, left, judged))
                    for _ in ranges:
                        await self._move(await judged.get(), mover, done)
            except ExceptionGroup as failed:
                # The first of them says why; the others were stopped by it.
                raise failed.exceptions[0] from None
        return done

    async def _settle_asked(self, task: RelinkTask, run: int, done: Relinked) -> None:
        """What waits for an answer and can be told now; there is little of it."""
        is_touched = by_title(task.rules, task.names)
        settled = await self._database.read(lambda conn: held_links.find_settled(conn, is_touched))
        for start in range(0, len(settled), _AT_ONCE):
            some = settled[start : start + _AT_ONCE]
            done.add(await self._database.write(partial(held_links.settle, run=run, settled=some)))
        done.read += len(settled)

    async def _move(self, judged: JudgedLinks, mover: LinkMover, done: Relinked) -> None:
        done.read += judged.read
        # A transaction is short and does not wait for the disk, so that others wait little. What a power cut undoes is moved
        # again: the end of the run is durable, and with it all that was before.
        for some in mover.slices(judged.moves):
            began = time.perf_counter()
            done.add(await self._database.write(partial(mover.move, moves=some), durable=False))
            await asyncio.sleep(min(_PAUSE * (time.perf_counter() - began), _LONGEST_PAUSE))

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


async def _take_turns(judge: LinkJudge, left: Iterator[LinkRange], judged: asyncio.Queue[JudgedLinks]) -> None:
    for links in left:
        await judged.put(await judge.judge(links))


async def read_again(queue: DelegatedTasks, task: RelinkTask) -> UUID:
    """Have links read again in the background; the task, which may be one that waits already."""
    about = json.dumps([sorted(astuple(one) for one in task.rules), sorted(task.names)], ensure_ascii=False)
    # Patterns are longer than a key may be, and those of two rules may begin alike.
    digest = hashlib.blake2b(about.encode(), digest_size=16).hexdigest()
    key = f"{RELINK}:{task.cause}:{task.series_id}:{digest}"
    return (await queue.enqueue(RELINK, task, unique_key=key)).id

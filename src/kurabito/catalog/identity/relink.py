"""Reads links again after a rule, an offset, a name, the index or the parser changed, and puts each where it belongs now.

Only what changes is written. Nothing is downloaded or cancelled by it: a link that would be downloaded in its new place is held until
a person confirms it, and one that was downloaded stays so. What a person placed stays where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from kurabito.catalog import rules
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.files import carry_files_of_links
from kurabito.catalog.identity.knowledge import given
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import find_episodes, lock_catalog
from kurabito.catalog.releases import Release, read_release
from kurabito.catalog.relinks import sources, store
from kurabito.catalog.relinks.places import as_moved, held_at, key_of, places_of, take_place
from kurabito.catalog.relinks.store import Relink, RelinkCause, RelinkedLink
from kurabito.catalog.states import HeldReason
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.feeds.results import FeedItem
from kurabito.runtime import Registry
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before
from kurabito.titles import TitleRule, fold_title
from kurabito.titles.text import normalise

RELINK: Final = "catalog.relink"
KEEP: Final = "catalog.relink_if_due"
_LOOKED_AT_EVERY: Final = 300.0
_PAGE: Final = 5_000
_AT_ONCE: Final = 250
_COLUMNS: Final = (
    "link.id, link.release_key, link.series_id, link.episode_id, episode.kind, episode.number, link.held_reason, link.title, "
    "subscription.id, subscription.url, subscription.series_id, "
    "EXISTS (SELECT 1 FROM downloads WHERE downloads.link_id = link.id)"
)
_JOINS: Final = (
    "LEFT JOIN episodes AS episode ON episode.id = link.episode_id "
    "LEFT JOIN raw_anime_items AS item ON item.id = link.raw_item_id "
    "LEFT JOIN subscriptions AS subscription ON subscription.id = item.subscription_id"
)
_SQL: Final = Queries("kurabito.catalog.identity", "relink.sql", link=_COLUMNS, joins=_JOINS)
_LINK: Final = ColumnList(
    "id, release_key, series_id, episode_id, kind, number, held_reason, title, feed_id, feed_url, feed_series_id, is_taken"
)

Wake = Callable[["RelinkTask"], Awaitable[object]]
"""Has links read again; what a change of rules or series calls."""


@dataclass(frozen=True, slots=True)
class RelinkTask:
    """Which links to read again: those that these rules concern, whose titles have these names, folded, or of one series; else all."""

    conditions: tuple[str, ...] = ()
    series_id: int | None = None
    names: tuple[str, ...] = ()
    cause: RelinkCause = RelinkCause.RULE


@dataclass(slots=True)
class Relinked:
    """What came of reading again."""

    read: int = 0
    moved: int = 0
    """Links that went to another series or episode."""
    held: int = 0
    """Those of them that wait to be confirmed before they are downloaded."""


class Relinker:
    """The task that reads links again."""

    def __init__(self, queue: DelegatedTasks, sink: LinkSink | None = None) -> None:
        self._queue = queue
        self._database = queue.database
        self._sink = sink

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
        """Some links at a time, each time in one transaction: a crash repeats little."""
        done, after = Relinked(), 0
        concerned = [_concerning(condition) for condition in task.conditions]
        while True:
            page, title_rules = await self._database.read(partial(_page, after=after, series_id=task.series_id))
            if not page:
                return done
            after = page[-1].id
            links = await asyncio.to_thread(_concerned, page, concerned, task.names)
            read = await asyncio.to_thread(_read, links, title_rules)
            done.read += len(links)
            for start in range(0, len(links), _AT_ONCE):
                some = [link.id for link in links[start : start + _AT_ONCE]]
                moved, held = await self._database.write(partial(self._store, some=some, read=read, run=run))
                done.moved += moved
                done.held += held

    async def confirm(self) -> int:
        """Download what was read again and waits for that; how many links."""

        def store(conn: Connection) -> int:
            lock_catalog(conn)
            waiting = [link_id for (link_id,) in conn.all(_SQL.waiting)]
            RowChanges(conn).column(
                "anime_links", "held_reason", ((one, HeldReason.READ_AGAIN, None) for one in waiting)
            )
            if waiting and self._sink is not None:
                self._sink.accept(conn, waiting)
            return len(waiting)

        return await self._database.write(store)

    async def count_waiting(self) -> int:
        """How many links wait to be confirmed."""
        return await self._database.read(lambda conn: len(conn.all(_SQL.waiting)))

    def _store(self, conn: Connection, some: Sequence[int], read: dict[int, Release], run: int) -> tuple[int, int]:
        lock_catalog(conn)
        # They may have changed since they were read.
        links = [_LINK.row(row) for row in conn.all(_SQL.again, given(some))]
        places = places_of(conn, links, read)
        moved = [link for link in links if link.id in places and places[link.id].key != key_of(link)]
        episodes = find_episodes(conn, {places[link.id].key for link in moved})
        taken = {(link.release_key, link.episode_id) for link in links if link not in moved}
        moved = [link for link in moved if take_place(link, episodes[places[link.id].key], taken)]
        held = {link.id: held_at(link, places[link.id].state) for link in moved}
        changes = RowChanges(conn)
        changes.column("anime_links", "series_id", ((one.id, one.series_id, places[one.id].key[0]) for one in moved))
        changes.column(
            "anime_links", "episode_id", ((one.id, one.episode_id, episodes[places[one.id].key]) for one in moved)
        )
        changes.column("anime_links", "held_reason", ((one.id, one.held_reason, held[one.id]) for one in moved))
        carry_files_of_links(conn, changes, ((one.id, one.episode_id, episodes[places[one.id].key]) for one in moved))
        store.note_moved(conn, run, (as_moved(one, places[one.id].key) for one in moved))
        if self._sink is not None and moved:
            self._sink.restate(conn, changes.episodes())
        return len(moved), sum(one is HeldReason.READ_AGAIN for one in held.values())


async def read_again(queue: DelegatedTasks, task: RelinkTask) -> UUID:
    """Have links read again in the background; the task, which may be one that waits already."""
    about = "|".join((*sorted(task.conditions), *sorted(task.names)))
    key = f"{RELINK}:{task.cause}:{task.series_id}:{about}"[:200]
    return (await queue.enqueue(RELINK, task, unique_key=key)).id


def _page(conn: Connection, after: int, series_id: int | None) -> tuple[list[Any], list[TitleRule]]:
    rows = conn.all(_SQL.page, {"after": after, "series_id": series_id, "limit": _PAGE})
    return [_LINK.row(row) for row in rows], rules.enabled(conn)


def _concerning(condition: str) -> TitleRule:
    return TitleRule(name="concerned", condition=condition, parse="(?P<title>.+)")


def _concerned(links: Sequence[Any], conditions: Sequence[TitleRule], names: Sequence[str]) -> list[Any]:
    if names:
        return [link for link in links if any(name in fold_title(link.title) for name in names)]
    if not conditions:
        return list(links)
    return [link for link in links if any(rule.concerns(normalise(link.title)) for rule in conditions)]


def _read(links: Sequence[Any], title_rules: Sequence[TitleRule]) -> dict[int, Release]:
    """What their titles say now."""
    found: dict[int, Release] = {}
    for link in links:
        release = read_release(FeedItem(title=link.title, download_url="https://link.invalid/"), title_rules)
        if isinstance(release, Release):
            found[link.id] = release
    return found

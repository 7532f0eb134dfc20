"""Reads links again after a rule, an offset or a name changed, and puts each where it belongs now.

Only what changes is written. Nothing is downloaded or cancelled by it: a link that would be downloaded in its new place is held until
a person confirms it, and one that was downloaded stays so. What a person placed stays where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from kurabito.catalog import rules
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.files import carry_files_of_links
from kurabito.catalog.identity import aliases
from kurabito.catalog.identity.aliases import AliasSource, alias_row
from kurabito.catalog.identity.decision import Certain, InDoubt
from kurabito.catalog.identity.entries import understood
from kurabito.catalog.identity.knowledge import ReleaseOrigin, given
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.identity.resolution import judge_all
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import EpisodeKey, find_episodes, lock_catalog
from kurabito.catalog.releases import Release, read_release
from kurabito.catalog.states import HELD_BY_SERIES, HeldReason, SeriesState
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.feeds.results import FeedItem
from kurabito.runtime import Registry
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.titles import TitleRule
from kurabito.titles.text import normalise

RELINK: Final = "catalog.relink"
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
    """Which links to read again: those that these rules concern, or those of one series; all of them without either."""

    conditions: tuple[str, ...] = ()
    series_id: int | None = None


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

    async def wake(self, task: RelinkTask) -> UUID:
        """Have links read again in the background; the task."""
        key = f"{RELINK}:{task.series_id}:{'|'.join(sorted(task.conditions))}"[:200]
        return (await self._queue.enqueue(RELINK, task, unique_key=key)).id

    async def relink(self, task: RelinkTask) -> Relinked:
        """Read the links again, some at a time, each time in one transaction: a crash repeats little."""
        done, after = Relinked(), 0
        concerned = [_concerning(condition) for condition in task.conditions]
        while True:
            page, title_rules = await self._database.read(partial(_page, after=after, series_id=task.series_id))
            if not page:
                return done
            after = page[-1].id
            links = await asyncio.to_thread(_concerned, page, concerned)
            read = await asyncio.to_thread(_read, links, title_rules)
            done.read += len(links)
            for start in range(0, len(links), _AT_ONCE):
                some = [link.id for link in links[start : start + _AT_ONCE]]
                moved, held = await self._database.write(partial(self._store, some=some, read=read))
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

    def _store(self, conn: Connection, some: Sequence[int], read: dict[int, Release]) -> tuple[int, int]:
        lock_catalog(conn)
        # They may have changed since they were read.
        links = [_LINK.row(row) for row in conn.all(_SQL.again, given(some))]
        places = _places(conn, links, read)
        moved = [link for link in links if link.id in places and places[link.id].key != _key_of(link)]
        episodes = find_episodes(conn, {places[link.id].key for link in moved})
        taken = {(link.release_key, link.episode_id) for link in links if link not in moved}
        moved = [link for link in moved if _take(link, episodes[places[link.id].key], taken)]
        held = {link.id: _held(link, places[link.id].state) for link in moved}
        changes = RowChanges(conn)
        changes.column("anime_links", "series_id", ((one.id, one.series_id, places[one.id].key[0]) for one in moved))
        changes.column(
            "anime_links", "episode_id", ((one.id, one.episode_id, episodes[places[one.id].key]) for one in moved)
        )
        changes.column("anime_links", "held_reason", ((one.id, one.held_reason, held[one.id]) for one in moved))
        carry_files_of_links(conn, changes, ((one.id, one.episode_id, episodes[places[one.id].key]) for one in moved))
        if self._sink is not None and moved:
            self._sink.restate(conn, changes.episodes())
        return len(moved), sum(one is HeldReason.READ_AGAIN for one in held.values())


def _page(conn: Connection, after: int, series_id: int | None) -> tuple[list[Any], list[TitleRule]]:
    rows = conn.all(_SQL.page, {"after": after, "series_id": series_id, "limit": _PAGE})
    return [_LINK.row(row) for row in rows], rules.enabled(conn)


def _concerning(condition: str) -> TitleRule:
    return TitleRule(name="concerned", condition=condition, parse="(?P<title>.+)")


def _concerned(links: Sequence[Any], conditions: Sequence[TitleRule]) -> list[Any]:
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


class _Place(NamedTuple):
    """Where a link belongs, and what is wanted of that series."""

    key: EpisodeKey
    state: SeriesState


def _places(conn: Connection, links: Sequence[Any], read: dict[int, Release]) -> dict[int, _Place]:
    """Where each link belongs: its series, and of a single episode the number. A batch keeps the numbers of its links."""
    known = [link for link in links if link.id in read and read[link.id].episodes]
    readings = understood(conn, [Reading.of(read[link.id]) for link in known])
    made: dict[str, int] = {}
    places = {}
    for link, reading, decision in zip(
        known, readings, judge_all(conn, readings, [_origin(link) for link in known]), strict=True
    ):
        release = read[link.id]
        if isinstance(decision, InDoubt) or (len(release.episodes) > 1 and link.episode_id is None):
            continue
        if isinstance(decision, Certain):
            series_id, state = decision.series.id, decision.series.state
            offset = reading.counted_from or decision.series.episode_offset
        else:
            # A series that no one asked for waits for its keeper.
            if reading.key not in made:
                made[reading.key] = aliases.add_series(conn, reading, SeriesState.ASKED)
                rows = [
                    alias_row(name, reading.kind, reading.said_season, reading.year, reading.country)
                    for name in reading.names
                ]
                aliases.add(conn, ({**row, "series_id": made[reading.key]} for row in rows), AliasSource.TITLE)
            series_id, offset, state = made[reading.key], reading.counted_from, SeriesState.ASKED
        key = (link.kind, float(link.number)) if len(release.episodes) > 1 else _numbered(release, offset)
        places[link.id] = _Place((series_id, *key), state)
    return places


def _origin(link: Any) -> ReleaseOrigin | None:
    return None if link.feed_id is None else ReleaseOrigin.at(link.feed_id, link.feed_url, link.feed_series_id)


def _numbered(release: Release, offset: int) -> tuple[str, float]:
    number = release.episodes[0]
    return release.kind.value, float(number - offset if number > offset else number)


def _key_of(link: Any) -> EpisodeKey | None:
    return None if link.episode_id is None else (link.series_id, link.kind, float(link.number))


def _take(link: Any, episode_id: int, taken: set[tuple[str, int | None]]) -> bool:
    """Whether no other link of the release is for that episode; this one is then."""
    if (link.release_key, episode_id) in taken:
        return False
    taken.add((link.release_key, episode_id))
    return True


def _held(link: Any, state: SeriesState) -> HeldReason | None:
    """Why a link is held in its new place: nothing that was never downloaded begins to be without a word."""
    if link.is_taken:
        return None if link.held_reason is None else HeldReason(link.held_reason)
    return HELD_BY_SERIES[state] or HeldReason.READ_AGAIN

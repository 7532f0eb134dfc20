"""What there is to ask of the catalog, and to change in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Unpack

from kurabito.catalog import links, series
from kurabito.catalog.identity import offsets
from kurabito.catalog.identity.offsets import MissingOffset
from kurabito.catalog.identity.relink import RelinkTask, Wake
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.links import Link
from kurabito.catalog.releases import Name
from kurabito.catalog.relinks.store import RelinkCause
from kurabito.catalog.series import Series, SeriesEpisode, SeriesFilter
from kurabito.catalog.states import HELD_BY_SERIES, SeriesOrder, SeriesState, SeriesWish
from kurabito.db import Connection, Database
from kurabito.feeds import raw_items
from kurabito.feeds.raw_items import RawItem, RawStatus
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before, not_a_cursor
from kurabito.titles import ReleaseKind

_EPISODE_CURSOR: Final = re.compile(r"([a-z]{1,20})-(\d{1,6}(?:\.\d{1,6})?)")
# The list goes backwards through the alphabet, so that "tv" comes first.
_BEFORE_ALL: Final = ("zz", 0.0)


class Catalog:
    """Series, episodes, links and the items that they came from."""

    def __init__(self, database: Database, sink: LinkSink | None = None, wake: Wake | None = None) -> None:
        self._database = database
        self._sink = sink
        self._wake = wake

    async def series(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        order: SeriesOrder = SeriesOrder.NEWEST,
        **wanted: Unpack[SeriesFilter],
    ) -> Page[Series]:
        """Series, all or those that fit."""
        beyond = None if cursor is None else id_before(cursor)
        found = await self._database.read(
            lambda conn: series.page(conn, beyond=beyond, limit=limit + 1, order=order, **wanted)
        )
        return Page.cut(found, limit, _id)

    async def get(self, series_id: int) -> Series:
        """One series; raises SeriesNotFound."""
        return await self._database.read(lambda conn: series.find(conn, series_id))

    async def several(self, series_ids: Iterable[int]) -> dict[int, Series]:
        """Those of these series that exist, by their ids."""
        wanted = list(dict.fromkeys(series_ids))
        return {one.id: one for one in await self._database.read(lambda conn: series.several(conn, wanted))}

    async def current(self, series_id: int) -> Series:
        """One series, or the one that it became part of; raises SeriesNotFound."""
        return await self._database.read(lambda conn: series.find_current(conn, series_id))

    async def change(self, series_id: int, changes: dict[str, Any]) -> Series:
        """Change a series. Its links follow what is wanted of it: they are held back, or go on to be downloaded."""

        def store(conn: Connection) -> tuple[Series, Series]:
            lock_catalog(conn)
            before = series.find(conn, series_id)
            changed = series.change(conn, series_id, changes)
            if set(changes) == {"episode_offset"}:
                offsets.say(conn, series_id)
            held = HELD_BY_SERIES[changed.state]
            if held is not None:
                series.hold_links(conn, series_id, held)
            elif (freed := series.free_links(conn, series_id)) and self._sink is not None:
                self._sink.accept(conn, freed)
            return before, changed

        before, changed = await self._database.write(store)
        if self._wake is not None:
            if changed.episode_offset != before.episode_offset:
                await self._wake(RelinkTask(series_id=series_id, cause=RelinkCause.OFFSET))
            if names := {Name.of(alias.name).folded for alias in set(before.aliases) ^ set(changed.aliases)}:
                await self._wake(RelinkTask(names=tuple(sorted(names)), cause=RelinkCause.NAMES))
        return changed

    async def want(self, series_ids: Iterable[int], wanted: SeriesWish) -> int:
        """Say which episodes of several series are downloaded; how many there were. Raises SeriesNotFound."""
        listed = list(dict.fromkeys(series_ids))
        for series_id in listed:
            await self.change(series_id, {"wanted": wanted})
        return len(listed)

    async def want_listed(self, wanted: SeriesWish, **listed: Unpack[SeriesFilter]) -> int:
        """The same for every series that a list has."""
        return await self.want(await self._database.read(lambda conn: series.ids(conn, **listed)), wanted)

    async def want_not_followed(self, wanted: SeriesWish) -> int:
        """The same for every series that is not followed."""
        return await self.want_listed(wanted, state=SeriesState.IGNORED)

    async def missing_offsets(self, series_id: int | None = None) -> list[MissingOffset]:
        """Seasons whose titles probably count on from earlier ones; setting an offset, also 0, answers it."""
        return await self._database.read(lambda conn: offsets.find_missing(conn, series_id))

    async def count_missing_offsets(self) -> int:
        """How many of them there are."""
        return len(await self.missing_offsets())

    async def link(self, link_id: int) -> Link:
        """One link; raises LinkNotFound."""
        return await self._database.read(lambda conn: links.find(conn, link_id))

    async def episodes(self, series_id: int, *, limit: int = 100, cursor: str | None = None) -> Page[SeriesEpisode]:
        """The episodes of a series; raises SeriesNotFound."""
        after = _BEFORE_ALL if cursor is None else _episode_after(cursor)

        def look(conn: Connection) -> list[SeriesEpisode]:
            series.find(conn, series_id)
            return series.episodes(conn, series_id, after=after, limit=limit + 1)

        found = await self._database.read(look)
        return Page.cut(found, limit, lambda last: f"{last.kind}-{last.number:g}")

    async def links(
        self, *, limit: int = 50, cursor: str | None = None, series_id: int | None = None, held: bool = False
    ) -> Page[Link]:
        """Links, the newest first."""
        before = id_before(cursor)
        found = await self._database.read(
            lambda conn: links.page(conn, before=before, limit=limit + 1, series_id=series_id, held=held)
        )
        return Page.cut(found, limit, _id)

    async def raw_items(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        status: RawStatus | None = None,
        subscription_id: int | None = None,
    ) -> Page[RawItem]:
        """Items of feeds, the newest first."""
        before = id_before(cursor)
        found = await self._database.read(
            lambda conn: raw_items.page(
                conn, before=before, limit=limit + 1, status=status, subscription_id=subscription_id
            )
        )
        return Page.cut(found, limit, _id)


def _id(last: Series | Link | RawItem) -> str:
    return str(last.id)


def _episode_after(cursor: str) -> tuple[str, float]:
    found = _EPISODE_CURSOR.fullmatch(cursor)
    if found is None or found[1] not in set(ReleaseKind):
        raise not_a_cursor(cursor)
    return found[1], float(found[2])

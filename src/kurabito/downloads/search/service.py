"""Searches indexers, and decides about what they have as the answers come."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kurabito.catalog import rules, series
from kurabito.catalog.release_key import identify
from kurabito.catalog.states import SeriesKind
from kurabito.db import Database
from kurabito.downloads.clients.sources import STORED
from kurabito.downloads.dispatch import private_torrents
from kurabito.downloads.errors import FoundReleaseNotFound, NothingPasted
from kurabito.downloads.search import decisions
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.names import spellings
from kurabito.downloads.search.pasted_links import Pasted, PastedLinks, is_pasted, item_of, magnet_of, torrent_of
from kurabito.errors import InvalidInput
from kurabito.indexers.model import IndexerSettings
from kurabito.indexers.port import IndexerItem, SearchKind, SearchQuery
from kurabito.indexers.service import LONGEST_TEXT, IndexerOutcome, Indexers
from kurabito.modules.download_types import DownloadType
from kurabito.reasons import InputReason, refused
from kurabito.titles import Episode, TitleRule

_REMEMBERED: Final = 20_000
"""Results that can still be grabbed."""


@dataclass(frozen=True, slots=True)
class FoundSoFar:
    """What is found so far: everything in its order, and what the indexer said that answered last."""

    outcome: IndexerOutcome | None
    """None for what was pasted: no indexer was asked."""
    releases: tuple[FoundRelease, ...]
    feed_url: str | None = None
    """What was pasted is a feed, which is followed and not searched for."""


class ReleaseSearch:
    """The search of one database. What it found is remembered in memory alone: the URLs may have keys in them."""

    def __init__(self, database: Database, indexers: Indexers, pasted: PastedLinks) -> None:
        self._database = database
        self._indexers = indexers
        self._pasted = pasted
        self._remembered: OrderedDict[str, FoundRelease] = OrderedDict()

    async def search(self, query: SearchQuery) -> AsyncIterator[FoundSoFar]:
        """What the indexers have, after each answer; a link is opened instead.

        Raises InvalidInput; for a link also NothingPasted or OutboundError.
        """
        text = " ".join("".join(one if one.isprintable() else " " for one in query.text).split())
        if is_pasted(text):
            yield await self._open(text)
            return
        if not text or len(text) > LONGEST_TEXT:
            problem = f"must be a text of 1 to {LONGEST_TEXT} characters that can be seen"
            raise InvalidInput("q", problem, refused(InputReason.TEXT, most=LONGEST_TEXT))
        title_rules = await self._database.read(rules.enabled)
        found: dict[str, FoundRelease] = {}
        async for outcome in self._indexers.search(replace(query, text=text)):
            await self._take(found, outcome, title_rules)
            yield FoundSoFar(outcome, tuple(sorted(found.values(), key=_order)))

    async def for_series(self, series_id: int, episode: Episode | None = None) -> SearchQuery:
        """The query for a series in its known spellings; raises SeriesNotFound."""
        of = await self._database.read(lambda conn: series.find(conn, series_id))
        names = [name for name in spellings(of) if len(name) <= LONGEST_TEXT]
        if not names:
            raise InvalidInput("series_id", "the names of this series are too long to be searched for")
        return SearchQuery(
            text=names[0],
            kind=SearchKind.MOVIE if of.kind is SeriesKind.MOVIE else SearchKind.TV,
            season=None if episode is None else of.season,
            # Titles may count on from an earlier season.
            episode=None if episode is None else episode + of.episode_offset,
            season_episode=episode,
            also=tuple(names[1:]),
        )

    async def _open(self, text: str) -> FoundSoFar:
        """What a pasted link leads to."""
        pasted = await self._stored(text) if text.startswith(STORED) else await self._pasted.open(text)
        title_rules = await self._database.read(rules.enabled)
        found = {one.key: one for one in (_found(item) for item in pasted.items)}
        await self._decide(found, list(found), title_rules)
        return FoundSoFar(None, tuple(sorted(found.values(), key=_order)), pasted.feed_url)

    async def take_file(self, content: bytes) -> str:
        """What to search for to see a torrent file that its keeper has: its magnet link. Raises NothingPasted.

        A private one is stored, and its link leads to that file: its trackers would have the passkey in the address of a page.
        """
        torrent = torrent_of(content)
        if not torrent.is_private:
            return magnet_of(torrent)
        await self._database.write(lambda conn: private_torrents.keep(conn, torrent))
        return private_torrents.link_to(torrent)

    async def _stored(self, text: str) -> Pasted:
        content = await self._database.read(lambda conn: private_torrents.find(conn, text))
        if content is None:
            raise NothingPasted("this torrent file is no longer stored; upload it again")
        return Pasted(items=(item_of(text, torrent_of(content)),))

    async def _take(
        self, found: dict[str, FoundRelease], outcome: IndexerOutcome, title_rules: Sequence[TitleRule]
    ) -> None:
        """Add what an indexer has, and decide about what is new or changed."""
        await self._decide(found, merge(found, outcome), title_rules)

    async def _decide(
        self, found: dict[str, FoundRelease], changed: Sequence[str], title_rules: Sequence[TitleRule]
    ) -> None:
        read = await asyncio.to_thread(_read_all, [found[key] for key in changed], title_rules)
        for one in await self._database.read(lambda conn: decisions.decide(conn, read)):
            found[one.key] = one
            self._remembered[one.key] = one
            self._remembered.move_to_end(one.key)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)

    async def again(self, releases: Sequence[FoundRelease]) -> tuple[FoundRelease, ...]:
        """What would be decided about these now: one of them may be under way since."""
        decided = await self._database.read(lambda conn: decisions.decide(conn, releases))
        return tuple(sorted(decided, key=_order))

    def find(self, key: str) -> FoundRelease:
        """A release that was found; raises FoundReleaseNotFound."""
        found = self._remembered.get(key)
        if found is None:
            raise FoundReleaseNotFound("no search of late found this release; search again")
        return found


def merge(found: dict[str, FoundRelease], outcome: IndexerOutcome) -> list[str]:
    """Add what an indexer has to what was found: one release once, whichever indexers have it; the keys that changed."""
    settings = outcome.indexer.settings
    changed: dict[str, None] = {}
    for item in outcome.items:
        new = _found(item, outcome.indexer.id, settings)
        key = new.key
        found[key] = _merged(found[key], new) if key in found else new
        changed[key] = None
    return list(changed)


def _found(item: IndexerItem, indexer_id: int | None = None, settings: IndexerSettings | None = None) -> FoundRelease:
    return FoundRelease(
        key=identify(item.download_url or "", item.download_type, item.info_hash).release_key,
        item=item,
        indexer_id=indexer_id,
        indexers=() if settings is None else (settings.name,),
        least_seeders=0 if settings is None else settings.min_seeders,
    )


def _merged(old: FoundRelease, new: FoundRelease) -> FoundRelease:
    """Both as one: the better link, and the larger number of seeders."""
    better, other = (new, old) if _ease(new.item) > _ease(old.item) else (old, new)
    item = replace(
        better.item,
        seeders=max((one for one in (old.item.seeders, new.item.seeders) if one is not None), default=None),
        size_bytes=better.item.size_bytes or other.item.size_bytes,
        pub_date=better.item.pub_date or other.item.pub_date,
    )
    names = tuple(dict.fromkeys((*old.indexers, *new.indexers)))
    least = min(old.least_seeders, new.least_seeders)
    return replace(better, item=item, indexers=names, least_seeders=least, release=None, reason=None)


def _ease(item: IndexerItem) -> int:
    """A magnet link needs no request, but a private torrent works with its file only."""
    is_magnet = item.download_type is DownloadType.MAGNET
    return 2 if item.is_private and not is_magnet else int(is_magnet)


def _read_all(found: Iterable[FoundRelease], title_rules: Sequence[TitleRule]) -> list[FoundRelease]:
    return [decisions.read(one, title_rules) for one in found]


def _order(found: FoundRelease) -> tuple[bool, bool, int, int, float]:
    """What would be taken first, then what is of a known series; the better, the better seeded and the newer first."""
    date = found.item.pub_date
    return (
        found.reason is not None,
        found.series is None,
        -(found.score.total if found.score else 0),
        -(found.item.seeders or 0),
        -(date.timestamp() if date else 0),
    )

"""Searches indexers, and decides about what they have as the answers come."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kurabito.catalog import rules
from kurabito.catalog.release_key import identify
from kurabito.db import Database
from kurabito.downloads.errors import FoundReleaseNotFound
from kurabito.downloads.search import decisions
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.errors import InvalidInput
from kurabito.indexers.port import IndexerItem, SearchQuery
from kurabito.indexers.service import LONGEST_TEXT, IndexerOutcome, Indexers
from kurabito.modules.download_types import DownloadType
from kurabito.reasons import InputReason, refused
from kurabito.titles import TitleRule

_REMEMBERED: Final = 20_000
"""Results that can still be grabbed."""


@dataclass(frozen=True, slots=True)
class FoundSoFar:
    """What is found so far: everything in its order, and what the indexer said that answered last."""

    outcome: IndexerOutcome
    releases: tuple[FoundRelease, ...]


class ReleaseSearch:
    """The search of one database. What it found is remembered in memory alone: the URLs may have keys in them."""

    def __init__(self, database: Database, indexers: Indexers) -> None:
        self._database = database
        self._indexers = indexers
        self._remembered: OrderedDict[str, FoundRelease] = OrderedDict()

    async def search(self, query: SearchQuery) -> AsyncIterator[FoundSoFar]:
        """What the indexers have, after each answer; raises InvalidInput."""
        text = " ".join("".join(one if one.isprintable() else " " for one in query.text).split())
        if not text or len(text) > LONGEST_TEXT:
            problem = f"must be a text of 1 to {LONGEST_TEXT} characters that can be seen"
            raise InvalidInput("q", problem, refused(InputReason.TEXT, most=LONGEST_TEXT))
        title_rules = await self._database.read(rules.enabled)
        found: dict[str, FoundRelease] = {}
        async for outcome in self._indexers.search(replace(query, text=text)):
            await self._take(found, outcome, title_rules)
            yield FoundSoFar(outcome, tuple(sorted(found.values(), key=_order)))

    async def _take(
        self, found: dict[str, FoundRelease], outcome: IndexerOutcome, title_rules: Sequence[TitleRule]
    ) -> None:
        """Add what an indexer has, and decide about what is new or changed."""
        changed = merge(found, outcome)
        read = await asyncio.to_thread(_read_all, [found[key] for key in changed], title_rules)
        for one in await self._database.read(lambda conn: decisions.decide(conn, read)):
            found[one.key] = one
            self._remembered[one.key] = one
            self._remembered.move_to_end(one.key)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)

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
        key = identify(item.download_url or "", item.download_type, item.info_hash).release_key
        new = FoundRelease(
            key=key,
            item=item,
            indexer_id=outcome.indexer.id,
            indexers=(settings.name,),
            least_seeders=settings.min_seeders,
        )
        found[key] = _merged(found[key], new) if key in found else new
        changed[key] = None
    return list(changed)


def _merged(old: FoundRelease, new: FoundRelease) -> FoundRelease:
    """Both as one: the better link, and the larger number of seeders."""
    better, other = (new, old) if _is_magnet(new.item) and not _is_magnet(old.item) else (old, new)
    item = replace(
        better.item,
        seeders=max((one for one in (old.item.seeders, new.item.seeders) if one is not None), default=None),
        size_bytes=better.item.size_bytes or other.item.size_bytes,
        pub_date=better.item.pub_date or other.item.pub_date,
    )
    names = tuple(dict.fromkeys((*old.indexers, *new.indexers)))
    least = min(old.least_seeders, new.least_seeders)
    return replace(better, item=item, indexers=names, least_seeders=least, release=None, reason=None)


def _is_magnet(item: IndexerItem) -> bool:
    return item.download_type is DownloadType.MAGNET


def _read_all(found: Iterable[FoundRelease], title_rules: Sequence[TitleRule]) -> list[FoundRelease]:
    return [decisions.read(one, title_rules) for one in found]


def _order(found: FoundRelease) -> tuple[bool, bool, int, float]:
    """What would be taken first, then what is of a known series; the better seeded and the newer first."""
    date = found.item.pub_date
    return (
        found.reason is not None,
        found.series is None,
        -(found.item.seeders or 0),
        -(date.timestamp() if date else 0),
    )

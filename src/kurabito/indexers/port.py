"""The port of indexers: what is asked of one, and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Protocol

from kurabito.feeds.results import FeedItem
from kurabito.titles import Episode

MOST_RESULTS: Final = 1_000
"""Results that one query takes of one indexer."""
MOST_PAGES: Final = 5
MOST_SPELLINGS: Final = 3
"""Each of them costs requests."""

Admit = Callable[[], Awaitable[None]]
"""Asked before each request to an indexer; raises IndexerResting where its limit is reached."""


async def admit_all() -> None:
    """Counts nothing."""


class SearchKind(StrEnum):
    """What is looked for."""

    ANY = "any"
    TV = "tv"
    MOVIE = "movie"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What is looked for: a text, and of a show its season and episode where they are known."""

    text: str
    kind: SearchKind = SearchKind.ANY
    season: int | None = None
    episode: Episode | None = None
    """As titles count it, which may go on from an earlier season."""
    season_episode: Episode | None = None
    """As its season counts it; None where that is the same."""
    also: tuple[str, ...] = ()
    """Other spellings of the text, each asked for too."""

    def each(self) -> list[SearchQuery]:
        """A query for each spelling. One of them names the season, which costs more requests: titles with S01E05 are in Latin letters."""
        texts = [*dict.fromkeys((self.text, *self.also))][:MOST_SPELLINGS]
        numbered = next((text for text in texts if is_latin(text)), texts[0])
        return [replace(self, text=text, also=(), season=self.season if text == numbered else None) for text in texts]

    @property
    def in_season(self) -> Episode | None:
        """The episode as its season counts it."""
        return self.episode if self.season_episode is None else self.season_episode


def is_latin(name: str) -> bool:
    """Whether a name is in letters that every site can look for."""
    return all(letter < "\u0250" for letter in name if letter.isalpha())


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerItem(FeedItem):
    """One result, as it came. `download_type` is what its enclosure and attributes say, and not what its URL looks like."""

    seeders: int | None = None
    leechers: int | None = None
    is_usenet: bool = False
    """It is for Usenet: no downloader of ours takes it, and it is never sent."""
    is_private: bool = False
    """Its tracker is for members: the torrent file is taken, and not a magnet link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """What an indexer sorts releases by."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexerCaps:
    """What an indexer can do."""

    title: str | None = None
    page_size: int = 100
    kinds: frozenset[SearchKind] = frozenset({SearchKind.ANY})
    tv_params: frozenset[str] = frozenset()
    """What a search for a show may say besides its text."""
    categories: tuple[Category, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexerReply:
    """What one query gave."""

    items: tuple[IndexerItem, ...]
    is_whole: bool = True
    """False when there is more than was taken."""


class Indexer(Protocol):
    """Answers queries. Raises IndexerError or OutboundError; neither has a key in its text."""

    async def caps(self) -> IndexerCaps:
        """What it can do."""
        ...

    async def search(self, query: SearchQuery) -> IndexerReply:
        """What it has, each result once."""
        ...

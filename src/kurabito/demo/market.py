"""A site with a search, on this machine alone: a show that is not followed yet, last season as a batch, this one by episodes.

The newest episode of its group is released when the feed of that group was read once. It has no peers, so that another
group's takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Final
from urllib.parse import parse_qs, urlsplit

from kurabito.demo.feeds import MadeUpEntry, MadeUpLink, feed_of
from kurabito.demo.shows import ALL_SHOWS, Show
from kurabito.demo.stand import Stand, StandAnswer
from kurabito.indexers.model import IndexerKind, IndexerSettings

_SHOW: Final = "The Gatekeepers"
_GROUP: Final = "Kura"
_EPISODES: Final = 12
_WEEK: Final = 7 * 24


class MarketStand:
    """Answers searches as ACG.RIP does while the demo runs; `link` says where each release is."""

    def __init__(self, link: Callable[[MadeUpEntry], MadeUpLink]) -> None:
        self._began = datetime.now(UTC)
        self._entries = [(entry, link(entry)) for entry in _entries(self._began.date())]
        self._is_followed = False
        self._stand = Stand(self._answer)

    @property
    def settings(self) -> IndexerSettings:
        """How it is asked."""
        url = f"http://127.0.0.1:{self._stand.port}"
        return IndexerSettings(kind=IndexerKind.SITE, name="The market", site="acgrip", url=url, allows_private=True)

    async def open(self) -> None:
        await self._stand.open()

    async def close(self) -> None:
        await self._stand.close()

    def _answer(self, target: str) -> StandAnswer | None:
        """The first page has everything whose title has each word of the query; there is no second one."""
        parts = urlsplit(target)
        words = parse_qs(parts.query).get("term", [""])[0].casefold().split()
        found = [
            (entry, link)
            for entry, link in self._entries
            if parts.path == "/page/1.xml"
            and all(word in entry.title.casefold() for word in words)
            and (self._is_followed or not entry.is_dead)
        ]
        self._is_followed = self._is_followed or _GROUP.casefold() in words
        return StandAnswer("application/rss+xml", feed_of("The market", found, self._began))


def _entries(today: date) -> Iterator[MadeUpEntry]:
    files = tuple(f"[Loft] {_SHOW} - {number:02} [1080p].mkv" for number in range(1, _EPISODES + 1))
    yield MadeUpEntry(f"[Loft] {_SHOW} [01-{_EPISODES}][1080p][BDRip]", 1, 24 * 400, files=files)
    yield MadeUpEntry(f"[{_GROUP}] {_SHOW} S1 - {_EPISODES} [1080p].mkv", 1, 24 * 390)
    newest = _aired(next(show for show in ALL_SHOWS if show.english == f"{_SHOW} Season 2"), today)
    for number in range(1, newest + 1):
        title = f"[{_GROUP}] {_SHOW} S2 - {number:02} [1080p].mkv"
        yield MadeUpEntry(title, 1, 2 + _WEEK * (newest - number), is_dead=number == newest)
    yield MadeUpEntry(f"[Loft] {_SHOW} S2 - {newest:02} [1080p].mkv", 1, 1)


def _aired(show: Show, today: date) -> int:
    """How many episodes of a show were shown; there is always one before the newest."""
    return min(_EPISODES, max(2, (today - show.began(today)).days // 7 + 1))

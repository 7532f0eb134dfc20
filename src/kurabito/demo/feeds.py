"""Feeds of made-up releases, served on this machine alone, in the styles of real ones.

Among them are a title that names no series, a release whose episode is not said, one that has its episode twice, and a series that
is not followed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from kurabito.demo.stand import Stand, StandAnswer

DAWN: Final = "/dawn.rss"
SEASON: Final = "/season.rss"
NEIGHBOUR: Final = "/neighbour.rss"
_TWICE: Final = 7
"""The episode of the first show that comes in two cuts."""
_MIB: Final = 1 << 20
_MAGNET: Final = "magnet:?xt=urn:btih:{}"
_TORRENT: Final = "https://releases.example/{}.torrent"


class MadeUpEntry(NamedTuple):
    """A release as a feed names it."""

    title: str
    mib: int
    hours: int
    """How long ago it came."""
    url: str = _MAGNET
    is_slow: bool = False
    """Its seeder is slow."""
    is_dead: bool = False
    """No peer has it."""
    files: tuple[str, ...] = ()
    """What is in it, where that is more than one file."""


class MadeUpLink(NamedTuple):
    """Where a release is, and its size in bytes."""

    url: str
    size: int


def _dawn() -> Iterator[MadeUpEntry]:
    for number in range(1, 9):
        title = f"[Kura] The Storehouse at Dawn - {number:02} [1080p][WEB-DL].mkv"
        # Which of the two files is the episode is a question for the keeper.
        files = (title, title.replace(".mkv", " (Fireworks uncut).mkv")) if number == _TWICE else ()
        yield MadeUpEntry(title, 720 + number, 24 * (9 - number), is_slow=number == 8, files=files)
    yield MadeUpEntry("[Kura] The Storehouse at Dawn - 03v2 [1080p][WEB-DL].mkv", 731, 130)
    yield MadeUpEntry("[Lantern] The Storehouse at Dawn - 08 (720p) [B0A7C3D1].mkv", 402, 20, _TORRENT)
    yield MadeUpEntry("[Kura] The Storehouse at Dawn - SP1 [720p].mkv", 240, 60)
    yield MadeUpEntry("[Kura] The Storehouse at Dawn [1080p][Preview].mkv", 80, 300)


def _season() -> Iterator[MadeUpEntry]:
    for number in range(1, 4):
        yield MadeUpEntry(
            f"【蔵字幕組】蔵の番人 / Kura no Bannin 第{number:02}話 [1080P][繁體內嵌][WebRip]",
            512,
            50 - number,
            _TORRENT,
        )
    yield MadeUpEntry("[燈籠字幕组] 夜之蔵人 / Yoru no Kurabito [01-12][1080p][简日双语][BDRip][合集]", 9_800, 40)
    yield MadeUpEntry("The.Gatekeepers.S02E03.1080p.WEB-DL.DDP5.1.H.264-LANTERN", 1_430, 12, _TORRENT)
    yield MadeUpEntry("The.Gatekeepers.S02E04.1080p.WEB-DL.DDP5.1.H.264-LANTERN", 1_390, 5, _TORRENT)
    yield MadeUpEntry("Keeper of the Gate (2019) Movie [BD 1080p FLAC]", 8_100, 200)
    for number in (5, 6):
        yield MadeUpEntry(f"第{number:02}話 [1080p][字幕]", 300, 9 - number)


def _neighbour() -> Iterator[MadeUpEntry]:
    for number in (1, 2):
        yield MadeUpEntry(f"[Loft] Tales from the Loft - {number:02} [720p]", 310, 30 - number)


def nowhere(entry: MadeUpEntry) -> MadeUpLink:
    """A link that looks like one, and leads nowhere."""
    return MadeUpLink(entry.url.format(_made_up(entry.title)), entry.mib * _MIB)


class FeedStand:
    """Serves the feeds on a free port of this machine while the demo runs; `link` says where each release is."""

    def __init__(self, link: Callable[[MadeUpEntry], MadeUpLink] = nowhere) -> None:
        began = datetime.now(UTC)
        feeds = {
            DAWN: _feed("The Storehouse at Dawn", _dawn(), link, began),
            SEASON: _feed("This season", _season(), link, began),
            NEIGHBOUR: _feed("The neighbour's shelf", _neighbour(), link, began),
        }
        self._stand = Stand({path: StandAnswer("application/rss+xml", feed) for path, feed in feeds.items()}.get)

    async def open(self) -> str:
        """Begin to serve; where the feeds are."""
        await self._stand.open()
        return f"http://127.0.0.1:{self._stand.port}"

    async def close(self) -> None:
        await self._stand.close()


def _feed(
    title: str, entries: Iterator[MadeUpEntry], link: Callable[[MadeUpEntry], MadeUpLink], began: datetime
) -> bytes:
    return feed_of(title, [(entry, link(entry)) for entry in entries], began)


def feed_of(title: str, entries: Iterable[tuple[MadeUpEntry, MadeUpLink]], began: datetime) -> bytes:
    """Releases and where they are, as a feed."""
    newest_first = sorted(entries, key=lambda pair: pair[0].hours)
    items = "".join(_item(entry, link, began - timedelta(hours=entry.hours)) for entry, link in newest_first)
    return f'<rss version="2.0"><channel><title>{escape(title)}</title>{items}</channel></rss>'.encode()


def _item(entry: MadeUpEntry, link: MadeUpLink, moment: datetime) -> str:
    guid = _made_up(entry.title)
    return (
        f"<item><title>{escape(entry.title)}</title><guid>{guid}</guid><pubDate>{format_datetime(moment)}</pubDate>"
        f'<enclosure url="{escape(link.url)}" length="{link.size}" type="application/x-bittorrent"/></item>'
    )


def _made_up(title: str) -> str:
    return hashlib.sha1(title.encode(), usedforsecurity=False).hexdigest()

"""Which downloads a page shows: those in some states, in which order, and what they come to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import chain
from typing import Any, Final, NamedTuple

from kurabito.downloads.downloads import Downloads
from kurabito.downloads.health.progress import time_left
from kurabito.downloads.states import Status
from kurabito.downloads.store import Download
from kurabito.runtime.model import Page


class ShownStates(StrEnum):
    """What can be looked at; the value is the message's key below `downloads.show_`."""

    UNDER_WAY = "under_way"
    DOWNLOADING = "downloading"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EVERYTHING = "everything"

    @property
    def statuses(self) -> tuple[Status | None, ...]:
        """The states that are meant; None is all of them."""
        return _STATUSES[self]


_WAITING: Final = (Status.PENDING, Status.NO_DOWNLOADER, Status.DOWNLOADER_ERROR)
_STATUSES: Final[dict[ShownStates, tuple[Status | None, ...]]] = {
    ShownStates.UNDER_WAY: (Status.DOWNLOADING, *_WAITING),
    ShownStates.DOWNLOADING: (Status.DOWNLOADING,),
    ShownStates.WAITING: _WAITING,
    ShownStates.COMPLETED: (Status.COMPLETED,),
    ShownStates.FAILED: (Status.FAILED,),
    ShownStates.CANCELLED: (Status.CANCELLED,),
    ShownStates.EVERYTHING: (None,),
}


class ShownDownload(NamedTuple):
    """A download, and whether it has stalled."""

    download: Download
    is_stalled: bool


class DownloadOrder(StrEnum):
    """What downloads are sorted by; the value is the message's key below `downloads.by_`."""

    ADDED = "added"
    NAME = "name"
    PROGRESS = "progress"
    SIZE = "size"
    RATE = "rate"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class DownloadTotals:
    """What several downloads come to."""

    downloads: int
    done: int
    size: int
    """Of those whose size is known."""
    rate: int


async def page_of(
    downloads: Downloads, shown: ShownStates, *, module_id: int | None, cursor: str | None, limit: int
) -> Page[ShownDownload]:
    """A page of those states. Each state is a list of its own, so the newest of all of them are taken."""
    lists = await asyncio.gather(
        *(downloads.page(limit=limit, cursor=cursor, status=status, module_id=module_id) for status in shown.statuses)
    )
    newest = sorted(chain.from_iterable(lists), key=lambda one: -one[0].id)
    entries = tuple(ShownDownload(*one) for one in newest[:limit])
    has_more = len(newest) > limit or any(one.next_cursor for one in lists)
    return Page(entries, str(entries[-1].download.id) if has_more else None)


_NEVER: Final = timedelta.max
_KEYS: Final[dict[DownloadOrder, Callable[[Download], Any]]] = {
    DownloadOrder.ADDED: lambda one: -one.id,
    DownloadOrder.NAME: lambda one: one.title.casefold(),
    DownloadOrder.PROGRESS: lambda one: -one.progress,
    DownloadOrder.SIZE: lambda one: -(one.size_bytes or 0),
    DownloadOrder.RATE: lambda one: -(one.rate or 0),
    DownloadOrder.LEFT: lambda one: time_left(one) or _NEVER,
}


_LARGEST_FIRST: Final = frozenset({DownloadOrder.ADDED, DownloadOrder.PROGRESS, DownloadOrder.SIZE, DownloadOrder.RATE})


def is_descending(order: DownloadOrder, *, is_turned: bool) -> bool:
    """Whether that order begins with the largest."""
    return (order in _LARGEST_FIRST) is not is_turned


def in_order(entries: Iterable[ShownDownload], order: DownloadOrder, *, is_turned: bool) -> list[ShownDownload]:
    """Downloads by something, the largest or the nearest first, or the other way round."""
    return sorted(entries, key=lambda one: _KEYS[order](one.download), reverse=is_turned)


def totals_of(entries: Iterable[ShownDownload]) -> DownloadTotals:
    """What these come to. The episodes of a batch are one torrent, which counts once."""
    known = [one.download for one in entries]
    torrents = {(one.module_id, one.hash or one.id): one for one in known}.values()
    sized = [one for one in torrents if one.size_bytes]
    return DownloadTotals(
        len(known),
        sum(one.downloaded_bytes for one in sized),
        sum(one.size_bytes or 0 for one in sized),
        sum(one.rate or 0 for one in torrents),
    )

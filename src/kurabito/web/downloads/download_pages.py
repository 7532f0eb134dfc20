"""Which downloads a page shows: those in some states, the newest first, by the downloaders that have them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Final, NamedTuple

from kurabito.downloads.downloads import Downloads
from kurabito.downloads.health.downloaders import Downloader
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


@dataclass(frozen=True, slots=True)
class Held:
    """What one downloader has of a page; None for what no downloader has."""

    downloader: Downloader | None
    entries: list[ShownDownload]


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


def by_downloader(entries: Sequence[ShownDownload], downloaders: Sequence[Downloader]) -> list[Held]:
    """The downloads by downloader, in the order in which these are asked, and at the end what no downloader has."""
    held: dict[int | None, list[ShownDownload]] = {}
    known = {one.service.id for one in downloaders}
    for entry in entries:
        module_id = entry.download.module_id
        held.setdefault(module_id if module_id in known else None, []).append(entry)
    found = [Held(one, held[one.service.id]) for one in downloaders if one.service.id in held]
    return found + ([Held(None, held[None])] if None in held else [])

"""One entry of the history, and the place of an entry among all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from kurabito.clock import from_datetime
from kurabito.downloads.reasons import DownloadReason
from kurabito.reasons import Reason
from kurabito.runtime.paging import BIGGEST_ID, not_a_cursor

_CURSOR: Final = re.compile("([0-9]{1,18})-([a-z]+)-([0-9a-f]{1,32})")
_LAST_TEXT: Final = "g"
"""Behind every id that is written in hexadecimal digits."""


class HistoryKind(StrEnum):
    """What happened."""

    SEEN = "seen"
    """A feed or a search brought a release."""
    TAKEN = "taken"
    """A release was chosen to be downloaded."""
    SENT = "sent"
    """A downloader accepted it."""
    COMPLETED = "completed"
    PLACED = "placed"
    """A file is in its library."""
    UPGRADED = "upgraded"
    """A file took the place of one that was not as good."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    DELETED = "deleted"
    """A file went to the trash, or a download was removed."""


class Source(StrEnum):
    """Where entries are read from; the value is the name of the statement. At one moment, the later one here comes first."""

    SEEN = "seen"
    TAKEN = "taken"
    SENT = "sent"
    COMPLETED = "completed"
    PLACED = "placed"
    UPGRADED = "upgraded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REMOVED = "removed"
    TRASHED = "trashed"

    @property
    def kind(self) -> HistoryKind:
        return _KINDS.get(self) or HistoryKind(self.value)

    @property
    def rank(self) -> int:
        return _RANKS.index(self)


_KINDS: Final = {Source.REMOVED: HistoryKind.DELETED, Source.TRASHED: HistoryKind.DELETED}
_RANKS: Final = tuple(Source)
WITHOUT_DOWNLOADER: Final = frozenset({Source.SEEN, Source.TRASHED})
"""Sources that no downloader has to do with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """Something that happened to a release or a file."""

    source: Source
    key: int | str
    """Its id in the table that it is read from."""
    at: datetime
    series_id: int | None
    series: str | None
    season: int | None
    episode: float | None
    """None where it has several, or none that is known."""
    episodes: int
    """How many a batch has."""
    title: str
    """That of the release; the path where a file came without one."""
    download_id: int | None
    downloader: str | None
    reason: Reason[DownloadReason] | None
    path: str | None
    """In its library."""
    size_bytes: int | None

    @property
    def kind(self) -> HistoryKind:
        return self.source.kind

    @property
    def cursor(self) -> str:
        """The page after this entry begins here."""
        return f"{from_datetime(self.at)}-{self.source}-{self.key}"


class HistoryPlace(NamedTuple):
    """Where a page begins: behind this entry."""

    at: int
    rank: int
    key: str

    @classmethod
    def behind(cls, cursor: str | None, until: datetime | None) -> HistoryPlace:
        """The place of a cursor; without one, before `until`. Raises InvalidInput."""
        if cursor is None:
            return cls(BIGGEST_ID if until is None else from_datetime(until), -1, "")
        found = _CURSOR.fullmatch(cursor)
        if found is None or found[2] not in {source.value for source in Source}:
            raise not_a_cursor(cursor)
        source = Source(found[2])
        if source is not Source.TRASHED and (not found[3].isdigit() or int(found[3]) > BIGGEST_ID):
            raise not_a_cursor(cursor)
        return cls(int(found[1]), source.rank, found[3])

    def bound(self, source: Source) -> int | str:
        """The id below which entries of a source follow this place at its own moment."""
        is_text = source is Source.TRASHED
        if source.rank == self.rank:
            return self.key if is_text else int(self.key)
        if source.rank < self.rank:
            return _LAST_TEXT if is_text else BIGGEST_ID
        return "" if is_text else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFilter:
    """Which entries are wanted."""

    series_id: int | None = None
    module_id: int | None = None
    kinds: Sequence[HistoryKind] = ()
    """None are all."""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def sources(self) -> list[Source]:
        """Where such entries are read from."""
        return [
            source
            for source in Source
            if (not self.kinds or source.kind in self.kinds)
            and (self.module_id is None or source not in WITHOUT_DOWNLOADER)
        ]

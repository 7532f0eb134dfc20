"""The words of the port to a downloader: what it is sent, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from kurabito.reasons import TEXT, Reason, in_other_words


class ItemStatus(StrEnum):
    """Whether an item was taken."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class CancelStatus(StrEnum):
    """What came of cancelling."""

    CANCELLED = "cancelled"
    NOT_FOUND = "not_found"


class TransferStatus(StrEnum):
    """How a download is doing. Whether it is paused, queued or seeding is a detail: it can go on, or it is there."""

    DOWNLOADING = "downloading"
    COMPLETED = "completed"
    ERROR = "error"


class TransferDetail(StrEnum):
    """What the program does with a download. The value is on the wire, is stored, and is the message's key below `transfer`.

    Behind it and a colon, if anything, is what the program itself says; a detail may also be a text of its own.
    """

    OTHER = "other"
    """In the downloader's own words: `text`."""
    PAUSED = "paused"
    QUEUED = "queued"
    NO_SLOT = "no_slot"
    """Queued, and torrents that seed hold all slots of aria2."""
    CHECKING = "checking"
    METADATA = "metadata"
    """The torrent's info is fetched."""
    ALLOCATING = "allocating"
    MOVING = "moving"
    STALLED = "stalled"
    SEEDING = "seeding"
    NO_ROOM = "no_room"
    """The disk is full; the download goes on when there is room."""
    UNWRITABLE = "unwritable"
    """The folder cannot be written."""
    FILES_MISSING = "files_missing"
    CONTENT_REFUSED = "content_refused"
    """The program does not take what is in the torrent."""
    CLIENT_ERROR = "client_error"
    """The program has an error with it, and does not say which."""


_OBSTACLES: Final = frozenset({TransferDetail.NO_SLOT, TransferDetail.NO_ROOM, TransferDetail.UNWRITABLE})


def read_detail(detail: str | None) -> Reason[TransferDetail] | None:
    """The word and what is said beside it."""
    if not detail:
        return None
    word, _, said = detail.partition(":")
    # Earlier versions wrote "no room".
    word, said = word.strip().replace(" ", "_"), said.strip()
    if word not in set(TransferDetail) or word == TransferDetail.OTHER:
        return in_other_words(TransferDetail, detail)
    return Reason(TransferDetail(word), {TEXT: said} if said else {})


def is_obstacle(doing: Reason[TransferDetail] | None) -> bool:
    """Whether it says what is in the way. A word of others is none, a sentence of theirs with a colon is."""
    if doing is None:
        return False
    if doing.code is TransferDetail.OTHER:
        return ":" in doing.facts[TEXT]
    return doing.code in _OBSTACLES or TEXT in doing.facts


def with_text(code: TransferDetail, text: str) -> str:
    """A word, and what the program itself says."""
    return f"{code}: {text}"


class Owner(StrEnum):
    """Who added something to the program that downloads."""

    KURABITO = "kurabito"
    USER = "user"
    """It was there before, or came from elsewhere: it is watched, and never cancelled, paused, moved or deleted."""


@dataclass(frozen=True, slots=True)
class DownloadItem:
    """Something to download."""

    url: str
    save_path: str
    """The folder for it, as the downloader sees it. Nothing is written beside it."""
    seed_ratio: float | None = None
    """Seeded until so much was given back; None is as the program does it."""
    seed_minutes: int | None = None
    """Or for so long, whichever is first."""
    torrent: bytes | None = field(default=None, repr=False)
    """The torrent file itself, where the URL leads to none: that of a private torrent. It has a passkey in it."""


@dataclass(frozen=True, slots=True)
class DownloadItemResult:
    """Whether an item was taken, and what it is called from now on."""

    url: str
    hash: str | None
    status: ItemStatus
    reason: str | None = None
    owner: Owner | None = None
    """None where the program cannot tell."""
    may_pass: bool = False
    """What keeps it from being taken may be over later, such as a host that does not answer."""

    @classmethod
    def accepted(cls, url: str, hash: str | None, owner: Owner | None = None) -> DownloadItemResult:
        return cls(url, hash, ItemStatus.ACCEPTED, owner=owner)

    @classmethod
    def rejected(cls, url: str, reason: str | None, *, may_pass: bool = False) -> DownloadItemResult:
        return cls(url, None, ItemStatus.REJECTED, reason, may_pass=may_pass)


@dataclass(frozen=True, slots=True)
class CancelResult:
    """What became of one download that was cancelled."""

    hash: str
    status: CancelStatus


MOST_FILES: Final = 20_000
"""Of one download; the list of one that has more is left out."""


@dataclass(frozen=True, slots=True)
class TransferFile:
    """One file of a download."""

    path: str
    """Below the content path, with slashes."""
    size: int
    is_wanted: bool = True
    """Whether it is downloaded at all."""
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class DownloadStatus:
    """How one download is doing."""

    hash: str
    status: TransferStatus
    progress: float
    """From 0 to 1."""
    size: int | None
    """In bytes; 0 while the program does not know it, None where it does not tell."""
    rate: int | None = None
    """Bytes a second that arrive."""
    peers: int | None = None
    detail: str | None = None
    """What the program does with it, or what went wrong: a word of `TransferDetail`, or its own."""
    owner: Owner | None = None
    """None where the program cannot tell."""
    content_path: str | None = None
    """The folder in which its files lie, as the program sees it. It need not be the one that was asked for."""
    files: tuple[TransferFile, ...] | None = None
    """Once it is complete; None where the program does not tell."""

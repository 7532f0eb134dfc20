"""How a download goes: one word, which the page says and colours, and what can be wished for it."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

from kurabito.downloads.items import NO_ROOM
from kurabito.downloads.states import AT_DOWNLOADER, Status
from kurabito.downloads.store import Download


class DownloadProgressState(StrEnum):
    """The value is the message's key below `going`."""

    PENDING = "pending"
    DOWNLOADING = "downloading"
    METADATA = "metadata"
    """It is not known yet what is in it."""
    CHECKING = "checking"
    QUEUED = "queued"
    PAUSED = "paused"
    STALLED = "stalled"
    NO_ROOM = "no_room"
    """The disk is full; it goes on when there is room."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DOWNLOADER_ERROR = "downloader_error"
    NO_DOWNLOADER = "no_downloader"

    @property
    def tone(self) -> str:
        """The state of a task that looks like it."""
        return _TONES[self]


class DownloadAction(StrEnum):
    """What can be asked for; the value is the last part of the address."""

    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    CANCEL = "cancel"
    SEND_ELSEWHERE = "send-elsewhere"
    WANT_AGAIN = "want-again"
    WANT_OTHER = "want-other"
    """Again, and as another release."""


_TONES: Final = {
    DownloadProgressState.PENDING: "queued",
    DownloadProgressState.DOWNLOADING: "running",
    DownloadProgressState.METADATA: "running",
    DownloadProgressState.CHECKING: "running",
    DownloadProgressState.QUEUED: "queued",
    DownloadProgressState.PAUSED: "cancelled",
    DownloadProgressState.STALLED: "retry_scheduled",
    DownloadProgressState.NO_ROOM: "retry_scheduled",
    DownloadProgressState.COMPLETED: "succeeded",
    DownloadProgressState.FAILED: "dead",
    DownloadProgressState.CANCELLED: "cancelled",
    DownloadProgressState.DOWNLOADER_ERROR: "dead",
    DownloadProgressState.NO_DOWNLOADER: "retry_scheduled",
}
_DETAILS: Final = {
    word.value: word
    for word in (
        DownloadProgressState.METADATA,
        DownloadProgressState.CHECKING,
        DownloadProgressState.QUEUED,
        DownloadProgressState.PAUSED,
    )
}
_ENDED_EMPTY: Final = frozenset({Status.FAILED, Status.CANCELLED, Status.NO_DOWNLOADER})
_LONGEST_WAIT: Final = timedelta(days=99)


def going_of(download: Download, is_stalled: bool) -> DownloadProgressState:
    """How a download goes."""
    detail = download.detail or ""
    if download.status is Status.DOWNLOADING and detail.startswith(NO_ROOM):
        return DownloadProgressState.NO_ROOM
    if is_stalled:
        return DownloadProgressState.STALLED
    if download.status is Status.DOWNLOADING:
        # What follows a colon is why.
        return _DETAILS.get(detail.partition(":")[0], DownloadProgressState.DOWNLOADING)
    return DownloadProgressState(download.status.value)


def wishes_for(download: Download) -> list[DownloadAction]:
    """What would be done if it was asked for now."""
    wishes = []
    if download.status is Status.DOWNLOADING and not download.is_yours:
        wishes.append(
            DownloadAction.RESUME if download.detail == DownloadProgressState.PAUSED else DownloadAction.PAUSE
        )
    if download.status in _ENDED_EMPTY:
        wishes.append(DownloadAction.RETRY)
    if download.status is Status.COMPLETED and download.episode_id is not None:
        wishes += [DownloadAction.WANT_AGAIN, DownloadAction.WANT_OTHER]
    if download.status in AT_DOWNLOADER:
        wishes.append(DownloadAction.SEND_ELSEWHERE)
    if download.status not in (Status.COMPLETED, Status.CANCELLED, Status.FAILED):
        wishes.append(DownloadAction.CANCEL)
    return wishes


def left_of(download: Download) -> timedelta | None:
    """How long it takes until it is there, if it goes on like this; None when nobody can tell."""
    if download.status is not Status.DOWNLOADING or not download.rate or not download.size_bytes:
        return None
    seconds = (download.size_bytes - download.downloaded_bytes) / download.rate
    # A size that a downloader made up must not be more than a calendar can hold.
    return timedelta(seconds=min(max(seconds, 0.0), _LONGEST_WAIT.total_seconds()))

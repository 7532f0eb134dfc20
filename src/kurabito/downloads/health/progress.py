"""The progress of a download in one word: finer than its status, as it also says what the downloader does with it."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

from kurabito.downloads.items import TransferDetail
from kurabito.downloads.states import AT_DOWNLOADER, Status
from kurabito.downloads.store import Download


class DownloadProgressState(StrEnum):
    """The seven statuses, and what `downloading` may mean."""

    PENDING = "pending"
    DOWNLOADING = "downloading"
    METADATA = "metadata"
    """The downloader still fetches the torrent's info."""
    CHECKING = "checking"
    QUEUED = "queued"
    PAUSED = "paused"
    STALLED = "stalled"
    NO_ROOM = "no_room"
    """The disk is full; the download goes on when there is room."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DOWNLOADER_ERROR = "downloader_error"
    NO_DOWNLOADER = "no_downloader"


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


_DOING: Final = {
    TransferDetail.METADATA: DownloadProgressState.METADATA,
    TransferDetail.CHECKING: DownloadProgressState.CHECKING,
    TransferDetail.QUEUED: DownloadProgressState.QUEUED,
    TransferDetail.NO_SLOT: DownloadProgressState.QUEUED,
    TransferDetail.PAUSED: DownloadProgressState.PAUSED,
}
_ENDED_EMPTY: Final = frozenset({Status.FAILED, Status.CANCELLED, Status.NO_DOWNLOADER})
_LONGEST_WAIT: Final = timedelta(days=99)


def progress_state(download: Download, is_stalled: bool) -> DownloadProgressState:
    """The progress of a download; `is_stalled` when it made none for a long time."""
    doing = None if download.doing is None else download.doing.code
    if download.status is Status.DOWNLOADING and doing is TransferDetail.NO_ROOM:
        return DownloadProgressState.NO_ROOM
    if is_stalled:
        return DownloadProgressState.STALLED
    if download.status is Status.DOWNLOADING:
        return (
            DownloadProgressState.DOWNLOADING if doing is None else _DOING.get(doing, DownloadProgressState.DOWNLOADING)
        )
    return DownloadProgressState(download.status.value)


def actions_for(download: Download) -> list[DownloadAction]:
    """The actions that a download takes now."""
    actions = []
    if download.status is Status.DOWNLOADING and not download.is_yours:
        actions.append(DownloadAction.RESUME if download.detail == TransferDetail.PAUSED else DownloadAction.PAUSE)
    if download.status in _ENDED_EMPTY and not download.brought_programs:
        actions.append(DownloadAction.RETRY)
    if download.status is Status.COMPLETED and download.episode_id is not None:
        actions += [DownloadAction.WANT_AGAIN, DownloadAction.WANT_OTHER]
    if download.status in AT_DOWNLOADER:
        actions.append(DownloadAction.SEND_ELSEWHERE)
    if download.status not in (Status.COMPLETED, Status.CANCELLED, Status.FAILED):
        actions.append(DownloadAction.CANCEL)
    return actions


def time_left(download: Download) -> timedelta | None:
    """The time until a download is complete at its present rate; None when the rate or the size is unknown."""
    if download.status is not Status.DOWNLOADING or not download.rate or not download.size_bytes:
        return None
    seconds = (download.size_bytes - download.downloaded_bytes) / download.rate
    # A size that a downloader made up must not be more than a calendar can hold.
    return timedelta(seconds=min(max(seconds, 0.0), _LONGEST_WAIT.total_seconds()))

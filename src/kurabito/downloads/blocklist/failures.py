"""Which failures are the fault of a release, and for how long it is blocked then. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from kurabito.downloads.items import TransferDetail
from kurabito.downloads.reasons import DownloadReason
from kurabito.reasons import Reason

FOR_GOOD: Final = None
_DEFAULT: Final = timedelta(days=30)
_SOON: Final = timedelta(days=2)
_LENGTHS: Final = {
    # What it is will not change.
    DownloadReason.ANOTHER_EPISODE: FOR_GOOD,
    DownloadReason.UNSAFE_FILES: FOR_GOOD,
    DownloadReason.UNSAFE_REMOVED: FOR_GOOD,
    # Peers may come back.
    DownloadReason.DEAD: timedelta(days=14),
    DownloadReason.NO_METADATA: timedelta(days=14),
    DownloadReason.GAVE_UP: timedelta(days=14),
    # A downloader may take later what it does not take now.
    DownloadReason.NOT_TAKEN: _SOON,
    DownloadReason.NO_HASH: _SOON,
    DownloadReason.REPORTED: _SOON,
}
_OURS: Final = frozenset(
    {
        DownloadReason.REMOVED,
        DownloadReason.REPLACED,
        DownloadReason.FILTERED,
        DownloadReason.CANCELLED,
        DownloadReason.SENT_ELSEWHERE,
        DownloadReason.NO_ROOM,
        DownloadReason.DOWNLOADER_AWAY,
        DownloadReason.DOWNLOADER_REMOVED,
        DownloadReason.SWITCHED_OFF,
        DownloadReason.NO_DOWNLOADER,
    }
)
"""What a person did, or what is wrong with a disk or a downloader."""
_DISK: Final = frozenset({TransferDetail.NO_ROOM, TransferDetail.UNWRITABLE, TransferDetail.FILES_MISSING})


def is_its_fault(reason: Reason[DownloadReason] | None) -> bool:
    """Whether another release would do better. A full disk fails every one."""
    if reason is None or reason.code in _OURS:
        return False
    return reason.code is not DownloadReason.TRANSFER or reason.facts.get("detail") not in _DISK


def blocked_for(reason: Reason[DownloadReason] | None) -> timedelta | None:
    """How long a release is blocked after this; None is for good."""
    return _DEFAULT if reason is None else _LENGTHS.get(reason.code, _DEFAULT)

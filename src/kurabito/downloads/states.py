"""The words for downloads, and the moves between them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """How far a download is."""

    PENDING = "pending"
    """On its way to a downloader."""
    DOWNLOADING = "downloading"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DOWNLOADER_ERROR = "downloader_error"
    """Its downloader does not answer."""
    NO_DOWNLOADER = "no_downloader"
    """No downloader can take it now."""


FINAL: Final = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})
"""A link may be dispatched again after these, but for what is completed."""
AT_DOWNLOADER: Final = frozenset({Status.DOWNLOADING, Status.DOWNLOADER_ERROR})

MOVES: Final[Mapping[Status, frozenset[Status]]] = {
    Status.PENDING: frozenset(
        {Status.DOWNLOADING, Status.COMPLETED, Status.FAILED, Status.NO_DOWNLOADER, Status.CANCELLED}
    ),
    Status.DOWNLOADING: frozenset(
        {Status.COMPLETED, Status.FAILED, Status.DOWNLOADER_ERROR, Status.CANCELLED, Status.PENDING}
    ),
    Status.DOWNLOADER_ERROR: frozenset(
        {Status.DOWNLOADING, Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.PENDING}
    ),
    Status.NO_DOWNLOADER: frozenset({Status.PENDING, Status.DOWNLOADING, Status.CANCELLED}),
    Status.FAILED: frozenset({Status.CANCELLED}),
    Status.CANCELLED: frozenset(),
    Status.COMPLETED: frozenset({Status.FAILED}),
}
"""Back to `pending` is what sending a download elsewhere does; what is complete fails only for what is in it."""


def before(status: Status) -> str:
    """The states from which a download comes into this one, as SQL has them."""
    return ", ".join(f"'{state}'" for state, after in MOVES.items() if status in after)


class Outcome(StrEnum):
    """What came of offering a link to one downloader."""

    SENT = "sent"
    """No answer was written yet."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNREACHABLE = "unreachable"
    """It never got the request, or refused it as a whole."""
    UNCLEAR = "unclear"
    """The request went out, and no answer tells whether it was taken."""


class CleanupKind(StrEnum):
    """What has still to be cleaned up at a downloader."""

    LOOK = "look"
    """It may have the hash: to be removed if another has it too."""
    CANCEL = "cancel"
    DELETE = "delete"
    DELETE_FILES = "delete_files"

"""Why a row of the protocol is in trouble: codes that stay, for programs and translators; the message beside them is for people."""

from __future__ import annotations

from enum import StrEnum


class ErrorCode(StrEnum):
    """What is written to `error_code`."""

    LEASE_EXPIRED = "LEASE_EXPIRED"
    """The worker stopped renewing its lease; whoever noticed took the row from it."""
    WORKER_LOST = "WORKER_LOST"
    """Three workers were lost on this row, so no fourth is given to it."""
    WORKER_FAILURE = "WORKER_FAILURE"
    """The worker met an error that it has no other code for."""
    SUPERSEDED = "SUPERSEDED"
    """An older database had several scans or hashes under way; another of them was kept."""
    ROOT_UNAVAILABLE = "ROOT_UNAVAILABLE"
    """The library's folder is not there, is not a folder, or cannot be read."""
    ROOT_EMPTY = "ROOT_EMPTY"
    """The library's folder is empty although files of it are known: most likely a share that is not mounted."""
    SCAN_INCOMPLETE = "SCAN_INCOMPLETE"
    """Some folders could not be read; what was not seen is not taken for missing."""
    FILE_UNREADABLE = "FILE_UNREADABLE"
    """The file could not be read."""
    FILE_CHANGED = "FILE_CHANGED"
    """The file changed while it was read."""
    PATH_ESCAPES = "PATH_ESCAPES"
    """The path leads out of its root."""

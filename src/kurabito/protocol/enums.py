"""Every value that an enum-like column may hold. What is stored is the lowercase value, never the name."""

from __future__ import annotations

from enum import StrEnum


class JobKind(StrEnum):
    """What a job does on the disks."""

    SCAN = "scan"
    HASH = "hash"
    DELETE = "delete"
    THUMBNAIL = "thumbnail"
    """Legal, but no row of this kind is made: thumbnails have a table of their own."""


class JobStatus(StrEnum):
    """Where a job stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RETRYABLE = "retryable"
    """Its worker was lost; the control plane decides whether it goes back to pending."""

    @property
    def finished(self) -> bool:
        return self in _FINISHED


class ScanStatus(StrEnum):
    """Where a scan session stands."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class HashAlgorithm(StrEnum):
    """How content is hashed."""

    BLAKE3 = "blake3"
    SHA256 = "sha256"

    @property
    def hex_length(self) -> int:
        """How many hex characters a digest has; both are of 32 bytes."""
        return 64


class HashPolicy(StrEnum):
    """Which files of a library are hashed."""

    CANDIDATES = "candidates"
    """Those that may have a duplicate: another file has their size."""
    ALL = "all"


class LibraryIntake(StrEnum):
    """What is filed into a library."""

    ANY = "any"
    TV = "tv"
    MOVIE = "movie"
    NOTHING = "nothing"


class LibraryUpgrades(StrEnum):
    """Which better releases take the place of files that Kurabito put into a library."""

    NONE = "none"
    SAME_GROUP = "same_group"
    """A newer version of the same group's release."""
    ANYTHING = "anything"
    """Whatever the preferences of its subscription call better."""


class ScanFinding(StrEnum):
    """What a scan notes about a file until its end."""

    ADDED = "added"
    UNSEEN = "unseen"


class ThumbnailStatus(StrEnum):
    """Where a thumbnail stands."""

    PENDING = "pending"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"
    """The control plane may ask again, once `retry_after` is reached."""


class MediaType(StrEnum):
    """What a thumbnail is drawn from."""

    IMAGE = "image"
    VIDEO = "video"


class ThumbnailFormat(StrEnum):
    """How a thumbnail is encoded."""

    JPEG = "jpeg"
    WEBP = "webp"


class CleanupStatus(StrEnum):
    """Where the removal of a group's thumbnails stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    """It stays so until the control plane schedules it again."""


_FINISHED = frozenset({JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED})
SLOT_KINDS = frozenset({JobKind.SCAN, JobKind.HASH})
"""The kinds that share one slot: at most one of their jobs is pending or running at any moment."""

"""The errors of looking after the database."""

from __future__ import annotations

from kurabito.errors import KurabitoError, NotFound, StateConflict


class MaintenanceError(KurabitoError):
    """Something about looking after the database could not be done."""

    code = "maintenance"


class NoWal(MaintenanceError, StateConflict):
    """Only SQLite has a log to checkpoint."""

    code = "no_wal"


class CheckpointNotAllowed(MaintenanceError, StateConflict):
    """The setting `wal_truncate` is off."""

    code = "checkpoint_not_allowed"


class CheckpointTooSoon(MaintenanceError):
    """The last checkpoint has only just ended."""

    code = "checkpoint_too_soon"


class CheckpointNotFound(MaintenanceError, NotFound):
    """No checkpoint was asked for yet."""

    code = "checkpoint_not_found"


class NoticeNotFound(MaintenanceError, NotFound):
    """What needed a person has changed or is over."""

    code = "notice_not_found"

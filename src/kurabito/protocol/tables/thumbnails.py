"""The tables about thumbnails, and the limit on what is read for them."""

from __future__ import annotations

from typing import Final

from kurabito.protocol.enums import CleanupStatus, MediaType, ThumbnailFormat, ThumbnailStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.cleanups import CLEANUPS
from kurabito.protocol.leased.thumbnails import THUMBNAILS
from kurabito.protocol.tables.table import LEASE, MOMENTS, Table

THUMBNAIL_TABLES: Final = (
    Table(
        "thumbnails",
        "Pictures of files. The control plane admits a row with all that decides what is drawn and where; a data plane draws it.",
        {
            "id": "the thumbnail's id",
            "thumb_key": "names what it shows and how: a file that changed has another key",
            "file_id": "the file that it is a picture of",
            "group_key": "which thumbnails go together when they are removed",
            "media_type": "what it is drawn from",
            "format": "how it is encoded",
            "max_dimension": "the longer side has at most so many pixels, from 16 to 4096; nothing is made larger than it is",
            "source_size_bytes": "the size of the file that was meant; one of another size is not drawn",
            "source_mtime_ns": "its mtime likewise",
            "output_path": "where the picture goes, below `thumbs` in the state folder; rules as for `relative_path`",
            "status": "where it stands",
            "width": "of the picture",
            "height": "of the picture",
            "bytes_size": "its size as a file",
            "error_code": "why it failed",
            "error_message": "the same for people",
            "error_count": "how often it failed, or its worker was lost, since it was last ready",
            "retry_after": "before this moment the control plane does not ask again",
            **LEASE,
            "started_at": "when it was last claimed",
            "finished_at": "when it ended",
            **MOMENTS,
        },
        {
            "media_type": MediaType,
            "format": ThumbnailFormat,
            "status": ThumbnailStatus,
            "error_code": ErrorCode,
        },
        THUMBNAILS,
    ),
    Table(
        "thumbnail_cleanup_jobs",
        "Groups whose thumbnails are to be removed: rows that are ready or failed, and their files. At most one for a group waits or runs.",
        {
            "id": "the id",
            "group_key": "the group",
            "status": "where it stands",
            "execute_after": "before this moment it is not begun",
            "error_code": "why it failed",
            "error_message": "the same for people",
            **LEASE,
            "finished_at": "when it ended",
            **MOMENTS,
        },
        {"status": CleanupStatus, "error_code": ErrorCode},
        CLEANUPS,
    ),
    Table(
        "io_rate_limits",
        "When the next read may begin, for everybody who reads under the same limit. The limit itself is a setting.",
        {
            "bucket_key": "which limit; there is one, `thumbnail_io_global`",
            "next_available_at_ms": "when, in milliseconds since the epoch",
            **MOMENTS,
        },
    ),
)

"""The statements about thumbnails."""

from __future__ import annotations

from typing import Final

from kurabito.db import Queries
from kurabito.db.rows import ColumnList

THUMBNAIL: Final = ColumnList(
    "thumb_key, file_id, group_key, media_type, format, max_dimension, output_path, status, width, height, bytes_size, "
    "error_code, error_message, error_count, retry_after, created_at, updated_at, finished_at"
)
CLEANUP: Final = ColumnList("id, group_key, status, execute_after, error_code, error_message, created_at, finished_at")
PICTURE_FILE: Final = ColumnList(
    "file.id, file.relative_path, file.size_bytes, file.mtime_ns, file.is_missing, file.needs_hash, file.hash_algorithm, "
    "file.content_hash"
)
_ROOM: Final = "(SELECT CASE WHEN count(*) < :capacity THEN :capacity - count(*) ELSE 0 END FROM thumbnails WHERE status = 'pending')"
SQL: Final = Queries(
    "kurabito.thumbnails", "thumbnails.sql", room=_ROOM, thumbnail=THUMBNAIL, cleanup=CLEANUP, file=PICTURE_FILE
)

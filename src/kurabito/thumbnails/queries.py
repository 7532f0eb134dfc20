"""The statements about thumbnails, in the words of each database."""

from __future__ import annotations

from typing import Final

from kurabito.db import Connection, Dialect, Queries
from kurabito.db.rows import JSON_ROWS

THUMBNAIL: Final = (
    "thumb_key, file_id, group_key, media_type, format, max_dimension, output_path, status, width, height, bytes_size, "
    "error_code, error_message, error_count, retry_after, created_at, updated_at, finished_at"
)
CLEANUP: Final = "id, group_key, status, execute_after, error_code, error_message, created_at, finished_at"
_ROOM: Final = "(SELECT CASE WHEN count(*) < :capacity THEN :capacity - count(*) ELSE 0 END FROM thumbnails WHERE status = 'pending')"
_TEXT: Final = {Dialect.SQLITE: "given.value", Dialect.POSTGRES: "given.value #>> '{}'"}
_SQL: Final = {
    dialect: Queries(
        "kurabito.thumbnails",
        "thumbnails.sql",
        rows=JSON_ROWS[dialect],
        text=_TEXT[dialect],
        room=_ROOM,
        thumbnail=THUMBNAIL,
        cleanup=CLEANUP,
    )
    for dialect in Dialect
}


def queries(conn: Connection) -> Queries:
    """Those of this database."""
    return _SQL[conn.dialect]

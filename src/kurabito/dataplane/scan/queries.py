"""The statements of a scan."""

from __future__ import annotations

from typing import Final

from kurabito.db import Queries
from kurabito.db.rows import ColumnList

_NO_HASH: Final = (
    "edge_hash = NULL, hash_algorithm = NULL, content_hash = NULL, hashed_size_bytes = NULL, hashed_mtime_ns = NULL, "
    "hashed_at = NULL, hash_error_count = 0, hash_last_error = NULL, hash_last_error_at = NULL, hash_retry_after = NULL, "
    "shared_inode = NULL"
)
SESSION: Final = ColumnList(
    "id, status, total_paths, files_seen, directories_seen, bytes_seen, error_count, resume_after, error_message"
)
SQL: Final = Queries("kurabito.dataplane.scan", "scan.sql", no_hash=_NO_HASH, session=SESSION)

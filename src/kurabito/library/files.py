"""The files of a library, as the last scan and hash knew them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.protocol.enums import HashAlgorithm

FILE: Final = ColumnList(
    "file.id, file.relative_path, file.size_bytes, file.mtime_ns, file.is_missing, file.needs_hash, file.hash_algorithm, "
    "file.content_hash, file.hash_last_error, coalesce(same.file_count, 0) AS same_content, "
    "CASE WHEN file.is_missing = 1 AND EXISTS (SELECT 1 FROM trash_entries AS entry WHERE entry.file_id = file.id "
    "AND entry.left_at IS NULL) THEN 1 ELSE 0 END AS is_trashed"
)
"""The columns that `file_of` reads; `SAME_CONTENT` joins the last one."""
SAME_CONTENT: Final = (
    "LEFT JOIN duplicate_groups AS same ON same.hash_algorithm = file.hash_algorithm "
    "AND same.content_hash = file.content_hash AND file.is_missing = 0 AND file.needs_hash = 0"
)
_SQL: Final = Queries("kurabito.library", "files.sql", file=FILE, same=SAME_CONTENT)


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """A file as the last scan and hash knew it."""

    id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int
    is_missing: bool
    needs_hash: bool
    hash_algorithm: HashAlgorithm | None
    content_hash: bytes | None
    error: str | None
    """Why it could not be read the last time."""
    same_content: int
    """How many files are known to have its content, itself included."""
    is_trashed: bool = False
    """It lies in the trash of its library, and can be restored."""

    @property
    def name(self) -> str:
        return self.relative_path.rpartition("/")[2]


def of_library(
    conn: Connection, library_id: int, *, after: str, limit: int, missing: bool | None, contains: str | None
) -> list[LibraryFile]:
    """The files of a library in the order of their paths."""
    values = {
        "id": library_id,
        "after": after,
        "limit": limit,
        "missing": None if missing is None else int(missing),
        "contains": None if contains is None else f"%{_literal(contains)}%",
    }
    return [file_of(row) for row in conn.all(_SQL.files, values)]


def file_of(row: Row) -> LibraryFile:
    """A file as its row says."""
    file = FILE.row(row)
    return LibraryFile(
        file.id,
        file.relative_path,
        file.size_bytes,
        file.mtime_ns,
        bool(file.is_missing),
        bool(file.needs_hash),
        None if file.hash_algorithm is None else HashAlgorithm(file.hash_algorithm),
        file.content_hash,
        file.hash_last_error,
        file.same_content,
        bool(file.is_trashed),
    )


def _literal(text: str) -> str:
    """The text in a pattern of LIKE, standing for itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

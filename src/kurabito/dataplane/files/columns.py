"""The columns of `library_files` that a data plane fills for many files at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from kurabito.db.rows import Column

_COLUMNS: Final = (
    ("relative_path", "text"),
    ("size_bytes", "bigint"),
    ("mtime_ns", "bigint"),
    ("inode", "bigint"),
    ("device", "bigint"),
    ("needs_hash", "integer"),
)


def file_columns(values: Iterable[Sequence[Any]]) -> list[Column]:
    """Paths, sizes, mtimes, inodes, devices and whether each is hashed, as columns of a statement."""
    return [Column(name, kind, of_files) for (name, kind), of_files in zip(_COLUMNS, values, strict=True)]

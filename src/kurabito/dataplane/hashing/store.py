"""What is to be hashed, and what came of it, in the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kurabito.clock import SECOND
from kurabito.db import Connection, Queries, Query
from kurabito.db.rows import Column
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.terms import HASH_DOUBLINGS, HASH_RETRY_SECONDS, READ_WHOLE

_WAITING: Final = (
    "id, relative_path, size_bytes, mtime_ns, inode, device, edge_hash FROM library_files "
    "WHERE library_id = :library_id AND needs_hash = 1 AND is_missing = 0 AND id > :id"
)
_LONGER: Final = f"CASE WHEN hash_error_count < {HASH_DOUBLINGS} THEN 1 << CAST(hash_error_count AS integer) ELSE {1 << HASH_DOUBLINGS} END"
_SQL: Final = Queries("kurabito.dataplane.hashing", "store.sql", waiting=_WAITING, longer=_LONGER)
_TYPES: Final = {"digest": "bytea", "algorithm": "text", "problem": "text"}
_FIRST_WAIT: Final = HASH_RETRY_SECONDS * SECOND


class HashedLibrary(NamedTuple):
    """What a hash job has to know about its library."""

    folder: str
    algorithm: HashAlgorithm
    every_file: bool
    """True when every file is hashed, and not only what may have an equal."""


class FileToHash(NamedTuple):
    """A file of the library that waits."""

    id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int
    inode: int | None
    device: int | None


START: Final = FileToHash(0, "", -1, 0, None, None)
"""Comes before every file."""


def library(conn: Connection, library_id: int) -> HashedLibrary | None:
    """The library, if it is still there."""
    row = conn.one(_SQL.library, {"library_id": library_id})
    if row is None:
        return None
    folder, algorithm, policy = row
    return HashedLibrary(folder, HashAlgorithm(algorithm), policy == "all")


def count_waiting(conn: Connection, library_id: int) -> int:
    """How many files wait and may be tried now."""
    return int(conn.value(_SQL.count_waiting, {"library_id": library_id}))


def unsampled(conn: Connection, library_id: int, after: FileToHash, limit: int) -> list[FileToHash]:
    """The next files without any hash, in the order in which they were found."""
    place = {"library_id": library_id, "id": after.id, "limit": limit}
    return [FileToHash(*row) for row in conn.all(_SQL.unsampled, place)]


def sampled(conn: Connection, library_id: int, after: FileToHash, limit: int) -> list[tuple[FileToHash, bool]]:
    """The next files whose edges are known, each with whether another file may be its equal."""
    place = {"library_id": library_id, "id": after.id, "limit": limit}
    return [(FileToHash(*file), bool(has_twin)) for *file, has_twin in conn.all(_SQL.sampled, place)]


def settle_unique(conn: Connection, rows: Sequence[FileToHash]) -> None:
    """These have no equal: their content need not be read."""
    conn.run(_SQL.settle_unique, {"ids": [row.id for row in rows]})


def want_twins(conn: Connection, rows: Sequence[FileToHash]) -> None:
    """Have the files read that may be equal to these and were taken for unique until now."""
    conn.run(_SQL.want_twins, {"ids": [row.id for row in rows]})


def want_sampled(conn: Connection, rows: Sequence[FileToHash]) -> None:
    """Have files compared with these, which were read without a sample, that were settled by theirs before."""
    if sizes := sorted({row.size_bytes for row in rows if row.size_bytes > READ_WHOLE}):
        conn.run(_SQL.want_sampled, {"sizes": sizes})


def note_edges(conn: Connection, found: Sequence[tuple[FileToHash, bytes]]) -> None:
    """Write the edge samples."""
    _each(
        conn,
        _SQL.note_edges,
        ("id", "size_bytes", "mtime_ns", "digest"),
        [(row.id, row.size_bytes, row.mtime_ns, digest) for row, digest in found],
    )


def note_contents(conn: Connection, found: Sequence[tuple[FileToHash, bytes]], algorithm: HashAlgorithm) -> None:
    """Write the hashes; the files are done."""
    _each(
        conn,
        _SQL.note_contents,
        ("id", "size_bytes", "mtime_ns", "digest", "algorithm"),
        [(row.id, row.size_bytes, row.mtime_ns, digest, algorithm.value) for row, digest in found],
    )


def note_problems(conn: Connection, problems: Sequence[tuple[FileToHash, tuple[str, str]]]) -> None:
    """Write why files could not be read, and when to try again."""
    _each(
        conn,
        _SQL.note_problems,
        ("id", "size_bytes", "mtime_ns", "problem", "counts", "wait"),
        [
            (
                row.id,
                row.size_bytes,
                row.mtime_ns,
                f"{code}: {message}",
                int(code != ErrorCode.FILE_CHANGED),
                _FIRST_WAIT,
            )
            for row, (code, message) in problems
        ],
    )


def _each(conn: Connection, query: Query, names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> None:
    """Run an update for each row."""
    if rows:
        columns = zip(names, zip(*rows, strict=True), strict=True)
        conn.run_rows(query, [Column(name, _TYPES.get(name, "bigint"), values) for name, values in columns])

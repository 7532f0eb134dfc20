"""What is to be hashed, and what came of it, in the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kurabito.clock import SECOND
from kurabito.db import Connection, Dialect, Queries
from kurabito.db.rows import Column, row_source
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode

_ROWS: Final = "/* rows */"
_WAITING: Final = (
    "SELECT id, relative_path, size_bytes, mtime_ns, inode, device, edge_hash FROM library_files "
    "WHERE library_id = :library_id AND needs_hash = 1 AND is_missing = 0 AND id > :id"
)


def _waiting(edges: str, question: str = "{}") -> str:
    """Files that may be tried now. Two questions and no OR: each has an index of its own, in the order of ids."""
    times = ("hash_retry_after IS NULL", "hash_retry_after <= :now")
    return " UNION ALL ".join(question.format(f"{_WAITING} AND edge_hash {edges} AND {time}") for time in times)


# PostgreSQL takes the first ones of each only when told so, SQLite goes along both at once.
_PAGE: Final = "({} ORDER BY id LIMIT :limit)"
_SQL: Final = {
    Dialect.SQLITE: Queries(
        "kurabito.dataplane.hashing",
        "store.sql",
        listed="(SELECT value FROM json_each(:ids))",
        new=":",
        rows="",
        not_sampled=_waiting("IS NULL"),
        sampled=_waiting("IS NOT NULL"),
    ),
    Dialect.POSTGRES: Queries(
        "kurabito.dataplane.hashing",
        "store.sql",
        listed="(SELECT unnest(CAST(:ids AS bigint[])))",
        new="v.",
        rows=f"FROM ({_ROWS}) AS v",
        not_sampled=_waiting("IS NULL", _PAGE),
        sampled=_waiting("IS NOT NULL", _PAGE),
    ),
}
_TYPES: Final = {"digest": "bytea", "algorithm": "text", "problem": "text"}
_FIRST_WAIT: Final = 60 * SECOND


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
    row = conn.one(_SQL[conn.dialect].library, {"library_id": library_id})
    return HashedLibrary(row[0], HashAlgorithm(row[1]), row[2] == "all") if row else None


def count_waiting(conn: Connection, library_id: int) -> int:
    """How many files wait and may be tried now."""
    row = conn.one(_SQL[conn.dialect].count_waiting, {"library_id": library_id})
    assert row is not None
    count: int = row[0]
    return count


def unsampled(conn: Connection, library_id: int, after: FileToHash, limit: int) -> list[FileToHash]:
    """The next files of which nothing is known, in the order in which they were found."""
    place = {"library_id": library_id, "id": after.id, "limit": limit}
    return [FileToHash(*row) for row in conn.all(_SQL[conn.dialect].unsampled, place)]


def sampled(conn: Connection, library_id: int, after: FileToHash, limit: int) -> list[tuple[FileToHash, bool]]:
    """The next files whose edges are known, each with whether another file may be its equal."""
    place = {"library_id": library_id, "id": after.id, "limit": limit}
    return [(FileToHash(*row[:6]), bool(row[6])) for row in conn.all(_SQL[conn.dialect].sampled, place)]


def settle_unique(conn: Connection, rows: Sequence[FileToHash]) -> None:
    """These have no equal: their content need not be read."""
    conn.run(_SQL[conn.dialect].settle_unique, {"ids": _ids(conn, rows)})


def want_twins(conn: Connection, rows: Sequence[FileToHash]) -> None:
    """Have the files read that may be equal to these and were taken for unique until now."""
    conn.run(_SQL[conn.dialect].want_twins, {"ids": _ids(conn, rows)})


def note_edges(conn: Connection, found: Sequence[tuple[FileToHash, bytes]]) -> None:
    """Write the edge samples."""
    _each(
        conn,
        _SQL[conn.dialect].note_edges,
        ("id", "size_bytes", "mtime_ns", "digest"),
        [(row.id, row.size_bytes, row.mtime_ns, digest) for row, digest in found],
    )


def note_contents(conn: Connection, found: Sequence[tuple[FileToHash, bytes]], algorithm: HashAlgorithm) -> None:
    """Write the hashes; the files are done."""
    _each(
        conn,
        _SQL[conn.dialect].note_contents,
        ("id", "size_bytes", "mtime_ns", "digest", "algorithm"),
        [(row.id, row.size_bytes, row.mtime_ns, digest, algorithm.value) for row, digest in found],
    )


def note_problems(conn: Connection, problems: Sequence[tuple[FileToHash, tuple[str, str]]]) -> None:
    """Write why files could not be read, and when to try again."""
    _each(
        conn,
        _SQL[conn.dialect].note_problems,
        ("id", "problem", "counts", "wait"),
        [
            (row.id, f"{code}: {message}", int(code != ErrorCode.FILE_CHANGED), _FIRST_WAIT)
            for row, (code, message) in problems
        ],
    )


def _ids(conn: Connection, rows: Sequence[FileToHash]) -> Any:
    ids = [row.id for row in rows]
    return ids if conn.dialect is Dialect.POSTGRES else json.dumps(ids)


def _each(conn: Connection, sql: str, names: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> None:
    """Run an update for each row: on PostgreSQL in one statement, so that its triggers run once."""
    if not rows:
        return
    if conn.dialect is Dialect.POSTGRES:
        listed = [
            Column(name, _TYPES.get(name, "bigint"), values)
            for name, values in zip(names, zip(*rows, strict=True), strict=True)
        ]
        source, params = row_source(*listed)
        conn.run(sql.replace(_ROWS, source), params)
    else:
        now = conn.now()
        conn.raw.executemany(sql, [{**dict(zip(names, row, strict=True)), "now": now} for row in rows])

"""What is read of a library before a file is put into it, and the row of the file that is new there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kurabito.dataplane.files.columns import file_columns
from kurabito.dataplane.files.walk import signed
from kurabito.dataplane.removal.file_refs import FileStamp
from kurabito.db import Connection, Queries
from kurabito.protocol.enums import HashAlgorithm, HashPolicy

_SQL: Final = Queries("kurabito.dataplane.placing", "store.sql")


@dataclass(frozen=True, slots=True)
class TargetLibrary:
    """The library that a file goes into."""

    id: int
    folder: Path
    algorithm: HashAlgorithm
    hash_policy: HashPolicy
    has_files: bool
    """Whether files of it are known; then its folder is not empty, unless its disk is not mounted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A file in the trash whose place another one took."""

    id: str
    path: str
    """Where it was."""
    trash_path: str
    size: int
    algorithm: HashAlgorithm
    content_hash: bytes


def library_of(conn: Connection, library_id: int) -> TargetLibrary | None:
    """The library; None when it is being removed, or was."""
    row = conn.one(_SQL.library, {"id": library_id})
    if row is None:
        return None
    folder, algorithm, policy, has_files = row
    return TargetLibrary(
        library_id, Path(folder), HashAlgorithm(algorithm), HashPolicy(policy), has_files=bool(has_files)
    )


def abandoned(conn: Connection, placement_ids: Collection[int]) -> set[int]:
    """Those of these placements that no data plane works on."""
    under_way = {found for (found,) in conn.all(_SQL.under_way, {"ids": sorted(placement_ids)})}
    return set(placement_ids) - under_way


def enter(conn: Connection, library: TargetLibrary, path: str, seen: FileStamp, content_hash: bytes | None) -> None:
    """Have a file known that came into its place, with its hash where a copy made one that the library uses."""
    is_hashed = content_hash is not None and library.algorithm is HashAlgorithm.BLAKE3
    where = {"library_id": library.id, "path": path}
    what = {
        "size": seen.size,
        "mtime_ns": seen.mtime_ns,
        "inode": signed(seen.inode),
        "device": signed(seen.device),
    }
    if conn.run(_SQL.is_known, {**where, **what, "has_hash": int(is_hashed)}):
        return
    content = {
        "needs_hash": int(not is_hashed and library.hash_policy is HashPolicy.ALL and seen.size > 0),
        "hash_algorithm": HashAlgorithm.BLAKE3.value if is_hashed else None,
        "content_hash": content_hash if is_hashed else None,
        "hashed_size": seen.size if is_hashed else None,
        "hashed_mtime_ns": seen.mtime_ns if is_hashed else None,
        "hashed_at": conn.now() if is_hashed else None,
    }
    conn.run(_SQL.enter, {**where, **what, **content})


def enter_many(conn: Connection, library: TargetLibrary, files: Mapping[str, FileStamp]) -> None:
    """Have files known that came into their place and were not read, by their paths."""
    listed = {"library_id": library.id, "paths": list(files)}
    known = {path for (path,) in conn.all(_SQL.known_paths, listed)} if files else set()
    for path in known:
        enter(conn, library, path, files[path], None)
    new = [(path, seen) for path, seen in files.items() if path not in known]
    if not new:
        return
    is_hashed = library.hash_policy is HashPolicy.ALL
    rows = [
        (path, seen.size, seen.mtime_ns, signed(seen.inode), signed(seen.device), int(is_hashed and seen.size > 0))
        for path, seen in new
    ]
    conn.run_rows(_SQL.enter_many, file_columns(zip(*rows, strict=True)), {"library_id": library.id})


def rename(conn: Connection, library_id: int, source: str, path: str) -> bool:
    """Have a file known under its new name, with all that was known of it; false when it was not known."""
    values = {"library_id": library_id, "source": source, "path": path}
    conn.run(_SQL.forget_path, values)
    return conn.run(_SQL.rename, values) == 1


def known_hash(conn: Connection, library: TargetLibrary, path: str, seen: FileStamp) -> bytes | None:
    """The hash of a file as it is now, if it is known."""
    where = {"library_id": library.id, "path": path, "algorithm": library.algorithm.value}
    found = conn.value(_SQL.known_hash, {**where, "size": seen.size, "mtime_ns": seen.mtime_ns})
    return None if found is None else bytes(found)


def retire(conn: Connection, library: TargetLibrary, retired: Retired, *, successor: str) -> None:
    """Have the trash know a file, and the library that it is not where it was."""
    values = {
        "id": retired.id,
        "library_id": library.id,
        "path": retired.path,
        "trash_path": retired.trash_path,
        "size": retired.size,
        "algorithm": retired.algorithm.value,
        "content_hash": retired.content_hash,
        "successor": successor,
    }
    conn.run(_SQL.add_entry, values)
    conn.run(_SQL.is_gone, values)


def leave_trash(conn: Connection, library: TargetLibrary, trash_path: str) -> None:
    """Have the trash know that a file came back from it."""
    conn.run(_SQL.left_trash, {"library_id": library.id, "trash_path": trash_path})

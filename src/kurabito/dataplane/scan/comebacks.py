"""Paths at which a file is seen again: whether it is the one that was there before."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Final, cast

from kurabito.dataplane.files import births
from kurabito.dataplane.files.births import Birth, Suspect
from kurabito.dataplane.files.walk import Entry
from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.scan.queries import SQL
from kurabito.db import Connection


class Comeback(Enum):
    """What is at a path that was missing."""

    SAME = auto()
    """The file that was there before."""
    OTHER = auto()
    """Another one, which is not known."""
    NONE = auto()
    """Nothing any more: it was taken away after the scan came by."""


# Where the disk does not say when it was made, the same path, inode, size and mtime have to do.
_JUDGED: Final = {
    Birth.BEFORE: Comeback.SAME,
    Birth.UNKNOWN: Comeback.SAME,
    Birth.NEAR: Comeback.OTHER,
    Birth.AFTER: Comeback.OTHER,
    Birth.GONE: Comeback.NONE,
}


def comebacks(
    job: LeasedJob, library: int, folder: Path, seen: list[Entry], known: list[Entry]
) -> Mapping[str, Comeback]:
    """What became of those paths of a chunk that are seen, were not there at the last scan, and are on record."""
    there = {entry[0] for entry in known}
    new = {entry[0]: entry for entry in seen if entry[0] not in there}
    if not new:
        return {}
    stored = job.read(lambda conn: _stored(conn, library, list(new)))
    alike = [path for path, (entry, _) in stored.items() if entry == new[path]]
    found = births.look_up(folder, [Suspect(path, new[path][3], stored[path][1]) for path in alike]) if alike else []
    judged = {path: _JUDGED[birth] for path, birth in zip(alike, found, strict=True)}
    return {path: judged.get(path, Comeback.OTHER) for path in stored}


def _stored(conn: Connection, library: int, paths: list[str]) -> dict[str, tuple[Entry, int]]:
    """The file that is on record for each path, and when it was there."""
    rows = conn.all(SQL.stored_among, {"library": library, "paths": paths})
    return {path: (cast("Entry", (path, *stamp)), known_at) for path, *stamp, known_at in rows}

"""Many files linked at once: one transaction says which, another that they are in their place, and each folder is synced once.

Only the plain case: the file is there as it was seen, its name is free, and a link is possible. Everything else is given back, and
comes in its turn as any placement does. Rows that lost a worker before are not taken along, so that none that costs a data plane
costs others theirs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.placing import store
from kurabito.dataplane.placing.placement_row import LeasedPlacement, MoreRow
from kurabito.dataplane.placing.refusals import PlacementRefused
from kurabito.dataplane.placing.staged_file import can_link_open, link_open
from kurabito.dataplane.placing.store import TargetLibrary
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused, sync
from kurabito.db import Connection
from kurabito.protocol.leased.placements import PlacedBy

T = TypeVar("T")
R = TypeVar("R")

_MOST: Final = 128
"""Each takes three of the files that a process may have open."""
_ONLY: Final = (
    "library_id = :library_id AND mode = 'link' AND replaces_path IS NULL AND lost_leases = 0 AND error_code IS NULL"
)
_EXPECTED: Final = (OSError, RootUnavailable, PathEscapes, RemovalRefused, PlacementRefused)
"""What leaves a file to be placed in its turn."""


@dataclass(frozen=True, slots=True)
class _Found:
    row: MoreRow
    fd: int
    seen: FileStamp


def link_more(row: LeasedPlacement, library: TargetLibrary) -> int:
    """Link more files into the library that a file was linked into a moment ago; how many."""
    if not can_link_open():
        return 0
    rows = row.claim_more(_ONLY, {"library_id": library.id}, _MOST)
    if not rows:
        return 0
    with OpenRoots[str](Path) as roots:
        found = list(_each(rows, lambda more: _look(roots, more)))
        owned = row.intend_more({one.row: (PlacedBy.LINK, one.seen) for one in found})
        linked = list(_each([one for one in found if one.row in owned], lambda one: _link(roots, library, one)))
        _sync_once(roots, [target for _, target in linked])
        placed = {one.row: one for one, target in linked if _is_there(one, target)}

    def enter(conn: Connection, settled: set[MoreRow]) -> None:
        for more in settled:
            store.enter(conn, library, more.values["target_path"], placed[more].seen, None)

    row.settle_more(rows, {more: (PlacedBy.LINK, one.seen) for more, one in placed.items()}, enter)
    return len(placed)


def _each(items: Sequence[T], act: Callable[[T], R | None]) -> Iterator[R]:
    """What came of each, but for those that are not the plain case."""
    for item in items:
        try:
            found = act(item)
        except _EXPECTED:
            continue
        if found is not None:
            yield found


def _look(roots: OpenRoots[str], row: MoreRow) -> _Found | None:
    """The source, open, if it is as it was when this was decided."""
    values = row.values
    if values["source_root"] is None or values["source_path"] is None:
        return None
    file = roots.file(values["source_root"], values["source_path"])
    seen = file.look()
    if seen is None or seen.size != values["size_bytes"] or values["source_mtime_ns"] not in (None, seen.mtime_ns):
        return None
    fd = roots.open_file(file)
    return _Found(row, fd, seen) if FileStamp.of(os.fstat(fd)) == seen else None


def _link(roots: OpenRoots[str], library: TargetLibrary, found: _Found) -> tuple[_Found, FileRef] | None:
    target = roots.file_of_many(str(library.folder), found.row.values["target_path"])
    if target.is_taken():
        return None
    link_open(found.fd, target)
    return found, target


def _is_there(found: _Found, target: FileRef) -> bool:
    """Whether the file is seen by its path, as everybody else does."""
    there = target.find()
    return there is not None and there.file == found.seen.file


def _sync_once(roots: OpenRoots[str], targets: list[FileRef]) -> None:
    """Have the names on the disk, each folder once."""
    roots.sync_made()
    by_folder = {target.folders: target for target in targets}
    sync(*by_folder.values())

"""Many files linked at once: one transaction says which, another that they are in their place, and each folder is synced once.

Only the plain case: the file is there as it was seen, its new name is free or is its own already, and a link is possible.
Everything else is given back, and comes in its turn as any placement does. Rows that lost a worker before are not taken along,
so that none that costs a data plane costs others theirs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Final, TypeVar

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.placing import store
from kurabito.dataplane.placing.placement_row import LeasedPlacement, MoreRow, MoreWanted
from kurabito.dataplane.placing.refusals import PlacementRefused
from kurabito.dataplane.placing.staged_file import can_link_open, link_open
from kurabito.dataplane.placing.store import TargetLibrary
from kurabito.dataplane.removal.file_refs import FileStamp, OpenRoots, RemovalRefused
from kurabito.db import Connection
from kurabito.protocol.leased.placements import PlacedBy

T = TypeVar("T")
R = TypeVar("R")

_MOST: Final = 256
"""Each takes one of the files that a process may have open, and up to two more if it is alone in its folder."""
_LONGEST: Final = 5.0
"""Seconds. The row that was claimed before all of these waits for them, and no thread keeps its lease."""
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
    wanted, until = MoreWanted(_ONLY, {"library_id": library.id}, _MOST), time.monotonic() + _LONGEST
    total, rows = 0, row.claim_more(wanted)
    while rows:
        placed = _link_each(row, library, rows)
        total += len(placed)
        is_last = len(rows) < _MOST or row.wait(0) or time.monotonic() > until
        rows = row.settle_more(
            rows,
            {more: (PlacedBy.LINK, seen) for more, seen in placed.items()},
            _entering(library, placed),
            None if is_last else wanted,
        )
    return total


def _link_each(row: LeasedPlacement, library: TargetLibrary, rows: Sequence[MoreRow]) -> dict[MoreRow, FileStamp]:
    """Link the files of these rows, as far as that is plain; those that are in their place."""
    with OpenRoots[str](Path) as roots:
        found = list(_each(rows, lambda more: _look(roots, more)))
        owned = row.intend_more({one.row: (PlacedBy.LINK, one.seen) for one in found})
        linked = list(_each([one for one in found if one.row in owned], lambda one: _link(roots, library, one)))
        roots.sync_many()
    try:
        # Seen by their paths, as everybody else does: the disk may have gone from there meanwhile.
        with Root(library.folder) as root:
            return dict(_each(linked, lambda one: _see(root, one)))
    except RootUnavailable:
        return {}


def _entering(library: TargetLibrary, placed: dict[MoreRow, FileStamp]) -> Callable[[Connection, set[MoreRow]], None]:
    def enter(conn: Connection, settled: set[MoreRow]) -> None:
        store.enter_many(conn, library, {more.values["target_path"]: placed[more] for more in settled})

    return enter


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
    fd = roots.open_path(values["source_root"], values["source_path"])
    found = os.fstat(fd)
    is_as_expected = found.st_size == values["size_bytes"] and values["source_mtime_ns"] in (None, found.st_mtime_ns)
    return _Found(row, fd, FileStamp.of(found)) if S_ISREG(found.st_mode) and is_as_expected else None


def _link(roots: OpenRoots[str], library: TargetLibrary, found: _Found) -> _Found:
    target = roots.file_of_many(str(library.folder), found.row.values["target_path"])
    try:
        link_open(found.fd, target)
    except FileExistsError:
        there = target.look()
        if there is None or there.file != found.seen.file:
            raise
    return found


def _see(root: Root, linked: _Found) -> tuple[MoreRow, FileStamp] | None:
    fd = root.open_file(linked.row.values["target_path"])
    try:
        there = FileStamp.of(os.fstat(fd))
    finally:
        os.close(fd)
    return (linked.row, linked.seen) if there.file == linked.seen.file else None

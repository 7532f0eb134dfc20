"""A placement whose file takes the place of another: the new file is in its place first, the old one is in the trash then.

Under the same name the two change places by way of the trash; under another name the new file comes into its place as any does,
and the old one goes afterwards. What a crash left is told from the names: the old file is known by its size and time, the new one
by what the row says of it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.placing import store
from kurabito.dataplane.placing.modes import OpenSource, Placed, PlacementModes
from kurabito.dataplane.placing.placement_row import LIBRARY, LeasedPlacement
from kurabito.dataplane.placing.refusals import PlacementRefused
from kurabito.dataplane.placing.staged_file import remove_leftovers
from kurabito.dataplane.placing.store import Retired, TargetLibrary
from kurabito.dataplane.removal import sidecar, successor
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused
from kurabito.dataplane.removal.own_names import drop_name, settle_leftovers, unlink
from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import PlacedBy

REASON: Final = "replaced"
"""Why the old file lies in the trash, as its sidecar says."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a succession is about."""

    old: FileRef
    aside: FileRef
    fresh: FileRef


class Succession:
    """Has the file of one placement take the place of another."""

    def __init__(
        self,
        row: LeasedPlacement,
        library: TargetLibrary,
        roots: OpenRoots[str],
        modes: PlacementModes,
        abandoned: Callable[[set[int]], set[int]],
    ) -> None:
        self._row = row
        self._library = library
        self._roots = roots
        self._modes = modes
        self._abandoned = abandoned
        self._old_path: str = row.values["replaces_path"]
        self._shown = str(library.folder / self._old_path)

    @property
    def keeps_the_name(self) -> bool:
        """Whether the new file gets the very name of the old one."""
        return bool(self._old_path == self._row.values["target_path"])

    def take_place(self, source: OpenSource | None) -> Placed | None:
        """Have the new file under the old one's name; None when the old one is gone, so that the name is free."""
        names = self._names()
        remove_leftovers(names.fresh, self._abandoned)
        settle_leftovers(names.old, names.aside, names.fresh)
        settle_leftovers(names.fresh, names.aside, names.old)
        if (there := self._placed(names.old)) is not None:
            self._put_aside(names)
            return there
        seen = names.old.look()
        if seen is not None and source is not None and seen.file == source.seen.file:
            return Placed(PlacedBy.LINK, seen)
        if seen is None:
            if names.old.is_taken():
                raise PlacementRefused(ErrorCode.TARGET_EXISTS, path=self._shown)
            if not self._is_old(names.aside.look()):
                self._discard(names)
                return None
        elif not self._is_old(seen):
            raise PlacementRefused(ErrorCode.TARGET_EXISTS, path=self._shown, size=seen.size, mtime_ns=seen.mtime_ns)
        return self._exchange(names, source, seen)

    def retire(self, placed: Placed) -> Retired | None:
        """Have the old file in the trash, once the new one was seen in its place; None when the old one is gone or changed."""
        names = self._names()
        if not self.keeps_the_name:
            settle_leftovers(names.old, names.aside)
            seen = names.old.look()
            if seen is not None and self._is_old(seen) and seen.file != placed.seen.file:
                self._note(names, names.old, seen)
                self._row.see_that_it_is_ours()
                successor.retire(names.old, names.aside, seen)
        lying = names.aside.look()
        noted = Sidecar.read(names.aside)
        if lying is None or noted is None or not self._is_old(lying):
            return None
        return Retired(
            id=names.aside.name,
            path=self._old_path,
            trash_path="/".join((*names.aside.folders, names.aside.name)),
            size=lying.size,
            algorithm=noted.hash_algorithm,
            content_hash=noted.content_hash,
        )

    def _exchange(self, names: Names, source: OpenSource | None, old: FileStamp | None) -> Placed:
        """Make the new file beside the old one's name in the trash, and have the two change places."""
        placed = self._placed(names.fresh)
        if placed is None:
            if source is None and not self._row.is_written:
                raise PlacementRefused(ErrorCode.FILE_MISSING, path=self._row.values["source_path"])
            placed = self._modes.put(source, names.fresh)
        if old is None:
            # The old file went to the trash already, where names cannot be swapped.
            successor.move(names.fresh, names.old)
            return placed
        self._note(names, names.old, old)
        self._row.see_that_it_is_ours()
        try:
            successor.change_places(names.fresh, names.old, names.aside, old)
        except (OSError, RemovalRefused):
            self._take_back(names, source)
            raise
        return placed

    def _take_back(self, names: Names, source: OpenSource | None) -> None:
        """Leave nothing in the trash of what did not come into its place; what was moved there stays, and is found again."""
        is_made_again = self._row.is_written or (source is not None and source.file.look() is not None)
        if is_made_again and self._is_old(names.old.look()):
            with suppress(FileNotFoundError):
                unlink(names.fresh)
            sidecar.remove(names.aside)

    def _put_aside(self, names: Names) -> None:
        """What a crash left between the swap and the trash, or of the name that the new file had there."""
        fresh, there = names.fresh.look(), names.old.look()
        if fresh is not None and there is not None and fresh.file == there.file:
            self._row.see_that_it_is_ours()
            drop_name(names.fresh, names.old)
        elif self._is_old(fresh):
            self._row.see_that_it_is_ours()
            successor.move(names.fresh, names.aside)

    def _discard(self, names: Names) -> None:
        """The old file is gone: what was made to take its place has the free name."""
        if self._placed(names.fresh) is not None:
            self._row.see_that_it_is_ours()
            successor.move(names.fresh, names.old)
        sidecar.remove(names.aside)

    def _placed(self, file: FileRef) -> Placed | None:
        """The new file, if it has this name."""
        seen = file.look()
        begun = None if seen is None else self._row.begun(seen)
        return None if seen is None or begun is None else Placed(begun, seen, self._row.values["content_hash"])

    def _is_old(self, seen: FileStamp | None) -> bool:
        values = self._row.values
        expected = values["replaces_size_bytes"], values["replaces_mtime_ns"]
        return seen is not None and (seen.size, seen.mtime_ns) == expected and self._row.begun(seen) is None

    def _names(self) -> Names:
        trash_path = self._roots.trash_path(LIBRARY, self._old_path, self._row.values["trash_id"])
        aside = self._roots.file(LIBRARY, trash_path, create=True)
        old = self._roots.file(LIBRARY, self._old_path, create=True)
        return Names(old, aside, replace(aside, name=aside.name + successor.FRESH))

    def _note(self, names: Names, file: FileRef, seen: FileStamp) -> None:
        """Lay beside the place in the trash what the file is and where it was."""
        if Sidecar.read(names.aside) is not None:
            return
        digest = self._row.read(lambda conn: store.known_hash(conn, self._library, self._old_path, seen))
        above = "/".join(names.aside.folders[:-1])
        Sidecar(
            path=self._old_path.removeprefix(above + "/") if above else self._old_path,
            size_bytes=seen.size,
            mtime_ns=seen.mtime_ns,
            hash_algorithm=self._library.algorithm,
            content_hash=digest or self._hash(file, seen),
            trashed_at=self._row.read(lambda conn: conn.now()),
            library=str(self._library.folder),
            reason=REASON,
            kept_path=str(self._library.folder / self._row.values["target_path"]),
            plan_id=None,
        ).write(names.aside)

    def _hash(self, file: FileRef, seen: FileStamp) -> bytes:
        fd = self._roots.open_file(file)
        reader = Reader(mapped=False)
        begun = reader.begin(self._library.algorithm)
        while not reader.read_on(begun, fd, seen.size, 0):
            # After each block: the row may be another's by now.
            self._row.check()
        return begun.digest()[0]

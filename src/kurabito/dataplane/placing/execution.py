"""One placement: what has its name already, which mode is possible, and what is done then.

    look      at the source, and at what has the final name already    (nothing changed)
    make      the file beside its place, if a link does not do         (no final name yet)
    intent    in a transaction that holds only with the lease          (which file is about to get the name)
    publish   the name appears, unless it is taken
    see       by its path from the library's folder, that it is there

A crash after the intent is found by the worker that takes the placement next: the file that has the name is the one that the
intent tells of, or it is another's.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.placing import store
from kurabito.dataplane.placing.modes import OpenSource, Placed, PlacementModes
from kurabito.dataplane.placing.placement_row import LIBRARY, SOURCE, LeasedPlacement
from kurabito.dataplane.placing.refusals import PlacementRefused, refusal_of
from kurabito.dataplane.placing.staged_file import remove_leftovers
from kurabito.dataplane.placing.store import Retired, TargetLibrary
from kurabito.dataplane.placing.succession import Succession
from kurabito.dataplane.removal import sidecar
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused, sync
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import PlacedBy, PlacementMode

_LEAVES: Final = frozenset({PlacementMode.MOVE, PlacementMode.RENAME})
"""The source is gone afterwards."""


class PlacementExecution:
    """One placement, from the first look to the file in its place."""

    def __init__(self, row: LeasedPlacement, library: TargetLibrary, roots: OpenRoots[str]) -> None:
        self._row = row
        self._library = library
        self._roots = roots
        self._mode = PlacementMode(row.values["mode"])
        self._target_path: str = row.values["target_path"]
        self._shown = str(library.folder / self._target_path)
        self._modes = PlacementModes(row, roots, source_shown=self._source_shown, target_shown=self._shown)
        replaces = row.values["replaces_path"]
        self._succession = None if replaces is None else Succession(row, library, roots, self._modes, self._abandoned)

    def run(self) -> tuple[Placed, Retired | None]:
        """Bring the file into its place; what went to the trash for it. Raises PlacementRefused, or OSError."""
        self._refuse_empty_folder()
        source = self._open_source()
        succession = self._succession
        placed = self._take_place(succession, source) if succession and succession.keeps_the_name else None
        placed = placed or self._place(source)
        if self._mode is PlacementMode.RENAME:
            self._roots.remove_empty(LIBRARY, self._row.values["source_path"])
        elif self._mode is PlacementMode.MOVE and self._row.values["source_root"] is not None:
            self._roots.remove_empty(SOURCE, self._row.values["source_path"])
        if self._row.leaves_trash:
            sidecar.remove(self._roots.file(LIBRARY, self._row.values["source_path"]))
        return placed, succession.retire(placed) if succession else None

    def _take_place(self, succession: Succession, source: OpenSource | None) -> Placed | None:
        if source is not None:
            self._refuse_changed(source)
        placed = succession.take_place(source)
        if placed is None:
            return None
        target = self._open_target()
        if self._mode in _LEAVES:
            is_left = source is not None and source.file.is_taken()
            self._modes.take_source_away(source if is_left else None, target)
        return self._see(target, placed)

    def _place(self, source: OpenSource | None) -> Placed:
        if (there := self._find_placed(source)) is not None:
            return there
        if self._row.values["is_placed"]:
            raise PlacementRefused(ErrorCode.FILE_MISSING, path=self._shown)
        if source is None and self._mode is not PlacementMode.WRITE:
            raise PlacementRefused(ErrorCode.FILE_MISSING, path=self._source_shown)
        if source is not None:
            self._refuse_changed(source)
        target = self._open_target()
        remove_leftovers(target, self._abandoned)
        try:
            placed = self._modes.put(source, target)
        except FileExistsError:
            # Another file got the name in the last moment, perhaps of the same content.
            if (there := self._find_placed(source)) is None:
                raise PlacementRefused(ErrorCode.TARGET_EXISTS, path=self._shown) from None
            return there
        return self._see(target, placed)

    def _refuse_empty_folder(self) -> None:
        """An empty folder of a library that has files is that of a disk that is not mounted: nothing is put there."""
        folder = self._library.folder
        try:
            with os.scandir(folder) as entries:
                if next(entries, None) is None and self._library.has_files:
                    raise PlacementRefused(ErrorCode.ROOT_EMPTY, folder=str(folder))
        except OSError as problem:
            raise PlacementRefused(ErrorCode.ROOT_UNAVAILABLE, folder=str(folder), problem=problem.strerror) from None

    @property
    def _source_shown(self) -> str:
        root = self._row.values["source_root"] or str(self._library.folder)
        return f"{root}/{self._row.values['source_path']}"

    def _open_source(self) -> OpenSource | None:
        """The source, open; None when there is none, or it is not there."""
        values = self._row.values
        if values["source_path"] is None:
            return None
        try:
            file = self._roots.file(self._row.source_root, values["source_path"])
            seen = file.look()
            if seen is None:
                return None
            fd = self._roots.open_file(file)
        except FileNotFoundError:
            return None
        except RootUnavailable:
            raise PlacementRefused(ErrorCode.ROOT_UNAVAILABLE, folder=values["source_root"]) from None
        except OSError as problem:
            raise refusal_of(problem, self._source_shown) from None
        return OpenSource(file, fd, seen)

    def _open_target(self) -> FileRef:
        try:
            return self._roots.file(LIBRARY, self._target_path)
        except FileNotFoundError:
            self._row.see_that_it_is_ours()
            return self._roots.file(LIBRARY, self._target_path, create=True)

    def _abandoned(self, placement_ids: set[int]) -> set[int]:
        over = self._row.read(lambda conn: store.abandoned(conn, placement_ids))
        if self._row.id in placement_ids:
            # An earlier owner of this very placement left it.
            self._row.see_that_it_is_ours()
            over.add(self._row.id)
        return over

    def _refuse_changed(self, source: OpenSource) -> None:
        expected = self._row.values["size_bytes"], self._row.values["source_mtime_ns"]
        found = source.seen.size, source.seen.mtime_ns
        is_as_expected = found[0] == expected[0] and expected[1] in (None, found[1])
        if not is_as_expected or FileStamp.of(os.fstat(source.fd)) != source.seen:
            raise PlacementRefused(ErrorCode.FILE_CHANGED, path=self._source_shown)

    def _find_placed(self, source: OpenSource | None) -> Placed | None:
        """What has the final name already, if that is this file or its equal; raises PlacementRefused for any other."""
        try:
            target = self._roots.file(LIBRARY, self._target_path)
        except FileNotFoundError:
            return None
        if not target.is_taken():
            return None
        seen = target.look()
        placed = None if seen is None else self._recognize(source, target, seen)
        if placed is None:
            found = {} if seen is None else {"size": seen.size, "mtime_ns": seen.mtime_ns}
            raise PlacementRefused(ErrorCode.TARGET_EXISTS, path=self._shown, **found)
        if self._mode in _LEAVES:
            if source is not None:
                # Once the source is gone, only this tells a successor that the file is the one.
                self._row.intend(placed.method, placed.seen, placed.content_hash)
            self._modes.take_source_away(source, target)
        # A crash may have come between the name and the hidden one.
        remove_leftovers(target, self._abandoned)
        sync(target)
        return placed

    def _recognize(self, source: OpenSource | None, target: FileRef, seen: FileStamp) -> Placed | None:
        if (begun := self._row.begun(seen)) is not None:
            return Placed(begun, seen, self._row.values["content_hash"])
        if source is None:
            content = self._row.values["content"]
            is_equal = content is not None and seen.size == len(content) and _content(target) == bytes(content)
            return Placed(PlacedBy.FOUND, seen) if is_equal else None
        if seen.file == source.seen.file:
            # What leaves its place by a link and the removal of the old name was interrupted in between.
            return Placed(PlacedBy(self._mode) if self._mode in _LEAVES else PlacedBy.LINK, seen)
        if self._mode is PlacementMode.RENAME or seen.size != source.seen.size:
            return None
        return Placed(PlacedBy.FOUND, seen) if self._modes.is_equal(source, target) else None

    def _see(self, target: FileRef, placed: Placed) -> Placed:
        """See the file by its path, as everybody else does: the disk may have gone from there meanwhile."""
        found = target.find()
        if found is None or found.file != placed.seen.file:
            raise PlacementRefused(ErrorCode.ROOT_UNAVAILABLE, folder=str(self._library.folder))
        return placed


def execute(row: LeasedPlacement) -> tuple[TargetLibrary, Placed, Retired | None]:
    """Bring the file of a placement into its place, and what it replaces into the trash; raises PlacementRefused."""
    library_id = row.values["library_id"]
    library = row.read(lambda conn: store.library_of(conn, library_id))
    if library is None:
        raise PlacementRefused(ErrorCode.LIBRARY_REMOVED, library=library_id)
    folders = {LIBRARY: library.folder, SOURCE: Path(row.values["source_root"] or library.folder)}
    shown = str(library.folder / row.values["target_path"])
    try:
        with OpenRoots[str](folders.__getitem__) as roots:
            return library, *PlacementExecution(row, library, roots).run()
    except RootUnavailable:
        raise PlacementRefused(ErrorCode.ROOT_UNAVAILABLE, folder=str(library.folder)) from None
    except PathEscapes as problem:
        raise PlacementRefused(ErrorCode.PATH_ESCAPES, path=shown, problem=str(problem)) from None
    except RemovalRefused as refused:
        raise PlacementRefused(refused.error_code, path=shown, problem=str(refused)) from None
    except OSError as problem:
        raise refusal_of(problem, shown) from None


def _content(file: FileRef) -> bytes:
    fd = file.open()
    with os.fdopen(fd, "rb") as opened:
        return opened.read()

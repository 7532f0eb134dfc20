"""Taking surplus copies away, one by one, each only after it was compared byte for byte with the copy that stays.

Nothing is destroyed: a copy is moved into a trash folder on its own file system, under the path that it had. Who wants it back
moves it back; who wants the room removes the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kurabito.dataplane.errors import DiskError
from kurabito.dataplane.files.paths import check_relative
from kurabito.dataplane.files.walk import Entry, signed
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused, Stranded
from kurabito.dataplane.removal.moves import move_to_trash
from kurabito.dataplane.removal.pairs import Pair, open_pair
from kurabito.dataplane.search.found import File, path_of
from kurabito.dataplane.search.search import EqualFiles
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.error_codes import ErrorCode


@dataclass(frozen=True, slots=True)
class SurplusRemoval:
    """What is planned for one group."""

    size: int
    kept: File
    surplus: tuple[File, ...]

    @property
    def freed(self) -> int:
        return self.size * len({entry[3:] for _, entry in self.surplus})


def plan(groups: Iterable[EqualFiles]) -> Iterator[SurplusRemoval]:
    """Which copy of each group stays: of the path that was given first, and of those the oldest.

    Other names of the copy that stays take no room, and stay too. What lies in a trash is neither kept nor removed.
    """
    for group in groups:
        files = [file for file in group.files if not _is_in_trash(file)]
        if not files:
            continue
        kept = min(files, key=_preference)
        surplus = tuple(file for file in files if file[1][3:] != kept[1][3:])
        if surplus:
            yield SurplusRemoval(group.size, kept, surplus)


def _preference(file: File) -> tuple[int, int, str]:
    root, entry = file
    return root.rank(entry[0]), entry[2], path_of(file)


def _is_in_trash(file: File) -> bool:
    root, entry = file
    return TRASH_FOLDER in root.real.split("/") or TRASH_FOLDER in entry[0].split("/")


class SurplusTrash:
    """Moves copies into trash folders, one for each file system, all under the same new name."""

    def __init__(self, moment: datetime) -> None:
        self._name = f"{moment:%Y%m%d-%H%M%S}-{os.getpid()}"
        self.folders: dict[str, int] = {}
        """The folders that were used, and how many files went there."""

    def take(self, surplus: File, kept: File) -> None:
        """Move a copy away, if it is one at this very moment; raises RemovalRefused, and the copy is where it was."""
        path = path_of(surplus)
        try:
            with OpenRoots[str](Path) as roots:
                self._take(roots, surplus, kept)
        except Stranded as problem:
            raise RemovalRefused(problem.error_code, f"{path}: {problem}") from None
        except OSError as problem:
            raise RemovalRefused(ErrorCode.DISK_FAILURE, f"{path} stays: {problem.strerror}") from None
        except DiskError as problem:
            raise RemovalRefused(ErrorCode.FILE_CHANGED, f"{path} stays: {problem}") from None

    def _take(self, roots: OpenRoots[str], surplus: File, kept: File) -> None:
        root, (relative_path, *_) = surplus
        pair = _open(roots, surplus, kept)
        pair.compare()
        parts = check_relative(relative_path)
        top = roots.top(root.folder, relative_path)
        trash_path = roots.trash_path(root.folder, relative_path, self._name, *parts[top:])
        trash = roots.file(root.folder, trash_path, create=True)
        try:
            move_to_trash(pair, trash)
        except BaseException:
            _remove_empty_folders(trash)
            raise
        used = root.shown("/".join([*parts[:top], TRASH_FOLDER, self._name]))
        self.folders[used] = self.folders.get(used, 0) + 1


def _open(roots: OpenRoots[str], surplus: File, kept: File) -> Pair:
    """Both files, if they are still what the search read."""
    source, staying = (roots.file(root.folder, entry[0]) for root, entry in (surplus, kept))
    pair = open_pair(roots, source, staying)
    for (_, entry), seen, file in ((surplus, pair.source_seen, source), (kept, pair.kept_seen, staying)):
        if not _is(seen, entry):
            raise RemovalRefused(ErrorCode.FILE_CHANGED, f"{file.shown} changed since it was read")
    return pair


def _is(seen: FileStamp, entry: Entry) -> bool:
    return (seen.size, seen.mtime_ns, signed(seen.inode), signed(seen.device)) == entry[1:]


def _remove_empty_folders(trash: FileRef) -> None:
    """Leave no empty trash behind where nothing was taken."""
    folder = Path(trash.shown).parent
    for _ in trash.in_trash or ():
        try:
            folder.rmdir()
        except OSError:
            # It is not empty, or not ours to remove.
            return
        folder = folder.parent

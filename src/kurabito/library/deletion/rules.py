"""Which copy of a group is kept.

Rules are preferences in an order: the first that tells two copies apart decides, and at the end the file that was known first.
A protected folder is no preference. Nothing in it is ever removed, and if a group has files there, one of them is the kept one.
A copy that a person chose stays, whatever the rules say; files in a protected folder stay beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kurabito.errors import InvalidInput
from kurabito.library.duplicates.groups import GroupFile
from kurabito.protocol.deletion import TRASH_FOLDER


class KeepRule(StrEnum):
    """What makes a copy the better one."""

    OLDEST = "oldest"
    NEWEST = "newest"
    SHORTEST_PATH = "shortest_path"
    IN_LIBRARY = "in_library"


class KeepReason(StrEnum):
    """Why a file goes: what made another copy the kept one."""

    KEPT_IS_PROTECTED = "kept_is_protected"
    KEPT_IS_OLDER = "kept_is_older"
    KEPT_IS_NEWER = "kept_is_newer"
    KEPT_HAS_SHORTER_PATH = "kept_has_shorter_path"
    KEPT_IS_IN_LIBRARY = "kept_is_in_library"
    KEPT_WAS_KNOWN_FIRST = "kept_was_known_first"
    KEPT_WAS_CHOSEN = "kept_was_chosen"


_REASONS = {
    KeepRule.OLDEST: KeepReason.KEPT_IS_OLDER,
    KeepRule.NEWEST: KeepReason.KEPT_IS_NEWER,
    KeepRule.SHORTEST_PATH: KeepReason.KEPT_HAS_SHORTER_PATH,
    KeepRule.IN_LIBRARY: KeepReason.KEPT_IS_IN_LIBRARY,
}


@dataclass(frozen=True, slots=True)
class Preference:
    """A rule, with the library that it is about if it is about one."""

    rule: KeepRule
    library_id: int | None = None

    def __post_init__(self) -> None:
        if (self.rule is KeepRule.IN_LIBRARY) is (self.library_id is None):
            raise InvalidInput("keep", "in_library needs a library_id, and no other rule takes one")

    def rank(self, file: GroupFile) -> int:
        """The smaller is kept."""
        match self.rule:
            case KeepRule.OLDEST:
                return file.mtime_ns
            case KeepRule.NEWEST:
                return -file.mtime_ns
            case KeepRule.SHORTEST_PATH:
                return len(file.relative_path)
            case KeepRule.IN_LIBRARY:
                return int(file.library_id != self.library_id)


@dataclass(frozen=True, slots=True)
class ProtectedFolder:
    """A folder that is never touched; the empty path is the whole library."""

    library_id: int
    folder: str = ""

    def __post_init__(self) -> None:
        if self.folder and any(part in ("", ".", "..") for part in self.folder.split("/")):
            raise InvalidInput(
                "protected", f"a folder is a path below its library like 'films/best', got {self.folder!r}"
            )

    def holds(self, file: GroupFile) -> bool:
        if file.library_id != self.library_id:
            return False
        return not self.folder or file.relative_path.startswith(self.folder + "/")


@dataclass(frozen=True, slots=True)
class PlannedRemoval:
    """One file that goes, and the one that stays for it."""

    file: GroupFile
    kept: GroupFile
    reason: KeepReason


@dataclass(frozen=True, slots=True)
class KeepRules:
    """The user's rules for which copy to keep."""

    keep: tuple[Preference, ...] = (Preference(KeepRule.OLDEST),)
    protected: tuple[ProtectedFolder, ...] = ()
    chosen: tuple[int, ...] = ()
    """Files that stay, each the one of its group, by their ids."""

    def removals(self, files: Sequence[GroupFile]) -> list[PlannedRemoval]:
        """What goes of the files of one group. Another name of a file that stays is left alone: it takes no room.

        What lies in a trash is neither kept nor removed, however it came to be known.
        """
        files = _outside_trash(files)
        if (kept := self.kept(files)) is None:
            return []
        staying = {identity(kept), *(identity(file) for file in files if self.is_protected(file))}
        return [PlannedRemoval(file, kept, self._reason(file, kept)) for file in files if identity(file) not in staying]

    def kept(self, files: Sequence[GroupFile]) -> GroupFile | None:
        """The copy of a group that stays."""
        files = _outside_trash(files)
        chosen = [file for file in files if file.id in self.chosen]
        guarded = [file for file in files if self.is_protected(file)]
        return min(chosen or guarded or files, key=self._order, default=None)

    def is_protected(self, file: GroupFile) -> bool:
        return any(folder.holds(file) for folder in self.protected)

    def _order(self, file: GroupFile) -> tuple[int, ...]:
        return (*(preference.rank(file) for preference in self.keep), file.id)

    def _reason(self, file: GroupFile, kept: GroupFile) -> KeepReason:
        if kept.id in self.chosen:
            return KeepReason.KEPT_WAS_CHOSEN
        if self.is_protected(kept):
            return KeepReason.KEPT_IS_PROTECTED
        for preference in self.keep:
            if preference.rank(file) != preference.rank(kept):
                return _REASONS[preference.rule]
        return KeepReason.KEPT_WAS_KNOWN_FIRST


def _outside_trash(files: Sequence[GroupFile]) -> list[GroupFile]:
    return [file for file in files if TRASH_FOLDER not in file.relative_path.split("/")]


def identity(file: GroupFile) -> tuple[Any, ...]:
    """What makes two paths one file. Without that knowledge, each path is its own file."""
    return (file.id,) if file.inode is None or file.device is None else (file.device, file.inode)


def freed_bytes(removals: Sequence[PlannedRemoval]) -> int:
    """How much room the removals give back: each file counts once, however many of its names go."""
    return sum({identity(removal.file): removal.file.size_bytes for removal in removals}.values())

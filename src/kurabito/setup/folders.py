"""The folders of this machine that a keeper may choose from.

The boundary: what is shown lies below a root. The roots are those of the setting `browse_roots`; without it, where people
keep their data (`/data`, `/media`, `/mnt`, `/srv`, `/volume1`, the home folder) and every disk or share that is mounted elsewhere.
Folders of the system, hidden folders, the state folder and links are never shown, and a path with a link in it is not
opened: it could lead out of the roots. Names are all that is told: no file, no size, no date.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_USUAL: Final = ("/data", "/media", "/mnt", "/srv", "/volume1", "/volumes", "/storage", "/Volumes")
_SYSTEM: Final = tuple(
    map(
        Path,
        (
            "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/lost+found", "/proc", "/root", "/run",
            "/sbin", "/snap", "/sys", "/tmp", "/usr", "/var",  # noqa: S108 - not shown
        ),
    )
)  # fmt: skip
_DISKS: Final = frozenset(
    {
        "9p", "afs", "apfs", "bcachefs", "btrfs", "ceph", "cifs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fuse.mergerfs",
        "fuse.rclone", "fuse.sshfs", "fuseblk", "hfsplus", "jfs", "nfs", "nfs4", "ntfs", "ntfs3", "smb3", "vfat", "virtiofs",
        "xfs", "zfs",
    }
)  # fmt: skip
MOST: Final = 1000
"""Folders that are listed at a time."""


@dataclass(frozen=True, slots=True)
class FolderChoice:
    """A folder and what is in it; without a folder, the roots."""

    path: Path | None
    parent: Path | None
    """One step back; None at the roots."""
    folders: Sequence[Path]
    problem: str | None = None
    """Why it cannot be opened."""
    is_cut: bool = False
    """There are more folders than are listed."""


class FolderBrowser:
    """Lists folders below the roots. It reads the disk, so its methods are called from threads."""

    def __init__(self, chosen: Iterable[Path] = (), hidden: Iterable[Path] = ()) -> None:
        self._chosen = tuple(chosen)
        self._hidden = tuple(path.resolve() for path in hidden)

    def roots(self) -> list[Path]:
        """Where to begin. What was chosen is shown wherever it is; else nothing of the system is."""
        if self._chosen:
            return sorted({path for path in self._chosen if _is_folder(path)})
        candidates = {Path(path) for path in _USUAL} | {Path.home()} | set(mounted())
        found = {path for path in candidates if _is_folder(path) and not _is_of_system(path)}
        # One inside another is reached through it.
        return sorted(
            path for path in found if not any(path != other and path.is_relative_to(other) for other in found)
        )

    def look(self, path: str) -> FolderChoice:
        """What is in a folder; the roots for a path that is not below one."""
        roots = self.roots()
        folder = Path(path) if path else None
        if folder is None or not self._may_show(folder, roots):
            return FolderChoice(None, None, roots)
        parent = None if folder in roots else folder.parent
        try:
            with os.scandir(folder) as entries:
                names = sorted(
                    (entry.name for entry in entries if self._is_shown(entry)), key=lambda name: (name.casefold(), name)
                )
        except OSError as error:
            return FolderChoice(folder, parent, (), problem=error.strerror or str(error))
        return FolderChoice(folder, parent, [folder / name for name in names[:MOST]], is_cut=len(names) > MOST)

    def _may_show(self, folder: Path, roots: Sequence[Path]) -> bool:
        """Whether a folder lies below a root, and no link or `..` leads to it."""
        if not folder.is_absolute() or ".." in folder.parts or "\0" in str(folder):
            return False
        root = next((root for root in roots if folder.is_relative_to(root)), None)
        if root is None or any(part.startswith(".") for part in folder.relative_to(root).parts):
            return False
        try:
            inside = folder.resolve().is_relative_to(root.resolve()) and folder.resolve() == root.resolve() / (
                folder.relative_to(root)
            )
        except (OSError, RuntimeError):
            return False
        return inside and not any(folder.resolve().is_relative_to(hidden) for hidden in self._hidden)

    def _is_shown(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith(".") or not entry.name.isprintable():
            return False
        try:
            return entry.is_dir(follow_symlinks=False) and Path(entry.path).resolve() not in self._hidden
        except OSError:
            return False


def mounted(table: Path = Path("/proc/self/mounts")) -> list[Path]:
    """Where disks and shares are mounted, but for the root of the system; none where the system does not tell."""
    try:
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        parts = line.split(" ")
        if len(parts) > 2 and parts[2] in _DISKS and parts[1] != "/":
            found.append(Path(parts[1].encode("latin-1", "replace").decode("unicode_escape")))
    return [path for path in found if not _is_of_system(path)]


def _is_of_system(path: Path) -> bool:
    return path == Path("/") or any(path.is_relative_to(system) for system in _SYSTEM)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False

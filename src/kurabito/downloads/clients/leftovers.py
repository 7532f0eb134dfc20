"""Removing what a download left, for programs that do not do it themselves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def remove_files(folder: Path, files: Iterable[Path]) -> None:
    """Remove these files where they lie below the folder, and the folders that are empty then."""
    if not folder.is_dir():
        # It is on another machine, or it was never made.
        return
    root = folder.resolve()
    for file in files:
        place = (root / file).parent.resolve()
        # A link or a `..` on the way may lead out of the folder.
        if not place.is_relative_to(root):
            continue
        target = place / file.name
        if target.is_file() or target.is_symlink():
            target.unlink()
        _remove_empty(place, root)
    _remove_empty(root, root)


def _remove_empty(place: Path, root: Path) -> None:
    while place.is_relative_to(root) and place.is_dir() and not any(place.iterdir()):
        place.rmdir()
        place = place.parent

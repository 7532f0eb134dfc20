"""Whether there is room for what is to come."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from kurabito.downloads.clients.sources import SourceRefused

_ENOUGH: Final = 64 << 20


def has_room(folder: Path, size: int) -> bool:
    """Whether it is worth going on with what needs so many more bytes: all of it fits, or a good deal."""
    try:
        return _free(folder)[1] >= min(size, _ENOUGH)
    except OSError:
        return False


def check_room(folder: Path, size: int) -> None:
    """Raise Refused when so many bytes do not fit on the disk of a folder, which need not be there yet."""
    there, free = _free(folder)
    if size > free:
        raise SourceRefused(f"there is no room: it needs {size >> 20} MiB, and {there} has {free >> 20} MiB left")


def _free(folder: Path) -> tuple[Path, int]:
    """The folder, or what there is of it yet, and how many bytes are free there."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return there, shutil.disk_usage(there).free

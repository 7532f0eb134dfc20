"""Whether there is room for what is to come."""

from __future__ import annotations

import shutil
from pathlib import Path

from kurabito.downloads.clients.taking import Refused


def check_room(folder: Path, size: int) -> None:
    """Raise Refused when so many bytes do not fit on the disk of a folder, which need not be there yet."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(there).free
    if size > free:
        raise Refused(f"there is no room: it needs {size >> 20} MiB, and {there} has {free >> 20} MiB left")

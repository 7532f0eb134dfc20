"""Whether there is room on the disk for what is to be downloaded."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Final

_GIB: Final = 1 << 30
NO_ROOM: Final = (
    "not enough room: it needs {:.1f} GiB, and {:.1f} GiB are left beside what is under way and the reserve"
)


class Room:
    """The disk with the folder for downloads; `reserve` bytes of it stay free."""

    def __init__(self, root: Path, reserve: int) -> None:
        self._root = root
        self._reserve = reserve

    async def free(self) -> int | None:
        """How many bytes can be taken; None where the folder is not to be seen from here, as on another machine."""
        try:
            return (await asyncio.to_thread(shutil.disk_usage, self._root)).free - self._reserve
        except OSError:
            return None


def no_room(needed: int, left: int) -> str:
    """Why something waits."""
    return NO_ROOM.format(needed / _GIB, max(0, left) / _GIB)

"""Whether there is room on the disk for what is to be downloaded."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from kurabito.downloads.reasons import DownloadReason, because
from kurabito.reasons import Reason


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


def no_room(needed: int, left: int) -> Reason[DownloadReason]:
    """Why something waits."""
    return because(DownloadReason.NO_ROOM, needed_bytes=needed, left_bytes=max(0, left))

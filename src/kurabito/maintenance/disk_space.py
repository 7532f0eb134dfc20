"""Whether a disk has room for what is written to it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kurabito.attention import Severity
from kurabito.clock import Clock, SystemClock

MB: Final = 1_000_000
_TOO_LITTLE: Final = 100 * MB
_LITTLE: Final = 1_000 * MB
_KNOWN_FOR: Final = 15.0
_PATIENCE: Final = 0.3


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """The room on the disk of a folder."""

    folder: Path
    free: int
    """In bytes."""
    total: int = 0

    @property
    def severity(self) -> Severity:
        if self.free < _TOO_LITTLE:
            return Severity.BROKEN
        return Severity.WARNING if self.free < _LITTLE else Severity.OK


def disk_space(folder: Path) -> DiskSpace:
    """The room for a folder, which need not exist yet."""
    room = shutil.disk_usage(nearest(folder))
    return DiskSpace(folder, room.free, room.total)


def disks(folders: Iterable[Path]) -> list[DiskSpace]:
    """The disks of these folders, each once and under the first folder on it. A folder that is not there is left out."""
    found: dict[int, DiskSpace] = {}
    for folder in folders:
        try:
            device = folder.stat().st_dev
            if device not in found and (room := disk_space(folder)).total:
                # A file system that has no size is not full.
                found[device] = room
        except OSError:
            continue
    return list(found.values())


class DiskReport:
    """The disks of folders, looked at now and then. A share that does not answer keeps no reader waiting."""

    def __init__(self, clock: Clock | None = None, known_for: float = _KNOWN_FOR) -> None:
        self._clock = clock or SystemClock()
        self._known_for = known_for
        self._looking: asyncio.Task[list[DiskSpace]] | None = None
        self._looked_at = -known_for
        self._known: Sequence[DiskSpace] = ()

    async def look(self, folders: Iterable[Path]) -> Sequence[DiskSpace]:
        """The disks as they are, or as they were a moment ago."""
        if self._looking is None and self._clock.monotonic() - self._looked_at >= self._known_for:
            self._looking = asyncio.create_task(asyncio.to_thread(disks, list(folders)))
        if (looking := self._looking) is not None:
            await asyncio.wait({looking}, timeout=_PATIENCE)
            # Of several readers that waited for it, the first one takes the answer.
            if looking.done() and looking is self._looking:
                self._known, self._looked_at, self._looking = looking.result(), self._clock.monotonic(), None
        return self._known


def nearest(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())

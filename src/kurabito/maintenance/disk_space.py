"""Whether a disk has room for what is written to it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kurabito.attention import Severity

MB: Final = 1_000_000
_TOO_LITTLE: Final = 100 * MB
_LITTLE: Final = 1_000 * MB


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """The room on the disk of a folder."""

    folder: Path
    free: int
    """In bytes."""

    @property
    def severity(self) -> Severity:
        if self.free < _TOO_LITTLE:
            return Severity.BROKEN
        return Severity.WARNING if self.free < _LITTLE else Severity.OK


def disk_space(folder: Path) -> DiskSpace:
    """The room for a folder, which need not exist yet."""
    return DiskSpace(folder, shutil.disk_usage(nearest(folder)).free)


def nearest(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())

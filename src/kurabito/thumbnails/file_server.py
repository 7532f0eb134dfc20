"""The files of the thumbnails, served from their folder."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.protocol.enums import ThumbnailFormat, ThumbnailStatus
from kurabito.thumbnails.admission import Thumbnails
from kurabito.thumbnails.errors import ThumbnailNotReady

_MEDIA_TYPES: Final = {ThumbnailFormat.JPEG: "image/jpeg", ThumbnailFormat.WEBP: "image/webp"}


class Picture(NamedTuple):
    """A picture that can be shown."""

    path: Path
    media_type: str


class Pictures:
    """The pictures in one folder. Nothing outside it is ever given, whatever a row says."""

    def __init__(self, thumbnails: Thumbnails, folder: Path) -> None:
        self._thumbnails = thumbnails
        self._folder = folder

    async def find(self, key: str) -> Picture:
        """The picture with this key; raises ThumbnailNotFound or ThumbnailNotReady."""
        thumbnail = await self._thumbnails.get(key)
        if thumbnail.status is not ThumbnailStatus.READY:
            raise ThumbnailNotReady(f"the thumbnail {key} is {thumbnail.status}; ask again later")
        path = await asyncio.to_thread(self._whole, thumbnail.output_path, thumbnail.bytes_size)
        if path is None:
            await self._thumbnails.draw_again(key)
            raise ThumbnailNotReady(f"the picture of the thumbnail {key} is lost, and is drawn again; ask again later")
        return Picture(path, _MEDIA_TYPES[thumbnail.format])

    def _whole(self, output_path: str, size: int | None) -> Path | None:
        """The file that a path below the folder leads to, if it lies there and a power cut left all of it."""
        try:
            folder = self._folder.resolve(strict=True)
            path = (folder / output_path).resolve(strict=True)
            found = path.stat()
        except (OSError, RuntimeError, ValueError):
            return None
        is_ours = path.is_relative_to(folder) and stat.S_ISREG(found.st_mode)
        return path if is_ours and found.st_size == size else None

"""The source of a thumbnail, and the names that follow from it.

A key stands for one picture for ever: it names the file, its content, and how it is drawn. A file that changed so gets another
picture, and one that did not is never drawn twice.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from kurabito.errors import InvalidInput
from kurabito.protocol.enums import MediaType, ThumbnailFormat
from kurabito.protocol.leased.thumbnails import LARGEST, SMALLEST

_VERSION: Final = 1
"""Changes when the same file would be drawn differently."""
_KEY_LENGTH: Final = 40
_SUFFIXES: Final = {ThumbnailFormat.JPEG: "jpg", ThumbnailFormat.WEBP: "webp"}
_KINDS: Final = {
    **dict.fromkeys("jpg jpeg jpe jfif png gif webp bmp tif tiff avif heic heif jxl".split(), MediaType.IMAGE),
    **dict.fromkeys(
        "mkv mp4 m4v avi mov webm ts m2ts mts mpg mpeg vob wmv asf flv ogv ogm 3gp rm rmvb divx".split(),
        MediaType.VIDEO,
    ),
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a picture is drawn."""

    max_dimension: int = 320
    format: ThumbnailFormat = ThumbnailFormat.JPEG

    def __post_init__(self) -> None:
        if not SMALLEST <= self.max_dimension <= LARGEST:
            raise InvalidInput("max_dimension", f"must be from {SMALLEST} to {LARGEST}, got {self.max_dimension}")


@dataclass(frozen=True, slots=True)
class PictureSource:
    """A file to be drawn, as it is known now."""

    file_id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int
    group: str | None
    """`blake3:…` or `sha256:…`, once its content is known."""

    @property
    def media_type(self) -> MediaType | None:
        """What there is to draw; None when that is nothing."""
        return media_type_of(self.relative_path)

    @property
    def group_key(self) -> str:
        """Which pictures are removed together."""
        return self.group or f"file:{self.file_id}"


def media_type_of(path: str) -> MediaType | None:
    """What a file is by its name; None when it is neither image nor video."""
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return _KINDS.get(suffix.lower()) if stem else None


def thumb_key(source: PictureSource, drawing: Drawing) -> str:
    """The name of the picture of a file as it is now."""
    content = source.group or f"{source.size_bytes}:{source.mtime_ns}"
    named = (_VERSION, source.file_id, content, drawing.max_dimension, drawing.format.value)
    return hashlib.sha256("\n".join(map(str, named)).encode()).hexdigest()[:_KEY_LENGTH]


def output_path(key: str, drawing: Drawing) -> str:
    """Where a picture goes, below the folder of all of them; no folder gets too many."""
    return f"{key[:2]}/{key}.{_SUFFIXES[drawing.format]}"

"""What sort of picture a file is, by its first bytes: names and headers may be wrong."""

from __future__ import annotations

from typing import Final

_BEGINNINGS: Final = (
    (b"\xff\xd8\xff", "jpg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)
_AVIF_BRANDS: Final = (b"avif", b"avis")
MEDIA_TYPES: Final = {
    "jpg": "image/jpeg",
    "png": "image/png",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
}
"""By the extension that a picture gets. No SVG: it can carry a program."""


def picture_type(content: bytes) -> str | None:
    """The extension that belongs to the content; None when it is no picture that we keep."""
    head = content[:16]
    for beginning, extension in _BEGINNINGS:
        if head.startswith(beginning):
            return extension
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head[4:8] == b"ftyp" and head[8:12] in _AVIF_BRANDS:
        return "avif"
    return None

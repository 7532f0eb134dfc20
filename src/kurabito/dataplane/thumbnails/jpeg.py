"""Decodes JPEGs with Pillow: measured on photographs of 12 megapixels it is a seventh faster than libvips, and most images are these."""

from __future__ import annotations

import os
from typing import Any, Final

import pyvips  # type: ignore[import-untyped]
from PIL.JpegImagePlugin import JpegImageFile

from kurabito.dataplane.thumbnails.picture import ThumbnailFailed
from kurabito.protocol.error_codes import ErrorCode

_MAGIC: Final = b"\xff\xd8\xff"
_ORIENTATION: Final = 0x0112
_LAYOUTS: Final = {"RGB": (3, "srgb"), "L": (1, "b-w")}


def is_jpeg(fd: int) -> bool:
    """Whether a file begins as a JPEG does, whatever its name says."""
    return os.pread(fd, len(_MAGIC), 0) == _MAGIC


def load_jpeg(fd: int, side: int, most_pixels: int) -> Any | None:
    """The image, no smaller than it is drawn, with its profile and orientation; None for one of rare colours.

    It is made smaller while it is decoded, by up to eight times.
    """
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, "rb", buffering=0, closefd=False) as file:
        try:
            image = JpegImageFile(file)
            if image.mode not in _LAYOUTS:
                return None
            check_size(*image.size, most_pixels)
            larger = max(image.size)
            image.draft(image.mode, (-(-image.width * side // larger), -(-image.height * side // larger)))
            image.load()
        except (OSError, SyntaxError, ValueError) as problem:
            raise ThumbnailFailed(ErrorCode.THUMB_DAMAGED, f"it is damaged, or not complete: {problem}") from None
        return _as_vips(image)


def check_size(width: int, height: int, most_pixels: int) -> None:
    """Refuse an image that is too large to be decoded."""
    if width * height > most_pixels:
        raise ThumbnailFailed(
            ErrorCode.THUMB_TOO_LARGE, f"it has {width} x {height} pixels, and at most {most_pixels} are decoded"
        )


def _as_vips(image: JpegImageFile) -> Any:
    bands, interpretation = _LAYOUTS[image.mode]
    loaded = pyvips.Image.new_from_memory(image.tobytes(), image.width, image.height, bands, "uchar")
    loaded = loaded.copy(interpretation=interpretation)
    loaded.set_type(pyvips.GValue.gint_type, "orientation", _orientation(image))
    if profile := image.info.get("icc_profile"):
        loaded.set_type(pyvips.GValue.blob_type, "icc-profile-data", profile)
    return loaded


def _orientation(image: JpegImageFile) -> int:
    try:
        found = image.getexif().get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - notes of a camera that make no sense do not make its picture worthless
        return 1
    return found if found in range(1, 9) else 1

"""Draws images with libvips, and JPEGs with a little help: decoded as small as the format allows, turned upright, in sRGB."""

from __future__ import annotations

import os
from io import BytesIO
from typing import Any, Final

import pyvips  # type: ignore[import-untyped]
from PIL import Image, JpegImagePlugin, WebPImagePlugin  # noqa: F401 - these bring the encoders

from kurabito.dataplane.thumbnails.jpeg import check_size, is_jpeg, load_jpeg
from kurabito.dataplane.thumbnails.picture import DrawnPicture, ThumbnailFailed, Wanted
from kurabito.protocol.enums import ThumbnailFormat
from kurabito.protocol.error_codes import ErrorCode

_LOADERS: Final = ("Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif")
_SPARE: Final = 2
"""How much larger a WebP is decoded than it is drawn."""
_ANIMATED: Final = ("gifload", "webpload")
_MOST_FRAMES: Final = 60
"""Frames of an animation are decoded one after the other, so the one that is shown is not far from the beginning."""
_WHITE: Final = (255, 255, 255)
_QUALITY: Final = 80
_DULL: Final = 6.0
"""An image whose values differ by less than this on average shows nothing: a fade, a black or a white frame."""
_DEVIATION: Final = 5
"""The column of it in what libvips calls the statistics of an image."""


def prepare() -> None:
    """Set libvips up for a process that draws one picture at a time from files that cannot be trusted."""
    pyvips.cache_set_max(0)
    # Only formats that media come in. Others read foreign files on their own, or are hardly ever tested.
    pyvips.operation_block_set("VipsForeignLoad", True)
    for name in _LOADERS:
        pyvips.operation_block_set(f"VipsForeignLoad{name}", False)


def draw_image(fd: int, wanted: Wanted, most_pixels: int) -> DrawnPicture:
    """The thumbnail of an image; raises ThumbnailFailed."""
    try:
        image = load_jpeg(fd, wanted.max_dimension, most_pixels) if is_jpeg(fd) else None
        if image is None:
            small = _shrunk(fd, wanted.max_dimension, most_pixels)
        else:
            small = _resized(image, wanted.max_dimension)
        return encoded(_in_srgb(small.autorot()), wanted, os.fstat(fd).st_size)
    except pyvips.Error as problem:
        raise _explained(str(problem)) from None


def encoded(image: Any, wanted: Wanted, bytes_read: int) -> DrawnPicture:
    """A small image, upright and in sRGB, as a file."""
    if image.hasalpha() and wanted.format is ThumbnailFormat.JPEG:
        image = image.flatten(background=_WHITE)
    mode, size = "RGBA" if image.hasalpha() else "RGB", (image.width, image.height)
    content = BytesIO()
    # Pillow's encoders take a quarter of the time that those of libvips take for a JPEG, and two thirds for a WebP.
    Image.frombuffer(mode, size, image.cast("uchar").write_to_memory()).save(content, wanted.format, quality=_QUALITY)
    return DrawnPicture(content.getvalue(), *size, bytes_read)


def is_dull(image: Any) -> bool:
    """Whether there is nothing to be seen."""
    found = image.stats()
    return bool(max(found.getpoint(_DEVIATION, band)[0] for band in range(1, found.height)) < _DULL)


def _shrunk(fd: int, side: int, most_pixels: int) -> Any:
    """The image at its final size, with the colours and the orientation that it is stored with."""
    header = pyvips.Image.new_from_source(pyvips.Source.new_from_descriptor(fd), "", access="sequential")
    check_size(header.width, header.height, most_pixels)
    loader = header.get("vips-loader")
    if loader.startswith(_ANIMATED) and "n-pages" in header.get_fields() and header.get("n-pages") > 1:
        return _telling_frame(fd, loader, header.get("n-pages"), side)
    larger = max(header.width, header.height)
    scaled = {"scale": min(1.0, _SPARE * side / larger)} if loader.startswith("webpload") else {}
    return _resized(_loaded(fd, loader, **scaled), side)


def _loaded(fd: int, loader: str, **options: Any) -> Any:
    load = getattr(pyvips.Image, loader)
    return load(pyvips.Source.new_from_descriptor(fd), access="sequential", fail_on="truncated", **options)


def _resized(image: Any, side: int) -> Any:
    if image.hasalpha():
        # It knows that what cannot be seen must not shine through at the edges.
        return image.thumbnail_image(side, height=side, size="down", no_rotate=True)
    scale = side / max(image.width, image.height)
    return image.resize(scale) if scale < 1 else image


def _telling_frame(fd: int, loader: str, frames: int, side: int) -> Any:
    """A frame of an animation on which there is something to be seen; the first one often is still empty."""
    frame = None
    for number in dict.fromkeys((min(frames // 3, _MOST_FRAMES), min(frames // 2, _MOST_FRAMES), 0)):
        frame = _resized(_loaded(fd, loader, page=number), side).copy_memory()
        if not is_dull(frame):
            return frame
    return frame


def _in_srgb(image: Any) -> Any:
    if "icc-profile-data" in image.get_fields():
        try:
            # Evaluated here: a profile that makes no sense is only found out when it is used.
            return image.icc_transform("srgb", embedded=True, intent="perceptual").copy_memory()
        except pyvips.Error:
            # The file is not to blame for it: its colours are shown as they are.
            pass
    return image if image.interpretation == "srgb" else image.colourspace("srgb")


def _explained(problem: str) -> ThumbnailFailed:
    text = " ".join(problem.split())
    if problem.startswith("unable to load from source") or "Unsupported" in problem:
        return ThumbnailFailed(ErrorCode.THUMB_UNKNOWN_FORMAT, f"it is no image that can be decoded: {text}")
    if "out of memory" in problem:
        return ThumbnailFailed(ErrorCode.THUMB_OUT_OF_MEMORY, f"decoding it takes too much memory: {text}")
    return ThumbnailFailed(ErrorCode.THUMB_DAMAGED, f"it is damaged, or not complete: {text}")

"""Pictures and videos, made here."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import av
import pyvips  # type: ignore[import-untyped]

Plane = tuple[int, int, int]
"""A colour as Y, Cb and Cr."""
BLACK: Plane = (16, 128, 128)
RED: Plane = (81, 90, 240)
BLUE: Plane = (41, 240, 110)
FAST = {"libx264": {"preset": "ultrafast"}, "libvpx": {"deadline": "realtime", "cpu-used": "8"}}


def quarters(width: int, height: int) -> Any:
    """Red above, blue below, and its left half darker: which way is up can be told from it."""
    left, right = width // 2, width - width // 2

    def row(colour: list[int], high: int) -> Any:
        dark = pyvips.Image.black(left, high) + [part // 2 for part in colour]
        return dark.join(pyvips.Image.black(right, high) + colour, "horizontal")

    upper, lower = row([240, 20, 20], height // 2), row([20, 20, 240], height - height // 2)
    return upper.join(lower, "vertical").cast("uchar").copy(interpretation="srgb")


def file_of(image: Any, suffix: str, **options: Any) -> bytes:
    content: bytes = image.write_to_buffer(suffix, **options)
    return content


def jpeg(width: int = 400, height: int = 300, orientation: int = 1) -> bytes:
    image = quarters(width, height)
    image.set_type(pyvips.GValue.gint_type, "orientation", orientation)
    return file_of(image, ".jpg", Q=90)


def animation() -> bytes:
    """A GIF whose first frames are empty."""
    frames = [pyvips.Image.black(60, 40, bands=3).copy(interpretation="srgb")] * 3 + [quarters(60, 40)] * 6
    strip = pyvips.Image.arrayjoin(frames, across=1).copy()
    strip.set_type(pyvips.GValue.gint_type, "page-height", 40)
    return file_of(strip, ".gif")


def png_header(width: int, height: int, *, interlaced: bool = False, content: bytes = b"") -> bytes:
    """A grey PNG of one bit for each pixel, with whatever content."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, int(interlaced)))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", content) + chunk(b"IEND", b"")


def endless_png(side: int) -> bytes:
    """A small file that has to be held in memory whole, and is large there."""
    rows = 0
    for left, top, right, down in (
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ):
        wide, high = -(-(side - left) // right), -(-(side - top) // down)
        rows += high * (1 + -(-wide // 8))
    return png_header(side, side, interlaced=True, content=zlib.compress(bytes(rows), 1))


def video(
    scenes: Iterable[tuple[Plane, int]],
    *,
    width: int = 320,
    height: int = 180,
    suffix: str = "mp4",
    codec: str = "libx264",
    prepare: Callable[[Any], None] = lambda stream: None,
) -> bytes:
    """A video of scenes, each a colour over so many frames; a lighter stripe runs down their left side."""
    file = io.BytesIO()
    with av.open(file, "w", format=suffix) as container:
        stream: Any = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.gop_size = 5
        stream.codec_context.options = FAST.get(codec, {})
        prepare(stream)
        for number, colour in enumerate(colour for colour, count in scenes for _ in range(count)):
            frame = _frame(colour, width, height)
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def _frame(colour: Plane, width: int, height: int) -> Any:
    frame = av.VideoFrame(width, height, "yuv420p")
    for place, value in enumerate(colour):
        plane = frame.planes[place]
        line = bytearray([value]) * plane.line_size
        if place == 0 and colour != BLACK:
            line[: width // 4] = bytes([min(235, value + 60)]) * (width // 4)
        plane.update(bytes(line) * plane.height)
    return frame


def sound() -> bytes:
    """An MP4 with sound and nothing to see."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream: Any = container.add_stream("aac", rate=44100)
        frame = av.AudioFrame(format="fltp", layout="stereo", samples=1024)
        frame.sample_rate = 44100
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def opened(content: bytes) -> Any:
    """A thumbnail, decoded."""
    return pyvips.Image.new_from_buffer(content, "")


def colour_at(content: bytes, across: float, down: float) -> tuple[int, ...]:
    """The colour at a place, from 0 to 1 each way."""
    image = opened(content)
    point = image.getpoint(int((image.width - 1) * across), int((image.height - 1) * down))
    return tuple(round(value) for value in point)


def is_red(colour: tuple[int, ...]) -> bool:
    return colour[0] > 80 and colour[0] > 2 * max(colour[1:3])


def is_blue(colour: tuple[int, ...]) -> bool:
    return colour[2] > 80 and colour[2] > 2 * max(colour[:2])

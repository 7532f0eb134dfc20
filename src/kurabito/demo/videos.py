"""Videos drawn by code: a camera that goes up a picture, from the storehouse to the sky."""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO
from typing import Final

import av

from kurabito.demo.pictures import WIDTH, paint

_WIDTH: Final = 320
_HEIGHT: Final = 180
_LEFT: Final = (WIDTH - _WIDTH) // 2
_ROOF: Final = 270
"""The row of the picture at which the camera begins."""
_RATE: Final = 6
_BITS: Final = 800_000
# Nothing of when and where it was made: the same name gives the same bytes, and so copies are duplicates.
_EXACT: Final = {"fflags": "+bitexact"}
_COLOURS: Final = 256


def film(name: str, seconds: int) -> bytes:
    """The video of what has this name, as Matroska; the same each time."""
    painting = paint(name)
    rows = [row[_LEFT : _LEFT + _WIDTH] for row in painting.rows]
    # In the order in which the bytes of a number stand on most machines.
    palette = b"".join(bytes((blue, green, red, 255)) for red, green, blue in painting.palette).ljust(
        4 * _COLOURS, b"\0"
    )
    file, count = BytesIO(), seconds * _RATE
    with av.open(file, mode="w", format="matroska", options=_EXACT) as container:
        stream = container.add_stream("mpeg4", rate=_RATE, options={"flags": "+bitexact", "g": str(_RATE)})
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = _WIDTH, _HEIGHT, "yuv420p", _BITS
        # So short a video is over before others had begun to help.
        stream.thread_count = 1
        for number in range(count):
            top = _ROOF - _ROOF * number // count
            frame = _frame(rows[top : top + _HEIGHT], palette)
            frame.pts, frame.time_base = number, Fraction(1, _RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def _frame(rows: list[bytes], palette: bytes) -> av.VideoFrame:
    frame = av.VideoFrame(_WIDTH, _HEIGHT, "pal8")
    pixels, colours = frame.planes
    pixels.update(b"".join(row.ljust(pixels.line_size, b"\0") for row in rows))
    colours.update(palette)
    return frame

"""Draws videos with FFmpeg's libraries: one frame near a tenth of the length that shows something, found from a keyframe."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import av
import pyvips  # type: ignore[import-untyped]
from av.error import ArgumentError, FFmpegError, InvalidDataError
from av.video.reformatter import Colorspace, Interpolation

from kurabito.dataplane.thumbnails.image import encoded, is_dull
from kurabito.dataplane.thumbnails.jpeg import check_size
from kurabito.dataplane.thumbnails.picture import DrawnPicture, ThumbnailFailed, Wanted
from kurabito.protocol.error_codes import ErrorCode

_PLACES: Final = (0.1, 0.2, 0.35, 0.5, 0.75, 0.0)
"""Where frames are looked at, as parts of the length, until one of them shows something."""
_FORMATS: Final = (
    "asf,avi,av1,dv,flv,gxf,h264,hevc,ivf,m4v,matroska,mov,mpeg,mpegts,mpegvideo,mxf,nsv,nut,obu,ogg,rm,vc1,webm,wtv"
)
# Playlists are not among them, and nothing else may be opened: a file must not have us read another one.
OPTIONS: Final = {"format_whitelist": _FORMATS, "protocol_whitelist": "none"}
BUFFER: Final = 1 << 16
_MOST_PACKETS: Final = 2000
"""A decoder that gave no picture after so many packets gives none at this place."""
_LOWEST_HD: Final = 720
_KNOWN_CODINGS: Final = frozenset(int(coding) for coding in Colorspace)


class CountedFile:
    """The file, with how much of it was read."""

    def __init__(self, fd: int) -> None:
        self.bytes_read = 0
        self._fd = fd

    def read(self, size: int) -> bytes:
        content = os.read(self._fd, size)
        self.bytes_read += len(content)
        return content

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self._fd, offset, whence)

    def tell(self) -> int:
        return os.lseek(self._fd, 0, os.SEEK_CUR)


def draw_video(fd: int, wanted: Wanted, most_pixels: int) -> DrawnPicture:
    """The thumbnail of a video; raises ThumbnailFailed."""
    file = CountedFile(fd)
    try:
        with av.open(file, mode="r", options=OPTIONS, buffer_size=BUFFER, metadata_errors="replace") as container:
            image = _telling_frame(container, _stream_of(container), wanted.max_dimension, most_pixels)
    except (FFmpegError, ValueError, EOFError) as problem:
        raise explained(problem) from None
    return encoded(image, wanted, file.bytes_read)


def _stream_of(container: Any) -> Any:
    """The stream of moving pictures; the cover of an album only if there is nothing else."""
    streams = [stream for stream in container.streams.video if stream.codec_context is not None]
    if not streams:
        raise ThumbnailFailed(ErrorCode.THUMB_NO_VIDEO, "it has no stream of pictures that can be decoded")
    covers = av.stream.Disposition.attached_pic
    return next((stream for stream in streams if not stream.disposition & covers), streams[0])


def _telling_frame(container: Any, stream: Any, side: int, most_pixels: int) -> Any:
    context = stream.codec_context
    check_size(context.width, context.height, most_pixels)
    # One frame is wanted, and more threads would hold the first ones back.
    context.thread_count = 1
    best = None
    for frame in _frames(container, stream):
        image = _drawn(frame, stream, side)
        if not is_dull(image):
            return image
        best = best or image
    if best is None:
        raise ThumbnailFailed(ErrorCode.THUMB_DAMAGED, "none of its pictures can be decoded")
    return best


def _frames(container: Any, stream: Any) -> Iterator[Any]:
    """A frame from each of the places, as far as they can be decoded."""
    length = container.duration
    for place in _PLACES if length else (0.0,):
        try:
            if length:
                # To the keyframe before it: from there the first frame can be decoded alone.
                container.seek(int((container.start_time or 0) + length * place), backward=True)
            if (frame := _first_frame(container, stream)) is not None:
                yield frame
        except FFmpegError:
            # A file may be damaged in one place only.
            continue


def _first_frame(container: Any, stream: Any) -> Any:
    for packet, _ in zip(container.demux(stream), range(_MOST_PACKETS), strict=False):
        for frame in packet.decode():
            if not frame.is_corrupt:
                return frame
    return None


def _drawn(frame: Any, stream: Any, side: int) -> Any:
    """The frame as a small upright image in sRGB."""
    shape = stream.sample_aspect_ratio or Fraction(1)
    width, height = frame.width * shape, Fraction(frame.height)
    scale = min(Fraction(1), side / max(width, height))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    # What does not say how its colours are coded, is coded as everybody does at its size.
    coded = Colorspace.ITU709 if frame.height >= _LOWEST_HD else Colorspace.ITU601
    known = frame.colorspace if frame.colorspace in _KNOWN_CODINGS else coded
    small = frame.reformat(*size, format="rgb24", src_colorspace=known, interpolation=Interpolation.AREA)
    plane = small.planes[0]
    padded = pyvips.Image.new_from_memory(bytes(plane), plane.line_size // 3, size[1], 3, "uchar")
    image = padded.crop(0, 0, *size).copy(interpretation="srgb")
    return image.rot(f"d{-frame.rotation % 360}") if frame.rotation % 90 == 0 else image


def explained(problem: Exception) -> ThumbnailFailed:
    """Why a file cannot be read, as a code."""
    # ArgumentError is raised for a format that is not on our list.
    if isinstance(problem, InvalidDataError | ArgumentError):
        return ThumbnailFailed(ErrorCode.THUMB_UNKNOWN_FORMAT, "it is no video of a kind that can be decoded")
    if isinstance(problem, OSError) and problem.errno == errno.ENOMEM:
        return ThumbnailFailed(ErrorCode.THUMB_OUT_OF_MEMORY, "decoding it takes too much memory")
    return ThumbnailFailed(ErrorCode.THUMB_DAMAGED, f"it is damaged, or not complete: {problem}")

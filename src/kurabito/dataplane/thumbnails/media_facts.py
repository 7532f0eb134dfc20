"""Reads with FFmpeg's libraries what is in a film or a recording: how long it is, and which tracks it has. Nothing is decoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import av
from av.error import FFmpegError
from av.stream import Disposition

from kurabito.dataplane.thumbnails.picture import MediaReading
from kurabito.dataplane.thumbnails.video import BUFFER, OPTIONS, CountedFile, explained

_SOUND: Final = "aac,ac3,aiff,ape,dsf,eac3,flac,mp3,wav,wv"
_OPTIONS: Final = {**OPTIONS, "format_whitelist": f"{OPTIONS['format_whitelist']},{_SOUND}"}
_TRANSFERS: Final = {16: "pq", 18: "hlg"}
"""How brightness is coded, by the numbers of the standard that all codecs use."""
_DOLBY_VISION: Final = frozenset({"dvhe", "dvh1", "dvav", "dva1", "dav1"})
_MOST_TRACKS: Final = 64
_LONGEST: Final = 200


def read_facts(fd: int) -> MediaReading:
    """What is in an open file; raises ThumbnailFailed."""
    file = CountedFile(fd)
    try:
        with av.open(file, mode="r", options=_OPTIONS, buffer_size=BUFFER, metadata_errors="replace") as container:
            facts = {
                "container": container.format.name,
                "duration_ms": None if container.duration is None else container.duration // 1000,
                "video": list(_video(container)),
                "audio": list(_audio(container)),
                "subtitles": list(_subtitles(container)),
            }
    except (FFmpegError, ValueError, EOFError) as problem:
        raise explained(problem) from None
    return MediaReading(facts, file.bytes_read)


def _video(container: Any) -> Iterator[dict[str, Any]]:
    for stream in container.streams.video[:_MOST_TRACKS]:
        context = stream.codec_context
        # The cover of an album is no film.
        if context is None or stream.disposition & Disposition.attached_pic:
            continue
        pixels = context.format
        yield {
            "codec": _codec(stream),
            "width": context.width,
            "height": context.height,
            "bits": pixels.components[0].bits if pixels is not None and pixels.components else None,
            "frame_rate": None if not stream.average_rate else round(float(stream.average_rate), 3),
            "hdr": "dolby_vision"
            if context.codec_tag in _DOLBY_VISION
            else _TRANSFERS.get(int(context.color_trc or 0)),
        }


def _audio(container: Any) -> Iterator[dict[str, Any]]:
    for stream in container.streams.audio[:_MOST_TRACKS]:
        context = stream.codec_context
        yield {
            "codec": _codec(stream),
            "channels": None if context is None else context.channels,
            **_named(stream),
        }


def _subtitles(container: Any) -> Iterator[dict[str, Any]]:
    for stream in container.streams.subtitles[:_MOST_TRACKS]:
        yield {
            "codec": _codec(stream),
            **_named(stream),
            "is_forced": bool(stream.disposition & Disposition.forced),
        }


def _named(stream: Any) -> dict[str, Any]:
    title = stream.metadata.get("title")
    return {
        "language": None if not stream.language or stream.language == "und" else stream.language[:_LONGEST],
        "title": title[:_LONGEST] if title else None,
        "is_default": bool(stream.disposition & Disposition.default),
    }


def _codec(stream: Any) -> str | None:
    context = stream.codec_context
    return None if context is None else context.codec.canonical_name

"""What is in one film or recording, as a data plane read it. It may be any program, so what makes no sense is left out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

_LONGEST: Final = 200
_MOST_TRACKS: Final = 64
_MOST: Final = 10**12
_SD: Final = 576


class HdrKind(StrEnum):
    """How more than ordinary brightness is coded."""

    PQ = "pq"
    HLG = "hlg"
    DOLBY_VISION = "dolby_vision"

    @property
    def label(self) -> str:
        """What it is called in every language."""
        return {HdrKind.PQ: "HDR10", HdrKind.HLG: "HLG", HdrKind.DOLBY_VISION: "Dolby Vision"}[self]


@dataclass(frozen=True, slots=True)
class VideoTrack:
    """Moving pictures."""

    codec: str | None
    width: int | None
    height: int | None
    bits: int | None
    """Of each colour."""
    frame_rate: float | None
    hdr: HdrKind | None

    @property
    def resolution(self) -> int | None:
        """The lines as people name them: a film is cut at top and bottom, and is 1080p all the same.

        >>> VideoTrack("hevc", 1920, 800, 10, 23.976, None).resolution
        1080
        """
        if not self.width or not self.height:
            return None
        if self.height <= _SD and self.width <= 1024:
            return self.height
        return max(self.height, round(self.width * 9 / 16))


@dataclass(frozen=True, slots=True)
class AudioTrack:
    """Sound."""

    codec: str | None
    channels: int | None
    language: str | None
    title: str | None


@dataclass(frozen=True, slots=True)
class SubtitleTrack:
    """Text to read beside it."""

    codec: str | None
    language: str | None
    title: str | None
    is_forced: bool


@dataclass(frozen=True, slots=True)
class MediaFacts:
    """What is in a file."""

    container: str | None
    duration: timedelta | None
    video: tuple[VideoTrack, ...]
    audio: tuple[AudioTrack, ...]
    subtitles: tuple[SubtitleTrack, ...]


def read_media_facts(stored: str) -> MediaFacts | None:
    """What a data plane wrote; None when it is no object at all.

    >>> read_media_facts('{"duration_ms": 1000, "audio": [{"codec": "flac", "channels": "two"}]}').audio
    (AudioTrack(codec='flac', channels=None, language=None, title=None),)
    """
    try:
        said = json.loads(stored)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    length = _number(said.get("duration_ms"))
    return MediaFacts(
        _text(said.get("container")),
        None if length is None else timedelta(milliseconds=length),
        tuple(_video(one) for one in _tracks(said, "video")),
        tuple(
            AudioTrack(
                _text(one.get("codec")),
                _whole(one.get("channels")),
                _text(one.get("language")),
                _text(one.get("title")),
            )
            for one in _tracks(said, "audio")
        ),
        tuple(
            SubtitleTrack(
                _text(one.get("codec")),
                _text(one.get("language")),
                _text(one.get("title")),
                one.get("is_forced") is True,
            )
            for one in _tracks(said, "subtitles")
        ),
    )


def _video(said: dict[str, Any]) -> VideoTrack:
    hdr = said.get("hdr")
    return VideoTrack(
        _text(said.get("codec")),
        _whole(said.get("width")),
        _whole(said.get("height")),
        _whole(said.get("bits")),
        _number(said.get("frame_rate")),
        HdrKind(hdr) if isinstance(hdr, str) and hdr in set(HdrKind) else None,
    )


def _tracks(said: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = said.get(name)
    return [one for one in found[:_MOST_TRACKS] if isinstance(one, dict)] if isinstance(found, list) else []


def _text(said: object) -> str | None:
    return said[:_LONGEST] if isinstance(said, str) and said.strip() else None


def _number(said: object) -> float | None:
    return said if type(said) in (int, float) and 0 < said < _MOST else None  # type: ignore[operator,return-value]


def _whole(said: object) -> int | None:
    found = _number(said)
    return found if isinstance(found, int) else None

"""What a release is worth by what a keeper likes, part by part. Pure.

A list that is liked more counts more than all of those below it together: a place in it is worth one point more than they
can give. So a group decides before a language, and a language before a resolution, whatever the lists hold; the points of
terms are added to that, and a keeper sees what they have to outweigh.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from kurabito.catalog.releases import Name
from kurabito.downloads.filters.model import searching
from kurabito.feeds.preferences import Batches, Preferences
from kurabito.reasons import Reason
from kurabito.titles import ReleaseKind, parse_title

_HEIGHTS: Final = (200, 300, 400, 530, 650, 750, 900, 1300, 2000, 3000)
"""Where the next larger picture begins: 1072 lines are as good as 1080."""
_MOST_VERSIONS: Final = 9
_REGULAR: Final = frozenset({ReleaseKind.TV, ReleaseKind.MOVIE, ReleaseKind.UNKNOWN})
_MINUTES: Final = {ReleaseKind.MOVIE: 100.0}
_USUAL_MINUTES: Final = 24.0
"""Where its length is not known, an episode counts for this long."""
_MB: Final = 1_000_000


class ScoreName(StrEnum):
    """The part of a score; the value is the message's key below `score`."""

    TERM = "term"
    GROUP = "group"
    LANGUAGE = "language"
    RESOLUTION = "resolution"
    SOURCE = "source"
    CODEC = "codec"
    AUDIO = "audio"
    VERSION = "version"


class ScorePart(NamedTuple):
    """What one thing gives."""

    name: ScoreName
    points: int
    what: str
    """As the release or the profile calls it."""


class Score(NamedTuple):
    """What a release is worth; parts that give nothing are left out."""

    total: int
    parts: tuple[ScorePart, ...]


class UnwantedReason(StrEnum):
    """Why a release is not wanted at all; the value is the message's key below `unwanted_reason`."""

    TOO_SMALL = "too_small"
    """It has `mb` for a minute, and `least` are wanted."""
    TOO_LARGE = "too_large"
    """It has `mb` for a minute, and `most` are wanted."""
    BATCH = "batch"
    SINGLE = "single"
    SPECIAL = "special"
    DECIMAL = "decimal"


class Rated(Protocol):
    """A release, as far as it is judged."""

    @property
    def title(self) -> str: ...
    @property
    def group(self) -> str | None: ...
    @property
    def version(self) -> int: ...
    @property
    def resolution(self) -> int | None: ...
    @property
    def source(self) -> str | None: ...
    @property
    def languages(self) -> tuple[str, ...]: ...
    @property
    def size_bytes(self) -> int | None: ...
    @property
    def kind(self) -> ReleaseKind: ...
    @property
    def number(self) -> float | None: ...


def score(release: Rated, liked: Preferences) -> Score:
    """What a release is worth."""
    worth = steps(liked)
    parts = [
        ScorePart(name, places * worth[name], what) for name, places, what in _places(release, liked) if places > 0
    ]
    parts += [ScorePart(ScoreName.TERM, one.points, one.text) for one in liked.terms if _has(release.title, *one)]
    return Score(sum(part.points for part in parts), tuple(parts))


def is_first_choice(release: Rated, liked: Preferences) -> bool:
    """Whether no better one can come, but for a newer version: it is at the top of every list, which names groups and resolutions."""
    most = {
        ScoreName.GROUP: len(liked.groups),
        ScoreName.LANGUAGE: len(liked.languages),
        ScoreName.RESOLUTION: len(liked.resolutions),
        ScoreName.SOURCE: len(liked.sources),
        ScoreName.CODEC: len(liked.codecs),
        ScoreName.AUDIO: len(liked.audio),
    }
    if not liked.groups or not liked.resolutions:
        return False
    is_top = all(places == most[name] for name, places, _ in _places(release, liked) if name in most)
    return is_top and all(_has(release.title, *one) for one in liked.terms if one.points > 0)


def _places(release: Rated, liked: Preferences) -> list[tuple[ScoreName, int, str]]:
    """How many places from the end of each list the release is, and by what."""
    video, audio = _said(release.title) if liked.codecs or liked.audio else ((), ())
    groups = [Name.of(group).folded for group in liked.groups]
    return [
        (ScoreName.GROUP, *_place([release.group or ""], groups)),
        (ScoreName.LANGUAGE, *_place(release.languages, liked.languages)),
        (ScoreName.RESOLUTION, *_height(release.resolution, liked.resolutions)),
        (ScoreName.SOURCE, *_place([release.source or ""], liked.sources)),
        (ScoreName.CODEC, *_place(_folded(video), _folded(map(_called, liked.codecs)))),
        (ScoreName.AUDIO, *_place(_folded(audio), _folded(map(_called, liked.audio)))),
        (ScoreName.VERSION, min(release.version, _MOST_VERSIONS) - 1, f"v{release.version}"),
    ]


def steps(liked: Preferences) -> dict[ScoreName, int]:
    """What a place in each list is worth."""
    places = {
        ScoreName.VERSION: _MOST_VERSIONS,
        ScoreName.AUDIO: len(liked.audio),
        ScoreName.CODEC: len(liked.codecs),
        ScoreName.SOURCE: len(liked.sources),
        ScoreName.RESOLUTION: len(liked.resolutions) or len(_HEIGHTS),
        ScoreName.LANGUAGE: len(liked.languages),
        ScoreName.GROUP: len(liked.groups),
    }
    worth: dict[ScoreName, int] = {}
    below = 0
    for name, most in places.items():
        worth[name] = below + 1
        below += most * worth[name]
    return worth


def unwanted(release: Rated, liked: Preferences, episodes: int = 1) -> Reason[UnwantedReason] | None:
    """Why a release of so many episodes is not wanted at all; None when it is."""
    is_batch = episodes > 1
    if is_batch and liked.batches is Batches.SINGLE:
        return Reason(UnwantedReason.BATCH)
    if not is_batch and liked.batches is Batches.BATCH:
        return Reason(UnwantedReason.SINGLE)
    if not is_batch and not liked.takes_specials and release.kind not in _REGULAR:
        return Reason(UnwantedReason.SPECIAL)
    if not is_batch and not liked.takes_decimals and release.number is not None and release.number % 1:
        return Reason(UnwantedReason.DECIMAL)
    return _wrong_size(release, liked, episodes)


def _wrong_size(release: Rated, liked: Preferences, episodes: int) -> Reason[UnwantedReason] | None:
    if release.size_bytes is None or (liked.least_mb is None and liked.most_mb is None):
        return None
    minutes = _MINUTES.get(release.kind, _USUAL_MINUTES) * max(1, episodes)
    size = round(release.size_bytes / _MB / minutes, 1)
    if liked.least_mb is not None and size < liked.least_mb:
        return Reason(UnwantedReason.TOO_SMALL, {"mb": size, "least": liked.least_mb})
    if liked.most_mb is not None and size > liked.most_mb:
        return Reason(UnwantedReason.TOO_LARGE, {"mb": size, "most": liked.most_mb})
    return None


def _place(values: Sequence[str], liked: Sequence[str]) -> tuple[int, str]:
    """How many places from the end of the list the best of the values is, and which one that is."""
    found = [liked.index(value) for value in values if value in liked]
    return (len(liked) - min(found), liked[min(found)]) if found else (0, "")


def _height(lines: int | None, liked: Sequence[int]) -> tuple[int, str]:
    if lines is None:
        return 0, ""
    if not liked:
        return bisect(_HEIGHTS, lines), f"{lines}p"
    return (len(liked) - liked.index(lines), f"{lines}p") if lines in liked else (0, "")


def _folded(words: Iterable[str]) -> list[str]:
    return [word.casefold().replace(" ", "").replace("-", "") for word in words]


@lru_cache(8_192)
def _said(title: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a title says of picture and sound."""
    found = parse_title(title)
    return found.video, (*found.audio, *found.languages)


@lru_cache(1_024)
def _called(word: str) -> str:
    """What a title with this word is read as: HEVC and x265 are both H.265."""
    video, audio = _said(f"[Group] Show - 01 [{word}]")
    return (video or audio or (word,))[0]


def _has(title: str, text: str, _points: int, is_pattern: bool) -> bool:
    if not is_pattern:
        return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", title, re.IGNORECASE) is not None
    return _pattern(text)(title)


_pattern: Final = lru_cache(1_024)(searching)

"""Releases: what an item of a feed is, read from its title and its URL. Pure, so that it runs beside the writer's thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from kurabito.catalog.download_types import DownloadType, detect_download_type
from kurabito.catalog.release_key import ReleaseIdentity, identify
from kurabito.catalog.states import DoubtReason
from kurabito.feeds.raw_items import RawReason, problem_of
from kurabito.feeds.results import FeedItem
from kurabito.reasons import Reason
from kurabito.titles import Episode, ReleaseKind, ReleaseTitle, TitleRule, fold_title, parse_title

MOST_EPISODES: Final = 200
"""Links that one batch makes."""
_LARGEST: Final = 100_000
_LONGEST_NAME: Final = 300
_LONGEST_FOLDED: Final = 200
_SPECIALS: Final = 0


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a series or group, and what it is compared by."""

    shown: str
    folded: str

    @classmethod
    def of(cls, text: str) -> Name:
        return _name(text)


@lru_cache(maxsize=16_384)
def _name(text: str) -> Name:
    """A name as it is compared; feeds repeat few of them."""
    shown = text.strip()[:_LONGEST_NAME]
    # A name of nothing but signs is compared as it is; an index holds no long texts.
    return Name(shown, (fold_title(shown) or shown.casefold())[:_LONGEST_FOLDED])


class Locator(NamedTuple):
    """Where a release can be downloaded from."""

    url: str
    download_type: DownloadType | None
    identity: ReleaseIdentity
    size_bytes: int | None


_NOWHERE: Final = Locator("", None, ReleaseIdentity(None, ""), None)


@dataclass(frozen=True, slots=True)
class Release:
    """An item whose title could be read."""

    title: str
    """As it was released."""
    url: str
    download_type: DownloadType | None
    identity: ReleaseIdentity
    size_bytes: int | None
    names: tuple[Name, ...]
    """The names of its series, the one to show first."""
    season: int | None
    kind: ReleaseKind
    episodes: tuple[Episode, ...]
    is_batch: bool
    group: Name | None
    year: int | None
    resolution: int | None
    source: str | None
    languages: tuple[str, ...]
    version: int | None
    part: int | None = None
    """The part of its season, where the title says one beside its names."""
    country: str | None = None
    """Whose version of a show it is, in small letters."""
    written: tuple[Name, ...] = ()
    """Its names as the title writes them, the whole first: with the season, kind and year that were read out of them."""
    doubt: Reason[DoubtReason] | None = None
    """Why what was read may be wrong."""
    may_be_film: bool = False
    """Whether neither a number nor a word says if it is of a show or a film."""

    def as_film(self) -> Release:
        """The same, where the series that it is of is a film."""
        return replace(self, kind=ReleaseKind.MOVIE, episodes=(1,), may_be_film=False) if self.may_be_film else self


def read_release(item: FeedItem, rules: Sequence[TitleRule]) -> Release | RawReason:
    """The release that a clean item is; the reason where it is none."""
    if (problem := problem_of(item)) is not None:
        return problem
    url = item.download_url
    assert url is not None, "an item without a URL has a problem"
    found = parse_title(item.title, rules=rules)
    names = _names(found)
    if not names:
        return RawReason.NO_TITLE
    download_type = item.download_type or detect_download_type(url)
    locator = Locator(url, download_type, identify(url, download_type, item.info_hash), item.size_bytes)
    return _release(item.title, locator, found, names)


def read_title_again(title: str, rules: Sequence[TitleRule]) -> Release | None:
    """What the title of a release says now; None where it says no name. Where it can be downloaded from is left out."""
    found = parse_title(title, rules=rules)
    names = _names(found)
    return _release(title, _NOWHERE, found, names) if names else None


def _release(title: str, locator: Locator, found: ReleaseTitle, names: tuple[Name, ...]) -> Release:
    season = _within(found.season)
    kind = ReleaseKind.TV if found.kind is ReleaseKind.UNKNOWN else found.kind
    if season == _SPECIALS:
        # S00E03 is the third special of the show, whichever of its seasons was on.
        season, kind = None, ReleaseKind.SPECIAL if kind is ReleaseKind.TV else kind
    return Release(
        title=title,
        url=locator.url,
        download_type=locator.download_type,
        identity=locator.identity,
        size_bytes=locator.size_bytes,
        names=names,
        season=season,
        kind=kind,
        episodes=_episodes(found, kind),
        is_batch=found.is_batch,
        group=Name.of(found.group) if found.group and found.group.strip() else None,
        year=_within(found.year),
        resolution=_within(found.resolution),
        source=found.source[:_LONGEST_NAME] if found.source else None,
        languages=found.languages,
        version=_within(found.version),
        part=found.part,
        country=found.country.lower() if found.country else None,
        written=tuple(map(Name.of, found.written)),
        doubt=_doubt(found),
        may_be_film=found.kind is ReleaseKind.UNKNOWN and not found.episodes and not found.is_batch,
    )


def _doubt(found: ReleaseTitle) -> Reason[DoubtReason] | None:
    """The first doubt that is worth a question. A bare number is how many titles count, and is none."""
    if not found.doubts or found.rule is not None:
        # What a rule of the user says is not doubted.
        return None
    codes = {doubt.value for doubt in found.doubts}
    for code in (one for one in DoubtReason if one in codes):
        facts = {
            "season": found.season,
            "episode": found.episodes[0] if found.episodes else None,
            "most": MOST_EPISODES,
        }
        return Reason(code, facts)
    return None


def _names(found: ReleaseTitle) -> tuple[Name, ...]:
    names: dict[str, Name] = {}
    for title in (found.title, *found.titles):
        if title and title.strip():
            name = Name.of(title)
            names.setdefault(name.folded, name)
    return tuple(names.values())


def _episodes(found: ReleaseTitle, kind: ReleaseKind) -> tuple[Episode, ...]:
    if kind is ReleaseKind.MOVIE and not found.episodes:
        return (1,)
    # Numbers that are not finite are not between these either.
    numbers = [number for number in found.episodes if 0 <= number <= _LARGEST]
    return tuple(numbers if len(numbers) == 1 else dict.fromkeys(numbers))[:MOST_EPISODES]


def _within(number: int | None) -> int | None:
    """The number, unless it is one that only a slip of a rule could mean."""
    return number if number is not None and 0 <= number <= _LARGEST else None

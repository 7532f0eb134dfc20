"""What a release says of the series that it is about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from kurabito.catalog.releases import Name, Release
from kurabito.catalog.spellings import (
    bases_of,
    goes_on_behind,
    ordinal,
    read_ordinal,
    read_romaji_count,
    romaji_of,
    short_and_long,
    spelled,
    year_behind,
)
from kurabito.catalog.states import SeriesKind
from kurabito.feeds.subscriptions import Subscription
from kurabito.metadata.lookup import Sequel, read_sequel
from kurabito.titles import Episode, ReleaseKind

FIRST_SEASON: Final = 1
# The page of one season of one show.
_MIKAN_PAGE: Final = re.compile(r"[?&]bangumiId=(\d{1,9})(?:&|$)", re.I)
_SUBTITLE: Final = re.compile(r"\w:\s|\s[-~]\s?\w")
_ENDS_IN_NUMBER: Final = re.compile(r"(?:[IVX]|\d|[二三四五六七八九])\W*$")
LENGTH_OF_COUR: Final = 12
_LONG_NAME: Final = 24
"""Letters; remakes of films have short names."""


class SeasonName(NamedTuple):
    """A name together with the season beside which it stands: what leads to a series."""

    folded: str
    season: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The names of a release, and what it says beside them."""

    names: tuple[Name, ...]
    kind: SeriesKind
    season: int | None = None
    year: int | None = None
    country: str | None = None
    first_episode: Episode | None = None
    last_episode: Episode | None = None
    group: Name | None = None
    part: int | None = None
    """The part of its season, where the title says one beside its names."""
    written: tuple[Name, ...] = ()
    """Its names as the title writes them, the whole first: with all that was read out of them."""
    may_be_film: bool = False
    """Whether its title leaves open if it is of a show or a film."""
    is_ova: bool = False
    counted_from: int = 0
    """What its numbers count on from, where a source says so; the episodes here are those without it."""

    asked_from: int = 0
    """The first number of those that a question is about, where it is not about all that have its names."""

    @classmethod
    def of(cls, release: Release) -> Reading:
        """What a release says."""
        return cls(
            (*(half for name in release.names for half in short_and_long(name)), *_own_names(release)),
            SeriesKind.of(release.kind),
            _season_of(release),
            _year_of(release),
            release.country,
            min(release.episodes, default=None),
            max(release.episodes, default=None),
            release.group,
            release.part,
            release.written,
            release.may_be_film,
            release.kind is ReleaseKind.OVA,
        )

    def as_film(self) -> Reading:
        """The same as that of a film."""
        return replace(self, kind=SeriesKind.MOVIE)

    @property
    def is_later_season(self) -> bool:
        """Whether it names a season after the first: the year beside it may be the season's own, or the show's."""
        return (self.season or FIRST_SEASON) > FIRST_SEASON

    @property
    def is_film_alone(self) -> bool:
        """Whether it is of a film that hardly has a namesake: its name has a subtitle, or says much."""
        is_film = self.kind is SeriesKind.MOVIE or self.may_be_film
        return is_film and any(_SUBTITLE.search(name.shown) or len(name.folded) > _LONG_NAME for name in self.names)

    @property
    def is_without_number(self) -> bool:
        """Whether it says no number, as a film does."""
        return self.first_episode is None and (self.kind is SeriesKind.MOVIE or self.may_be_film)

    @property
    def said_season(self) -> int:
        """The season beside its names; the first where it says none."""
        return FIRST_SEASON if self.season is None else self.season

    @property
    def may_count_through(self) -> bool:
        """Whether it says a number that a later season may have, and no season."""
        return self.season is None and self.first_episode is not None and self.first_episode > LENGTH_OF_COUR

    def whole_names(self) -> Iterator[Iterable[str]]:
        """How it may be called as a whole, folded, the surest first: as it is written, then by its name and season."""
        own = [name.folded for name in self.names]
        whole = [name.folded for name in self.written]
        if self.is_later_season:
            # Without its season a name is that of the first, with a year or without.
            bare = {*own, *(dated for _, dated, _ in self.dated())}
            whole = [name for name in whole if name not in bare]
        yield whole[:1]
        yield [name for name in whole[1:] if name not in own]
        if not self.is_later_season:
            yield own
        yield [sequel.folded for _, sequel in self.sequels() if sequel.season == FIRST_SEASON]

    def sequels(self) -> Iterator[tuple[Name, SeasonName]]:
        """The same names with the mark of their season read off, or written behind them: `Show II` is `Show` beside season 2."""
        if self.kind is SeriesKind.MOVIE:
            return
        for name in self.names:
            sequel = _sequel(name.shown)
            if sequel is None and not self._is_marked(name):
                sequel = read_romaji_count(name.shown, self.season) or read_ordinal(name.shown, self.season)
            season = self.season or (sequel.season if sequel else FIRST_SEASON)
            if season == FIRST_SEASON:
                continue
            base = Name.of(sequel.name) if sequel is not None and sequel.season == season else name
            yield name, SeasonName(base.folded, season)
            marked = spelled(base, season) if base is name else [name.folded, *spelled(base, season)]
            yield name, SeasonName(base.folded + ordinal(season), season)
            for folded in dict.fromkeys(marked):
                yield name, SeasonName(folded, FIRST_SEASON)
                yield name, SeasonName(folded, season)

    def _is_marked(self, name: Name) -> bool:
        """Whether the mark of its season stands behind this name: `Kurabito 2nd S2` is the second season of `Kurabito 2nd`."""
        return any(mark in one.folded for one in self.written for mark in spelled(name, self.said_season))

    def marked(self) -> dict[str, str]:
        """Its names that carry the mark of a later season, folded, each with the same without it."""
        sequels = ((name.folded, _sequel(name.shown)) for name in self.names)
        return {name: Name.of(one.name).folded for name, one in sequels if one and one.season > FIRST_SEASON}

    def dated(self) -> Iterator[tuple[Name, str, int]]:
        """The same names without the year behind them, or with the year that stands beside them, each with that year."""
        for name in self.names:
            behind = year_behind(name.shown)
            if behind is not None and self.year in (None, behind[1]):
                yield name, *behind
            elif self.year is not None:
                yield name, f"{name.folded}{self.year}", self.year

    def bases(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Its names that do not stand beside their season, folded, each with what it goes on from, or ends with."""
        for name in self.names:
            if year_behind(name.shown) is None and not self._is_marked(name):
                yield name.folded, bases_of(name.shown)

    def guessed(self) -> dict[str, frozenset[str]]:
        """Its names that may be two with nothing between them, folded, each with those two: `夜之蔵人 Night Brewer`."""
        pairs = self.pairs()
        return {name.folded: pairs[name.folded] for name in self.names if name.folded in pairs}

    def pairs(self) -> dict[str, frozenset[str]]:
        """Each two of its names in different scripts as one, folded, as titles write them with nothing between."""
        names = [name.folded for name in self.names]
        return {
            one + other: frozenset({one, other})
            for one in names
            if not one.isascii()
            for other in names
            if other.isascii()
        }

    def subtitles(self) -> dict[str, str]:
        """Its names that go on in Latin letters which are no romaji, folded, each with those: `夜之蔵人 STAMPEDE`."""
        latin = [name.folded for name in self.names if name.folded.isascii() and romaji_of(name.shown) is None]
        whole = {name.folded for name in self.names if not name.folded.isascii()}
        return {
            one.removesuffix(rest): rest for one in whole for rest in latin if one.removesuffix(rest) in whole - {one}
        }

    @property
    def key(self) -> str:
        """The same for all readings that one answer answers."""
        marks = f"{self.kind}|{self.season or ''}|{self.year or ''}|{self.country or ''}"
        beyond = f"|from {self.asked_from}" if self.asked_from else ""
        return f"{marks}{beyond}|{'|'.join(sorted(name.folded for name in self.names))}"[:500]

    def beyond(self, last: int) -> Reading:
        """The same, asked about because it is beyond the last number of its name: together with those of the same cour."""
        cours = int((self.first_episode or 0) - last - 1) // LENGTH_OF_COUR
        return replace(self, asked_from=last + 1 + max(cours, 0) * LENGTH_OF_COUR)

    def as_stored(self) -> dict[str, Any]:
        """As a question keeps it."""
        return {
            "names": [name.shown for name in self.names],
            "kind": self.kind,
            "season": self.season,
            "year": self.year,
            "country": self.country,
            "written": [name.shown for name in self.written],
            **({"asked_from": self.asked_from} if self.asked_from else {}),
        }

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> Reading:
        """What `as_stored` wrote."""
        names = tuple(map(Name.of, stored["names"]))
        written = tuple(map(Name.of, stored.get("written", ())))
        return cls(
            names,
            SeriesKind(stored["kind"]),
            stored["season"],
            stored["year"],
            stored["country"],
            stored.get("asked_from"),
            stored.get("asked_from"),
            written=written,
            asked_from=stored.get("asked_from", 0),
        )


@dataclass(frozen=True, slots=True)
class ReleaseOrigin:
    """Where a release came from."""

    subscription_id: int
    series_id: int | None
    """The one series that its feed is about."""
    page_id: int | None
    """The page of one show that its feed is of."""

    @classmethod
    def of(cls, subscription: Subscription) -> ReleaseOrigin:
        return cls.at(subscription.id, subscription.settings.url, subscription.settings.series_id)

    @classmethod
    def at(cls, subscription_id: int, url: str, series_id: int | None) -> ReleaseOrigin:
        """A feed by its address."""
        page = _MIKAN_PAGE.search(url)
        return cls(subscription_id, series_id, int(page[1]) if page else None)


def _season_of(release: Release) -> int | None:
    """Its season; where it is said in one of its names alone, that of the others too: `夜之蔵人 / Yoru no Kurabito II`."""
    if release.season is not None or len(release.names) == 1 or SeriesKind.of(release.kind) is SeriesKind.MOVIE:
        return release.season
    if any(_ENDS_IN_NUMBER.search(name.shown) and _sequel(name.shown) is None for name in release.names):
        # It says the number in its own way: `蔵人 actII`.
        return None
    sequels = [(name.folded.isascii(), _sequel(name.shown)) for name in release.names]
    said = {sequel.season for _, sequel in sequels if sequel is not None and sequel.season > FIRST_SEASON}
    scripts = {is_latin for is_latin, sequel in sequels if sequel is None}
    is_beside = bool(scripts) and scripts.isdisjoint(is_latin for is_latin, sequel in sequels if sequel is not None)
    return said.pop() if len(said) == 1 and is_beside else None


def _year_of(release: Release) -> int | None:
    """Its year; where it stands behind one of its names alone, that of the other in another script: `夜之蔵人 1981 / くらびと`."""
    if release.year is not None or len(release.names) == 1:
        return release.year
    behind = {
        name.folded.isascii(): found[1] for name in release.names if (found := year_behind(name.shown)) is not None
    }
    bare = any(year_behind(name.shown) is None for name in release.names)
    return next(iter(behind.values())) if len(behind) == 1 and bare else None


def _own_names(release: Release) -> tuple[Name, ...]:
    """What its season is called beside its number, where a title writes both: `夜之蔵人 第二季 醪之章`."""
    season = release.season
    if season is None or season == FIRST_SEASON:
        return ()
    both = ((written.shown, name) for written in release.written for name in release.names)
    found = (goes_on_behind(written, name, season) for written, name in both)
    known = {name.folded for name in release.names}
    return tuple({one.folded: one for one in found if one is not None and one.folded not in known}.values())


@lru_cache(maxsize=4096)
def _sequel(name: str) -> Sequel | None:
    return read_sequel(name)

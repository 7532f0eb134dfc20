"""What speaks for a series and what against it. Pure; the matching of folders weighs years by the same rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from kurabito.catalog.identity.reading import FIRST_SEASON, Reading
from kurabito.catalog.identity.seasons.signs import TELLING_SIGNS, differs_in_signs, end_signs, has_more_signs
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import year_behind
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.titles.scripts import simplified
from kurabito.titles.text import is_foreign

_YEARS_APART: Final = 1
_YEARS_OF_A_SEASON: Final = 3
_SHORTEST_REST: Final = 3
_SHORT_NAME: Final = 5
_LONG_NAME: Final = 24


class Clue(StrEnum):
    """What speaks for a series, or against it. Stored with the links; an interface translates it."""

    RULING = "ruling"
    """A person said so."""
    SUBSCRIPTION = "subscription"
    """Its feed is about this series alone."""
    SAME_PAGE = "same_page"
    """Its feed is a site's page of one show, and this is the series of what came from it before."""
    ENTRY = "entry"
    """The offline index knows its whole name as the entry that the record of this series is."""
    NAME = "name"
    """It has this name, in this season."""
    SEQUEL = "sequel"
    """It has this name with the mark of the season."""
    INDEX = "index"
    """The offline index knows both names as one show."""
    ROMAJI = "romaji"
    """It has this name in another spelling: Japanese in other Latin letters, Chinese in the other script."""
    COUNTED = "counted"
    """Its number is in the count of this season, as the offline index and its dumps count seasons through."""
    YEAR = "year"
    COUNTRY = "country"
    HABIT = "habit"
    """The same group named it in the same feed before."""
    NEW = "new"
    """No series had this name."""
    OTHER_YEAR = "other_year"
    OTHER_COUNTRY = "other_country"
    OTHER_RECORD = "other_record"
    """The offline index knows its whole name as another entry than the record of this series."""
    UNSAID_YEAR = "unsaid_year"
    """The title says a year, and of the series none is known."""
    UNSAID_COUNTRY = "unsaid_country"
    SHARED_NAME = "shared_name"
    """Another one fits as well."""
    OTHER_NAMES = "other_names"
    """One of its names fits; another is that of something longer, shorter or different."""
    OTHER_SIGNS = "other_signs"
    """`Show!` and `Show!!` may be two seasons."""
    OTHER_ENTRY = "other_entry"
    """The offline index knows its names as two shows."""
    BEYOND = "beyond"
    """Its season has no such number, by its count or the weeks in which it was shown, and something else may have it."""
    BARE_NAME = "bare_name"
    """Titles have this name beside the number of its season, which stands at another name: it may be that of the whole show."""
    JUNK = "junk"
    """Its only name is a word that many titles have."""


OUTWEIGH: Final = frozenset({Clue.RULING, Clue.SUBSCRIPTION, Clue.SAME_PAGE, Clue.ENTRY})
"""What needs no other evidence."""
EXCLUDE: Final = frozenset({Clue.OTHER_YEAR, Clue.OTHER_COUNTRY, Clue.OTHER_RECORD})
"""What rules a series out."""
DOUBTS: Final = frozenset(
    {
        Clue.UNSAID_YEAR,
        Clue.UNSAID_COUNTRY,
        Clue.SHARED_NAME,
        Clue.OTHER_NAMES,
        Clue.OTHER_SIGNS,
        Clue.OTHER_ENTRY,
        Clue.BARE_NAME,
        Clue.JUNK,
    }
)
"""What makes a series one that may be meant, and no more."""
SPEAK_AGAINST: Final = EXCLUDE | DOUBTS | {Clue.BEYOND}


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name of a series, and what titles say beside it."""

    name: Name
    season: int
    year: int | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateSeries:
    """A series of the catalog, as far as identity needs to know it."""

    id: int
    title: str
    kind: SeriesKind
    season: int
    state: SeriesState
    year: int | None = None
    country: str | None = None
    episode_offset: int = 0
    metadata_id: int | None = None
    bgm_id: int | None = None
    """Of its record."""
    names: tuple[KnownName, ...] = ()

    @property
    def years(self) -> frozenset[int]:
        """The years that are known of it."""
        behind = (year_behind(one.name.shown) for one in self.names)
        return frozenset(
            year for year in (self.year, *(one.year for one in self.names), *(one[1] for one in behind if one)) if year
        )

    @property
    def own_season(self) -> int:
        """Its season: what titles say beside one of its names, where another name says it without a number."""
        return (
            max((one.season for one in self.names), default=self.season) if self.season == FIRST_SEASON else self.season
        )

    @property
    def is_without_country(self) -> bool:
        """Whether titles call it so without a country too."""
        return any(one.country is None for one in self.names)

    @property
    def is_always_dated(self) -> bool:
        """Whether every title that called it by a name said its year, and no record says what it is."""
        is_said = all(one.year is not None or year_behind(one.name.shown) is not None for one in self.names)
        return bool(self.names) and is_said and self.metadata_id is None

    @property
    def countries(self) -> frozenset[str]:
        return frozenset(one for one in (self.country, *(one.country for one in self.names)) if one)


def is_near(one: int | None, other: int) -> bool:
    """Whether two years may be the same beginning: calendars and time zones move it by one."""
    return one is not None and abs(one - other) <= _YEARS_APART


def year_fits(began: int, said: int, *, is_later_season: bool) -> bool:
    """Whether a year that is said may be that of something that began then. Beside a later season stands its own or the show's."""
    return is_near(began, said) or (is_later_season and began > said)


def may_follow(first: int, year: int, season: CandidateSeries) -> bool:
    """Whether a later season may be of a year, or of a show of that year, that began in the first."""
    return _is_within(first, year, season.own_season)


def is_of_time(series: CandidateSeries, year: int, season: int) -> bool:
    """Whether a series may be the season of a show that began in a year, by the years that titles say of it or of its show."""
    return not series.years or any(_is_within(one, year, season) for one in series.years)


def _is_within(first: int, year: int, season: int) -> bool:
    return -_YEARS_APART <= year - first <= _YEARS_OF_A_SEASON * season


def marks_of(reading: Reading, series: CandidateSeries) -> Iterator[Clue]:
    """What year and country say."""
    if reading.year is not None and (clue := _year_clue(reading, reading.year, series.years)) is not None:
        yield clue
    if reading.country is None:
        is_foreign_title = any(is_foreign(name.shown) for name in reading.names)
        if series.countries and not series.is_without_country and not is_foreign_title:
            # Titles in Latin letters say whose version it is, and this one does not.
            yield Clue.UNSAID_COUNTRY
    elif reading.country in series.countries:
        yield Clue.COUNTRY
    else:
        yield Clue.OTHER_COUNTRY if series.countries else Clue.UNSAID_COUNTRY


def _year_clue(reading: Reading, said: int, known: frozenset[int]) -> Clue | None:
    fitting = [year for year in known if year_fits(year, said, is_later_season=reading.is_later_season)]
    if fitting and said not in known and reading.is_without_number:
        # Films of one name come a year after each other, too.
        return Clue.UNSAID_YEAR
    if fitting:
        # A season is shown some years after its show began; of decades that tells nothing.
        is_far = min(fitting) - said > _YEARS_OF_A_SEASON * reading.said_season
        return Clue.UNSAID_YEAR if is_far else Clue.YEAR
    if not reading.is_later_season:
        is_told = reading.is_film_alone and not known
        return None if is_told else Clue.OTHER_YEAR if known else Clue.UNSAID_YEAR
    if not known:
        # Fansubs say in which year a season is shown; elsewhere a year tells two shows apart.
        return None if any(is_foreign(name.shown) for name in reading.names) else Clue.UNSAID_YEAR
    return Clue.UNSAID_YEAR if said - max(known) <= _YEARS_OF_A_SEASON * reading.said_season else Clue.OTHER_YEAR


def names_of(
    reading: Reading,
    series: CandidateSeries,
    fitting: Iterable[str],
    own: Set[str] = frozenset(),
    *,
    is_continued: bool = False,
    alone: Set[str] = frozenset(),
) -> Iterator[Clue]:
    """What the names say of a series that has those in `fitting`; those in `own` are names of one season alone.

    Titles call a show by each of those in `alone`, so that none of them is a subtitle.

    Signs that a name alone has tell more of a series with a record, and of one after which a later season came.
    """
    known = [one.name for one in series.names]
    folded = {name.folded for name in known}
    shared = [name for name in reading.names if name.folded in set(fitting)]
    alike = [(mine, other) for mine in shared for other in known if simplified(mine.folded) == simplified(other.folded)]
    own_signs = {sign for mine in shared for sign in end_signs(mine.shown)} & TELLING_SIGNS
    is_other = any(differs_in_signs(*both) for both in alike) or own_signs - {
        char for one in known for char in one.shown
    }
    if is_other or ((is_continued or series.metadata_id is not None) and has_more_signs(shared, known)):
        yield Clue.OTHER_SIGNS
    others = [name for name in reading.names if name.folded not in folded | own and name not in shared]
    if any(name.folded in folded for name in reading.names if name not in shared):
        return
    strength = max((_length(name) for name in shared), default=0)
    latin = [name for name in folded if name.isascii()]
    rests = set(reading.subtitles().values()) - alone
    subtitles = {one for one in rests if latin and not any(name.startswith(one) for name in latin)}
    said = folded.union(name.folded for name in reading.names if name.folded not in subtitles)
    is_sequel = any(_is_part(mine, other, said) for mine in others for other in known)
    if others and ((strength < _LONG_NAME and is_sequel) or (strength < _SHORT_NAME and _all_differ(others, known))):
        yield Clue.OTHER_NAMES


def may_be_one(some: CandidateSeries, other: CandidateSeries, *, has_own_name: bool = False) -> bool:
    """Whether nothing speaks against two series being one that titles call by two names.

    The name that a season has of its own goes on from the name of its show.
    """
    records = {some.metadata_id, other.metadata_id} - {None}
    apart = bool(some.years and other.years) and not any(is_near(a, b) for a in some.years for b in other.years)
    return (
        some.kind is other.kind
        and some.own_season == other.own_season
        and some.state is other.state
        and len(records) < 2
        and not apart
        and not (some.countries and other.countries and not some.countries & other.countries)
        and some.episode_offset == other.episode_offset
        and (has_own_name or not any(_is_part(one.name, two.name) for one in some.names for two in other.names))
    )


def _is_part(one: Name, other: Name, said: Set[str] = frozenset()) -> bool:
    """Whether one name is the beginning of the other, as that of a show is of its sequel's: both in one script.

    Not where the rest is a name too, of those in `said`: some write two names without anything between them.
    """
    if is_foreign(one.shown) != is_foreign(other.shown) or one.folded == other.folded:
        return False
    short, long = sorted((one.folded, other.folded), key=len)
    rest = long[len(short) :]
    least = 1 if is_foreign(rest) else _SHORTEST_REST
    return len(short) > 1 and long.startswith(short) and len(rest) >= least and rest not in said


def _all_differ(mine: Iterable[Name], known: Iterable[Name]) -> bool:
    """Whether the series has names in the scripts of these, and none of them is among those."""
    scripts = {is_foreign(name.shown) for name in known}
    return all(is_foreign(name.shown) in scripts for name in mine)


def has_its_signs(name: Name, season: CandidateSeries) -> bool:
    """Whether a name ends in signs that no group leaves out, as one of a later season does: `Show♭`."""
    signs = end_signs(name.shown)
    return not TELLING_SIGNS.isdisjoint(signs) and any(
        one.name.folded == name.folded and end_signs(one.name.shown) == signs for one in season.names
    )


def _length(name: Name) -> int:
    """How much a name says: a letter of a foreign script says as much as two Latin ones."""
    return sum(2 if ord(char) > 0x2E7F else 1 for char in name.folded)

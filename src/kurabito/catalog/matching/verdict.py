"""Which of the things that are known a folder is about. What cannot be told apart is never guessed at."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kurabito.catalog.identity.evidence import is_near, year_fits
from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.matching.knowledge import Knowledge, KnownSeries, Thing
from kurabito.catalog.matching.model import AGAINST, MatchCandidate, MatchReason
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind
from kurabito.metadata.records import Details, RecordKind
from kurabito.titles.text import is_foreign

MOST_CANDIDATES: Final = 12
_FIRST_SEASON: Final = 1
_REFUSED: Final = re.compile(r'[<>:"/\\|?*]')


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a reading came to: the one thing that it is about and why, or else what it may be."""

    thing: Thing | None = None
    series: KnownSeries | None = None
    reasons: tuple[MatchReason, ...] = ()
    candidates: tuple[MatchCandidate, ...] = ()

    @property
    def says_something(self) -> bool:
        return self.thing is not None or bool(self.candidates)

    @property
    def is_unknown_elsewhere(self) -> bool:
        """Whether it is a series that has no record, and the name is in no index."""
        return self.series is not None and self.thing is not None and self.thing.key == _key_of(self.series)


def weigh(reading: FolderReading, known: Knowledge, *, by_alias: bool = True) -> Weighed:
    """What it is about by its own names; only where those are unknown, as a later season, and by the names of its files.

    `by_alias` is off where a series itself asks.
    """
    before = known.chosen_before(reading) if by_alias and not reading.has_several_seasons else None
    if before is not None and not AGAINST.intersection(reasons := _reasons(reading, before, MatchReason.CHOSEN_BEFORE)):
        return Weighed(before, reasons=reasons)
    sequel = reading.as_sequel()
    tried = [
        (reading, reading.names),
        (sequel or reading, sequel.names if sequel else ()),
        (reading, reading.names_of_files),
    ]
    found = (_weigh(one, names, known, by_alias) for one, names in tried if names)
    return next((one for one in found if one.says_something), Weighed())


def _weigh(reading: FolderReading, names: Sequence[Name], known: Knowledge, by_alias: bool) -> Weighed:
    series = _series(reading, names, known) if by_alias else None
    judged = _judged(reading, names, known)
    if series is not None and series.metadata_id is not None:
        own = known.record(series.metadata_id)
        judged = [(own, _reasons(reading, own, MatchReason.ALIAS)), *(one for one in judged if one[0].key != own.key)]
        if not AGAINST.intersection(judged[0][1]):
            return Weighed(own, series, judged[0][1])
    fitting = _nearest(reading, [thing for thing, reasons in judged if not AGAINST.intersection(reasons)])
    fitting = _as_written(names, fitting)
    if len(fitting) == 1 and not reading.has_several_seasons:
        return Weighed(fitting[0], series, {one.key: reasons for one, reasons in judged}[fitting[0].key])
    if series is not None and not judged:
        return Weighed(_as_thing(series, reading), series, (MatchReason.ALIAS,))
    return Weighed(candidates=tuple(_candidates(judged, fitting))[:MOST_CANDIDATES])


def _series(reading: FolderReading, names: Sequence[Name], known: Knowledge) -> KnownSeries | None:
    """The series of that name, unless the years speak against it."""
    if reading.has_several_seasons:
        return None
    season = reading.season or _FIRST_SEASON
    kinds = [SeriesKind.TV, SeriesKind.MOVIE] if reading.kind is None else [reading.kind]
    found = [one for kind in kinds if (one := known.series(names, kind, season, reading.year)) is not None]
    if len(found) != 1:
        return None
    # Of a year that only the folder names it is not known whether it is the series'.
    is_sure = reading.year is None or found[0].metadata_id is not None or is_near(found[0].year, reading.year)
    return found[0] if is_sure else None


def _judged(
    reading: FolderReading, names: Sequence[Name], known: Knowledge
) -> list[tuple[Thing, tuple[MatchReason, ...]]]:
    """Everything that may be meant, with what speaks for it and what against."""
    if exact := _exactly(reading, names, known):
        return exact
    bases = known.named(names)
    if reading.season is None:
        judged = [(thing, _reasons(reading, thing, MatchReason.NAME)) for thing in bases]
        if reading.year is None or any(not AGAINST.intersection(reasons) for _, reasons in judged):
            return judged
        of_year = known.of_year(names, reading.year)
        return [(thing, _reasons(reading, thing, MatchReason.NAME)) for thing in of_year] or judged
    if marked := known.named(names, reading.season):
        return [(thing, _reasons(reading, thing, MatchReason.NAME)) for thing in marked]
    if reading.season == _FIRST_SEASON:
        return [(thing, _of_first_season(reading, thing)) for thing in bases]
    likely = [
        thing
        for thing in bases
        if not AGAINST.intersection(_reasons(_of_its_season(reading, thing), thing, MatchReason.NAME))
    ]
    shows = {thing.show for thing in likely}
    if len(shows) == 1 and (show := shows.pop()) is not None and (seasons := known.seasons_of(show)):
        return [(thing, _of_show(reading, thing)) for thing in seasons]
    return [(thing, (*_reasons(reading, thing, MatchReason.NAME), MatchReason.OTHER_SEASON)) for thing in bases]


def _of_its_season(reading: FolderReading, thing: Thing) -> FolderReading:
    """The reading as it speaks of the show: a year after the show's is that of the season."""
    is_after = reading.year is not None and thing.details.year is not None and reading.year > thing.details.year
    return replace(reading, year=None) if is_after else reading


def _exactly(
    reading: FolderReading, names: Sequence[Name], known: Knowledge
) -> list[tuple[Thing, tuple[MatchReason, ...]]]:
    """What is called like the whole folder, or is the film that it names; only what nothing speaks against."""
    # A folder that is called like a name in it says nothing more by that, unless the others are parts of the name.
    whole, folded = reading.whole if names is reading.names else None, {name.folded for name in names}
    says_more = whole is not None and (whole.folded not in folded or (reading.season is None and len(folded) > 1))
    things = known.named([whole]) if whole is not None and says_more else []
    if reading.kind is SeriesKind.MOVIE:
        things += [thing for thing in known.films(names) if thing.key not in {one.key for one in things}]
    judged = [(thing, _reasons(reading, thing, MatchReason.NAME)) for thing in things]
    return [(thing, reasons) for thing, reasons in judged if not AGAINST.intersection(reasons)]


def _of_first_season(reading: FolderReading, thing: Thing) -> tuple[MatchReason, ...]:
    reasons = _reasons(reading, thing, MatchReason.NAME)
    is_later = thing.season is not None and thing.season > _FIRST_SEASON
    return (*reasons, MatchReason.OTHER_SEASON) if is_later else reasons


def _of_show(reading: FolderReading, thing: Thing) -> tuple[MatchReason, ...]:
    reasons = _reasons(reading, thing, MatchReason.SAME_SHOW)
    return reasons if thing.season == reading.season else (*reasons, MatchReason.OTHER_SEASON)


def _reasons(reading: FolderReading, thing: Thing, why: MatchReason) -> tuple[MatchReason, ...]:
    reasons = [why]
    if reading.kind is not None and (reading.kind is SeriesKind.MOVIE) != thing.is_film:
        reasons.append(MatchReason.OTHER_KIND)
    began = thing.details.year
    if reading.year is not None and began is not None:
        is_later = (reading.season or _FIRST_SEASON) > _FIRST_SEASON
        fits = year_fits(began, reading.year, is_later_season=is_later)
        reasons.append(MatchReason.YEAR if fits else MatchReason.OTHER_YEAR)
    return tuple(reasons)


def _nearest(reading: FolderReading, fitting: list[Thing]) -> list[Thing]:
    """Those that began nearest to the year, where it tells several apart."""
    year = reading.year
    if year is None or len(fitting) <= 1 or (reading.season or _FIRST_SEASON) > _FIRST_SEASON:
        return fitting
    distances = {thing.key: abs(thing.details.year - year) for thing in fitting if thing.details.year is not None}
    nearest = min(distances.values(), default=None)
    return [thing for thing in fitting if distances.get(thing.key) == nearest]


def _as_written(names: Sequence[Name], fitting: list[Thing]) -> list[Thing]:
    """The one whose title is exactly what the folder is called, where the others differ by more than a file name can say.

    A folder that has such signs in its name says them where they belong, so they tell `?` from `??`.
    """
    if len(fitting) <= 1:
        return fitting
    written = {_written(name.shown) for name in names}
    exact = [thing for thing in fitting if not written.isdisjoint(map(_written, thing.details.titles))]
    others = [thing for thing in fitting if thing not in exact]
    named = {_in_a_file_name(name) for name in written}
    said = {title for thing in exact for title in map(_written, thing.details.titles) if title in written}
    is_clear = any(map(_REFUSED.search, said)) or all(
        thing.details.titles and named.isdisjoint(_in_a_file_name(_written(title)) for title in thing.details.titles)
        for thing in others
    )
    return exact if len(exact) == 1 and is_clear else fitting


def _written(title: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", title).casefold().split())


def _in_a_file_name(title: str) -> str:
    """The title as a folder may have it: some systems refuse these signs, and a dot at the end."""
    return " ".join(_REFUSED.sub(" ", title).split()).rstrip(". ")


def _candidates(
    judged: Sequence[tuple[Thing, tuple[MatchReason, ...]]], fitting: Sequence[Thing]
) -> Iterable[MatchCandidate]:
    """The likeliest first."""
    shared = {thing.key for thing in fitting} if len(fitting) > 1 else set()
    for thing, reasons in sorted(judged, key=lambda one: len(AGAINST.intersection(one[1]))):
        weighed = (*reasons, MatchReason.SHARED_NAME) if thing.key in shared else reasons
        yield MatchCandidate(thing.key, thing.details, weighed, thing.metadata_id)


def _as_thing(series: KnownSeries, reading: FolderReading) -> Thing:
    """What is known of a series that is in no index, and has no record yet."""
    kind = RecordKind.MOVIE if series.kind is SeriesKind.MOVIE else RecordKind.TV
    title = "title_japanese" if is_foreign(series.title) else "title_english"
    details = Details(kind=kind, year=series.year or reading.year, season=reading.season, **{title: series.title})  # type: ignore[arg-type]
    return Thing(_key_of(series), details)


def _key_of(series: KnownSeries) -> str:
    return f"series:{series.id}"

"""Names that a season has of its own: they go on from what its show is called, and titles have them beside its number or without it."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from kurabito.catalog.identity.evidence import CandidateSeries
from kurabito.catalog.identity.knowledge import NameRow, SeriesKnowledge
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading
from kurabito.catalog.spellings import latin_end_of, read_romaji_count
from kurabito.catalog.states import SeriesKind
from kurabito.titles.kana import letters_of, readings_of
from kurabito.titles.scripts import simplified

Found = tuple[CandidateSeries, str, NameRow]
"""A series, and the name that leads there as it is stored."""


def own_names(known: SeriesKnowledge, reading: Reading) -> frozenset[str]:
    """The names of a release, folded, that only its season has: what the show is called beside another name goes on in them."""
    if reading.kind is SeriesKind.MOVIE:
        return frozenset()
    if reading.season is None:
        season = season_called(known, reading)
        names = {simplified(one.name.folded) for one in season.names} if season is not None else set()
        return frozenset(name for name, bases in reading.bases() if names.intersection(map(simplified, bases)))
    if not reading.is_later_season:
        return frozenset()
    counted = frozenset(
        name.folded for name in reading.names if read_romaji_count(name.shown, reading.season) is not None
    )
    named = {name.folded: _series_named(known, name.folded, reading.kind) for name in reading.names}
    guessed = reading.guessed()
    for name in {*guessed}.union(*guessed.values()):
        # `夜之蔵人 Night Brewer` may be two names with nothing between them: what a season goes on from is surer.
        named.pop(name, None)
    return (
        counted
        | _read_aloud(known, reading)
        | frozenset(
            name
            for name, bases in reading.bases()
            if name in named
            for other, series in named.items()
            if other != name
            if any(
                simplified(base) == simplified(other) or series & _series_named(known, base, reading.kind)
                for base in bases
            )
        )
    )


def _read_aloud(known: SeriesKnowledge, reading: Reading) -> frozenset[str]:
    """Its names that are the reading of what the offline index calls its season alone: `Kurabito Moromi` of `蔵人 もろみ`."""
    whole = known.whole_name(reading)
    own = known.index.parts.own_titles(whole.entry) if whole is not None else ()
    readings = [aloud for title in own if (aloud := readings_of(title)) is not None]
    ends = {end for title in own if (end := latin_end_of(title)) is not None}
    names = {name.folded: name.shown for name in reading.names if name.folded.isascii()}
    return frozenset(
        folded
        for folded, _ in reading.bases()
        if folded in names
        if any(aloud.fullmatch(letters_of(names[folded])) for aloud in readings) or folded.endswith(tuple(ends))
    )


def season_called(known: SeriesKnowledge, reading: Reading) -> CandidateSeries | None:
    """The one later season that has a name of a reading as its own: beside its number, and without it."""
    named = [(name, folded) for name in reading.names for folded in (name.folded, *known.alike(name))]
    rows = [(name, row) for name, folded in named for row in known.rows(folded, reading.kind)]
    later = {(name, row.series_id) for name, row in rows if row.season > FIRST_SEASON}
    found = {row.series_id for name, row in rows if row.season == FIRST_SEASON and (name, row.series_id) in later}
    return known.series(found.pop()) if reading.season is None and len(found) == 1 else None


def ways_of_own_names(known: SeriesKnowledge, reading: Reading) -> Iterator[Found]:
    """A season that titles call by a name of its own, beside the number of the season or without it."""
    if reading.is_later_season:
        for name in own_names(known, reading):
            for series, row in known.named(name, reading, None):
                if series.season == FIRST_SEASON:
                    yield replace(series, season=reading.said_season), name, row
    elif reading.season is None:
        for name, bases in reading.bases():
            yield from _of_later_season(known, name, bases, reading.kind)
        yield from _taken_for_a_show(known, reading)


def _of_later_season(known: SeriesKnowledge, folded: str, bases: Set[str], kind: SeriesKind) -> Iterator[Found]:
    """The later season that a name belongs to alone: another name of it, of the whole show, goes on in this one."""
    rows = known.rows(folded, kind)
    if any(row.season <= FIRST_SEASON for row in rows):
        return
    for row in rows:
        series = known.series(row.series_id)
        if series is not None and _goes_on(known, series, folded, bases, kind):
            yield series, folded, row


def _goes_on(known: SeriesKnowledge, series: CandidateSeries, folded: str, bases: Set[str], kind: SeriesKind) -> bool:
    """Whether one of some names is what the show of a season is called: by titles of it, or by those of another season."""
    names = {one.name.folded for one in series.names}
    if not folded.isascii() and any(map(str.isascii, folded)):
        # In two scripts it may be two names of the show.
        return bool(names & bases)
    shows = set().union(*(_series_named(known, base, kind) for base in bases))
    return bool(names & bases) or any(shows & _series_named(known, name, kind) - {series.id} for name in names)


def _taken_for_a_show(known: SeriesKnowledge, reading: Reading) -> Iterator[Found]:
    """What came by another name of the season before it was known to be one."""
    season = season_called(known, reading)
    for name in own_names(known, reading) if season is not None else ():
        for series, row in known.named(name, reading, None):
            if season is not None and series.id != season.id and series.own_season == FIRST_SEASON:
                yield replace(series, season=season.own_season), name, row


def _series_named(known: SeriesKnowledge, folded: str, kind: SeriesKind) -> set[int]:
    """The series that have a name, in either Chinese script."""
    return {row.series_id for name in (folded, simplified(folded)) for row in known.rows(name, kind)}

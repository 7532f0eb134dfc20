"""Finds the series that a release may be about, each with what leads there, and decides among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, NamedTuple

from kurabito.catalog.identity.aliases import NO_COUNTRY, NO_YEAR
from kurabito.catalog.identity.decision import (
    MOST_CANDIDATES,
    Candidate,
    Certain,
    Decision,
    Hints,
    InDoubt,
    Unknown,
    WeighedSeries,
    apart,
    as_namesake,
    decide,
)
from kurabito.catalog.identity.evidence import CandidateSeries, Clue, has_its_signs, is_near
from kurabito.catalog.identity.index.pieces import without_pieces
from kurabito.catalog.identity.knowledge import NameRow, SeriesKnowledge
from kurabito.catalog.identity.reach import Reach
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading, ReleaseOrigin
from kurabito.catalog.identity.rulings import Rulings
from kurabito.catalog.identity.seasons.own_names import own_names, ways_of_own_names
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import film_names, halves_of, is_junk, season_inside
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection

_SHORTEST_NUMBER: Final = 3
"""Digits of a number that may be a name: `33/7`."""


class _Way(NamedTuple):
    """How a release leads to a series, by which of its names, and by which of the series'."""

    series: CandidateSeries
    clue: Clue
    by: str | None = None
    row: NameRow | None = None


class IdentityJudge:
    """Finds the candidates of a reading, and decides among them."""

    def __init__(self, conn: Connection, readings: Sequence[Reading], origins: Sequence[ReleaseOrigin] = ()) -> None:
        both = [*readings, *(one.as_film() for one in readings if one.may_be_film)]
        self.known = SeriesKnowledge(conn, both, origins)
        self._rulings = Rulings(conn, (name.folded for reading in readings for name in reading.names))
        self._reach = Reach(conn, self.known, readings)
        self.known.read_series(one for reading in readings if (one := self._rulings.series_of(reading)) is not None)

    def meant(self, reading: Reading, origin: ReleaseOrigin | None) -> Reading:
        """What a reading means that leaves something open: whether it is of a show or a film, or where a name ends."""
        reading = without_pieces(self.known.index, reading)
        if not reading.may_be_film or reading.kind is SeriesKind.MOVIE:
            return reading
        as_film = reading.as_film()
        film, show = self.decide(as_film, origin), self.decide(reading, origin)
        if not isinstance(film, Unknown) and self.undecided(as_film, origin):
            return as_film
        if isinstance(film, Unknown):
            names = [name.folded for name in reading.names]
            is_film = isinstance(show, Unknown) and self.known.index.is_only_film(names)
        elif isinstance(show, Unknown):
            is_film = True
        else:
            # A batch of a show says no number either: a film of the same name is told by its year, or by a person.
            shown = show.clues if isinstance(show, Certain) else ()
            told = {Clue.RULING, Clue.YEAR}.intersection(film.clues if isinstance(film, Certain) else ())
            is_film = not told.issubset(shown)
        return as_film if is_film else reading

    def undecided(self, reading: Reading, origin: ReleaseOrigin | None) -> tuple[CandidateSeries, ...]:
        """The series that a film is and that no title has called a show or a film before."""
        if reading.kind is not SeriesKind.MOVIE:
            return ()
        found = self.decide(replace(reading, kind=SeriesKind.TV), origin)
        series = (found.series, *found.joined) if isinstance(found, Certain) else ()
        return () if any(map(self.known.is_surely_show, series)) else series

    def is_junk(self, name: Name, kind: SeriesKind) -> bool:
        """Whether a name says nothing about which show it is; a number does where the index has one show of that name."""
        is_number = name.folded.isdecimal() and len(name.folded) >= _SHORTEST_NUMBER
        return is_junk(name.shown) and not (is_number and self.known.index.is_unique(name.folded, kind))

    def decide(self, reading: Reading, origin: ReleaseOrigin | None) -> Decision:
        candidates = self._candidates(reading, origin)
        names = frozenset(name.folded for name in reading.names)
        index = self.known.index
        hints = Hints(
            shared=frozenset(name for name in names if index.is_shared(name, reading.kind)),
            unique=frozenset(name for name in names if index.is_unique(name, reading.kind)),
            began=index.began(names, reading.kind),
            has_two_entries=index.are_two(names, reading.kind),
            junk=frozenset(name.folded for name in reading.names if self.is_junk(name, reading.kind)),
            own=own_names(self.known, reading),
            subtitled=index.subtitled(reading),
            continued=self._reach.continued(reading, candidates),
            beyond=self._reach.beyond(reading, candidates),
            beyond_entry=self._reach.beyond_entry(reading),
            is_of_year=any(index.is_of_year(name, reading.kind, reading.year) for name in names),
        )
        decision = decide(reading, candidates, hints)
        if isinstance(decision, InDoubt) and decision.beyond is not None:
            later = {one.id: one for one in (*self.known.later_parts(reading), *self.known.later_seasons(reading))}
            for known in decision.candidates:
                later.pop(known.series.id, None)
            others = (WeighedSeries(one, (Clue.NAME,)) for one in later.values())
            return replace(decision, candidates=(*others, *decision.candidates)[:MOST_CANDIDATES])
        if isinstance(decision, InDoubt) and origin is not None and reading.group is not None:
            habits = [self._with_habit(one, reading.group, origin) for one in candidates]
            if habits != candidates:
                return decide(reading, habits, hints)
        return decision

    def _with_habit(self, one: Candidate, group: Name, origin: ReleaseOrigin) -> Candidate:
        if not self.known.has_habit(one.series.id, group, origin.subscription_id):
            return one
        return Candidate(one.series, one.found | {Clue.HABIT}, one.by, one.is_exact)

    def _candidates(self, reading: Reading, origin: ReleaseOrigin | None) -> list[Candidate]:
        found: dict[int, Candidate] = {}
        said = (reading.year or NO_YEAR, reading.country or NO_COUNTRY)
        whole = self.known.whole_name(reading)
        entries = self.known.of_entry(whole.entry.id) if whole is not None else []
        for way in chain(self._ways(reading, origin), (_Way(series, Clue.ENTRY) for series in entries)):
            before = found.get(way.series.id) or Candidate(way.series, frozenset())
            is_exact = way.clue is Clue.NAME and way.row is not None and (way.row.year, way.row.country) == said
            found[way.series.id] = Candidate(
                way.series,
                before.found | {way.clue},
                before.by | ({way.by} if way.by else set()),
                before.is_exact or is_exact,
            )
        found = {series_id: as_namesake(one) for series_id, one in found.items()}
        return [apart(one, reading, whole) for one in found.values()] if whole is not None else list(found.values())

    def _ways(self, reading: Reading, origin: ReleaseOrigin | None) -> Iterator[_Way]:
        """Every way that leads to a series."""
        if (said := self._rulings.series_of(reading)) is not None and (series := self.known.series(said)) is not None:
            yield _Way(series, Clue.RULING)
        if origin is not None:
            yield from self._ways_of_origin(reading, origin)
        yield from self._ways_of_names(reading)

    def _ways_of_names(self, reading: Reading) -> Iterator[_Way]:
        index = self.known.index
        for name in reading.names:
            yield from self._named(reading, Clue.NAME, name.folded, [name.folded])
            # Beside a later season stands the year of either; elsewhere it tells a remake from its original.
            year = None if reading.is_later_season else reading.year
            yield from self._named(reading, Clue.INDEX, name.folded, index.namesakes(name.folded, reading.kind, year))
            yield from self._named(reading, Clue.ROMAJI, name.folded, self.known.alike(name))
            yield from self._ways_of_recorded_season(reading, name)
            yield from self._ways_of_halves(reading, name)
            if reading.kind is SeriesKind.MOVIE:
                yield from self._named(reading, Clue.NAME, name.folded, film_names(name))
            yield from self._ways_of_number_inside(reading, name)
        yield from self._ways_of_entry(reading)
        yield from self._ways_of_shared_names(reading)
        yield from self._ways_of_pairs(reading)
        yield from self._ways_of_years(reading)
        yield from self._ways_of_signs(reading)
        for series, by, row in ways_of_own_names(self.known, reading):
            yield _Way(series, Clue.NAME, by, row)
        own = {name.folded for name in reading.names}
        said = {name.folded: sequel.season for name, sequel in reading.sequels()}
        for name, sequel in reading.sequels():
            for spelling in (sequel.folded, *self.known.in_other_script(sequel.folded)):
                for series, row in self.known.named(spelling, reading, sequel.season):
                    yield _Way(series, Clue.SEQUEL, name.folded, row)
            # A season may have a name of its own elsewhere; the bare name is that of all of them.
            others = {(other, sequel.season) for other in index.namesakes(sequel.folded, reading.kind) - own}
            # The show is listed with its first season too: `Yoru no Kurabito Season 1` is not `Yoru no Kurabito II`.
            seasons = index.seasons_of(sequel.folded, reading.kind)
            others.update(one for one in seasons if one.season == said[name.folded])
            for other, season in others:
                for series, row in self.known.named(other, reading, season):
                    yield _Way(series, Clue.INDEX, name.folded, row)
        if reading.season is None:
            yield from self._ways_of_seasons(reading)

    def _ways_of_entry(self, reading: Reading) -> Iterator[_Way]:
        """A series that titles called by another name of the entry that this one names whole: `Kurabito S2` is `夜之蔵人 醪篇`."""
        whole = self.known.whole_name(reading)
        if whole is None:
            return
        own = {name.folded for name in reading.names}
        by = next((name.folded for name in reading.names if name.folded in whole.names), reading.names[0].folded)
        for other, season in self.known.index.names_of_entry(whole.entry.id):
            if (other, season) not in {(name, reading.said_season) for name in own}:
                for series, row in self.known.named(other, reading, season):
                    yield _Way(series, Clue.INDEX, by, row)

    def _ways_of_shared_names(self, reading: Reading) -> Iterator[_Way]:
        """Series whose records are different shows of one name: it is stored for the one that had it first."""
        if reading.year is None and reading.country is None and not reading.is_later_season:
            for name in reading.names:
                shows = self.known.index.shows_of(name.folded, reading.kind)
                found = [series for show in shows for series in self.known.of_entry(show.id)]
                if len(found) > 1:
                    yield from (_Way(series, Clue.SHARED_NAME, name.folded) for series in found)

    def _ways_of_recorded_season(self, reading: Reading, name: Name) -> Iterator[_Way]:
        """A season whose record counts it, and whose title does not: `Hataraku Kurabito S2` is `はたらく蔵人!!`."""
        if reading.is_later_season:
            for other in self.known.alike(name):
                for series, row in self.known.named(other, reading, FIRST_SEASON):
                    if series.metadata_id is not None and series.season == reading.season:
                        yield _Way(series, Clue.ROMAJI, name.folded, row)

    def _ways_of_number_inside(self, reading: Reading, name: Name) -> Iterator[_Way]:
        """`Show IV: Encore` is the fourth season, whether a title says its number again or not."""
        season = season_inside(name.shown)
        if season is not None and reading.season in (None, season):
            other = None if reading.season == season else season
            for series, row in self.known.named(name.folded, reading, other):
                yield _Way(replace(series, season=season), Clue.NAME, name.folded, row)

    def _ways_of_pairs(self, reading: Reading) -> Iterator[_Way]:
        """A series that titles called by two of these names, with nothing between them."""
        guessed = reading.guessed()
        for whole, halves in reading.pairs().items():
            if whole not in guessed:
                for series, row in self.known.named(whole, reading, reading.season):
                    # The name that stood first; the other may lead elsewhere until the two are joined.
                    yield _Way(series, Clue.NAME, next(half for half in halves if not half.isascii()), row)

    def _ways_of_years(self, reading: Reading) -> Iterator[_Way]:
        """`Show 2019` and `Show (2019)` are one."""
        for name, folded, year in reading.dated():
            for series, row in self.known.named(folded, reading, reading.season):
                if any(is_near(one, year) for one in series.years):
                    yield _Way(series, Clue.NAME, name.folded, row)

    def _ways_of_signs(self, reading: Reading) -> Iterator[_Way]:
        """A later season that titles call by the name of the show with signs of its own, beside its number or without it."""
        if reading.season is None:
            for name in reading.names:
                for series in self.known.later_seasons(reading):
                    if has_its_signs(name, series):
                        yield _Way(series, Clue.NAME, name.folded)

    def _ways_of_halves(self, reading: Reading, name: Name) -> Iterator[_Way]:
        """Two names without anything between them, if one series has both, and none is called by the whole."""
        halves = halves_of(name.shown)
        if halves is not None and not self.known.named(name.folded, reading, reading.season):
            first = {series.id for series, _ in self.known.named(halves[0], reading, reading.season)}
            for series, row in self.known.named(halves[1], reading, reading.season):
                if series.id in first:
                    yield _Way(series, Clue.NAME, name.folded, row)

    def _ways_of_seasons(self, reading: Reading) -> Iterator[_Way]:
        """A season may have a name of its own, beside which titles leave the season out."""
        index = self.known.index
        for name in reading.names:
            if (season := index.season_of(name.folded, reading.kind)) is not None:
                others = {(other, season) for other in (name.folded, *index.namesakes(name.folded, reading.kind))}
                others.update(index.seasons_of(name.folded, reading.kind))
                for other, said in others:
                    for series, row in self.known.named(other, reading, said):
                        yield _Way(series, Clue.INDEX, name.folded, row)

    def _ways_of_origin(self, reading: Reading, origin: ReleaseOrigin) -> Iterator[_Way]:
        if origin.series_id is not None and (own := self.known.series(origin.series_id)) is not None:
            yield _Way(own, Clue.SUBSCRIPTION)
        if origin.page_id is not None:
            if (paged := self.known.of_page(origin, reading.kind)) is not None:
                yield _Way(paged, Clue.SAME_PAGE)
            yield from self._named(reading, Clue.INDEX, None, self.known.index.names_of_page(origin.page_id))

    def _named(self, reading: Reading, clue: Clue, by: str | None, names: Iterable[str]) -> Iterator[_Way]:
        for name in names:
            for series, row in self.known.named(name, reading, reading.season):
                yield _Way(series, clue, by, row)

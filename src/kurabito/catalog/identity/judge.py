"""Finds the series that a release may be about, each with what leads there, and decides among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

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
from kurabito.catalog.identity.evidence import OUTWEIGH, CandidateSeries, Clue, is_of_time
from kurabito.catalog.identity.index.pieces import without_pieces
from kurabito.catalog.identity.index.shows import WholeName
from kurabito.catalog.identity.knowledge import SeriesKnowledge
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading, ReleaseOrigin
from kurabito.catalog.identity.rulings import Rulings
from kurabito.catalog.identity.seasons.bare_names import BareNames
from kurabito.catalog.identity.seasons.own_names import own_names
from kurabito.catalog.identity.seasons.reach import Reach
from kurabito.catalog.identity.seasons.signs import has_more_signs
from kurabito.catalog.identity.ways import NameWays, Way
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import halves_of, is_extra_name, is_junk
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection
from kurabito.titles.scripts import simplified

_SHORTEST_NUMBER: Final = 3
"""Digits of a number that may be a name: `33/7`."""


class IdentityJudge:
    """Finds the candidates of a reading, and decides among them."""

    def __init__(self, conn: Connection, readings: Sequence[Reading], origins: Sequence[ReleaseOrigin] = ()) -> None:
        both = [*readings, *(one.as_film() for one in readings if one.may_be_film)]
        self.known = SeriesKnowledge(conn, both, origins)
        self._rulings = Rulings(conn, (name.folded for reading in readings for name in reading.names))
        self._reach = Reach(conn, self.known, readings)
        self._bare_names = BareNames(conn, readings)
        self._name_ways = NameWays(self.known)
        self.known.read_series(one for reading in readings if (one := self._rulings.series_of(reading)) is not None)

    def meant(self, reading: Reading, origin: ReleaseOrigin | None) -> Reading:
        """What a reading means that leaves something open: whether it is of a show or a film, or where a name ends."""
        reading = self._as_two(self._as_extra(without_pieces(self.known.index, reading)))
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

    def _as_two(self, reading: Reading) -> Reading:
        """`Night Brewer 夜之蔵人` by both names, where the offline index has the second one alone, for the same show."""
        names: dict[str, Name] = {}
        for name in reading.names:
            halves = halves_of(name.shown)
            is_two = halves is not None and self._are_two(name, *halves, reading.kind)
            for one in (*(halves or ()), name) if is_two else (name,):
                names[one.folded] = one
        return reading if len(names) == len(reading.names) else replace(reading, names=tuple(names.values()))

    def _are_two(self, whole: Name, latin: Name, foreign: Name, kind: SeriesKind) -> bool:
        index = self.known.index
        if index.is_known(latin.folded):
            return index.are_one([latin.folded, foreign.folded], kind)
        if not index.is_known(whole.folded):
            return index.is_unique(foreign.folded, kind)
        return simplified(foreign.folded) in {simplified(one) for one in index.namesakes(whole.folded, kind)}

    def _as_extra(self, reading: Reading) -> Reading:
        """A reading by the names that say OVA, where the offline index has those for something else than the show of that name."""
        whole = self.known.whole_name(reading)
        own = {name.folded for name in reading.names}
        if whole is None or whole.names & own or not any(map(is_extra_name, whole.names)):
            return reading
        bare = self.known.index.of_names(own)
        if bare is None or bare.tmdb_id == whole.entry.tmdb_id:
            return reading
        return replace(reading, names=tuple(name for name in reading.written if is_extra_name(name.folded)), written=())

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
            subtitled=self._subtitled(reading),
            continued=self._reach.continued(reading, candidates),
            beyond=self._reach.beyond(reading, candidates),
            beyond_entry=self._reach.beyond_entry(reading),
            is_of_year=any(index.is_of_year(name, reading.kind, reading.year) for name in names),
        )
        decision = self._doubted(reading, decide(reading, candidates, hints))
        if isinstance(decision, Unknown) and (likely := [*self._seasons_beside(reading), *self._begun(reading)]):
            return InDoubt(tuple(likely[:MOST_CANDIDATES]))
        if isinstance(decision, InDoubt) and decision.beyond is not None:
            later = {one.id: one for one in (*self.known.later_parts(reading), *self.known.later_seasons(reading))}
            for known in decision.candidates:
                later.pop(known.series.id, None)
            others = (WeighedSeries(one, (Clue.NAME,)) for one in later.values())
            return replace(decision, candidates=(*others, *decision.candidates)[:MOST_CANDIDATES])
        if isinstance(decision, InDoubt) and origin is not None and reading.group is not None:
            habits = [self._with_habit(one, reading.group, origin) for one in candidates]
            if habits != candidates:
                return self._doubted(reading, decide(reading, habits, hints))
        return decision

    def _doubted(self, reading: Reading, decision: Decision) -> Decision:
        """A decision, in doubt where what a name leads to may be a film of a year, or the season before."""
        if not isinstance(decision, Certain) or not OUTWEIGH.isdisjoint(decision.clues):
            return decision
        series, whole = decision.series, self.known.whole_name(reading)
        is_later = whole is not None and (whole.entry.tmdb_season or FIRST_SEASON) > FIRST_SEASON
        if is_later and reading.season is None and has_more_signs(reading.names, (one.name for one in series.names)):
            return InDoubt((WeighedSeries(series, (*decision.clues, Clue.OTHER_SIGNS)),))
        is_of_show = reading.season is not None and reading.year is None and series.kind is SeriesKind.TV
        if is_of_show and series.years and not self.known.is_surely_show(series):
            return InDoubt((WeighedSeries(series, (*decision.clues, Clue.UNSAID_YEAR)),))
        return decision

    def _seasons_beside(self, reading: Reading) -> list[WeighedSeries]:
        """The later seasons that a name without a number may be that of, though it may be that of their show."""
        if reading.season is not None or reading.kind is not SeriesKind.TV:
            return []
        later = self.known.later_seasons(reading)
        return [WeighedSeries(one, (Clue.BARE_NAME,)) for one in later if self._bare_names.may_be_of(one, reading)]

    def _begun(self, reading: Reading) -> list[WeighedSeries]:
        """The series of the Latin name with which a name begins: `Night Brewer 夜之蔵人` may be both, or a show of its own."""
        halves = filter(None, (halves_of(name.shown) for name in reading.names))
        heads = [latin.folded for latin, _ in halves if not self.known.index.is_known(latin.folded)]
        found = (series for head in heads for series, _ in self.known.named(head, reading, reading.season))
        return [WeighedSeries(one, (Clue.OTHER_NAMES,)) for one in {series.id: series for series in found}.values()]

    def _subtitled(self, reading: Reading) -> frozenset[str]:
        """Its names behind which stands what is no name of their show, nor what titles call a series alone."""
        rests = reading.subtitles()
        found = self.known.index.subtitled(reading)
        return frozenset(name for name in found if not self.known.rows(rests[name], reading.kind))

    def _with_habit(self, one: Candidate, group: Name, origin: ReleaseOrigin) -> Candidate:
        if not self.known.has_habit(one.series.id, group, origin.subscription_id):
            return one
        return Candidate(one.series, one.found | {Clue.HABIT}, one.by, one.is_exact)

    def _candidates(self, reading: Reading, origin: ReleaseOrigin | None) -> list[Candidate]:
        found: dict[int, Candidate] = {}
        said = (reading.year or NO_YEAR, reading.country or NO_COUNTRY)
        whole = self.known.whole_name(reading)
        entries = self.known.of_entry(whole.entry.id) if whole is not None else []
        for way in chain(self._ways(reading, origin), (Way(series, Clue.ENTRY) for series in entries)):
            if way.clue is Clue.INDEX and not _may_be_indexed(reading, way.series, whole):
                continue
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

    def _ways(self, reading: Reading, origin: ReleaseOrigin | None) -> Iterator[Way]:
        """Every way that leads to a series."""
        if (said := self._rulings.series_of(reading)) is not None and (series := self.known.series(said)) is not None:
            yield Way(series, Clue.RULING)
        if origin is not None:
            yield from self._ways_of_origin(reading, origin)
        yield from self._name_ways.of(reading)

    def _ways_of_origin(self, reading: Reading, origin: ReleaseOrigin) -> Iterator[Way]:
        if origin.series_id is not None and (own := self.known.series(origin.series_id)) is not None:
            yield Way(own, Clue.SUBSCRIPTION)
        if origin.page_id is not None:
            if (paged := self.known.of_page(origin, reading.kind)) is not None:
                yield Way(paged, Clue.SAME_PAGE)
            yield from self._name_ways.named(reading, Clue.INDEX, None, self.known.index.names_of_page(origin.page_id))


def _may_be_indexed(reading: Reading, series: CandidateSeries, whole: WholeName | None) -> bool:
    """Whether what the index says of a name may lead to a series: by its season, and by the years that titles say of it."""
    if reading.season == FIRST_SEASON and series.own_season > FIRST_SEASON:
        # A name that the index has for a later season alone may be that of the show.
        return False
    year = whole.entry.year if whole is not None and reading.is_later_season else None
    return year is None or is_of_time(series, year, reading.said_season)

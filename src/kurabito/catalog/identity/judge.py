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
from kurabito.catalog.identity.seasons.signs import has_more_signs, has_telling_signs
from kurabito.catalog.identity.ways import NameWays, Way
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import bases_of, halves_of, is_extra_name, is_junk, read_ordinal
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection
from kurabito.titles import fold_title
from kurabito.titles.scripts import simplified

_MOST_COUNTED: Final = 8
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
            is_two = halves is not None and self._are_two(name, *halves, reading)
            for one in (*(halves or ()), name) if is_two else (name,):
                names[one.folded] = one
        return reading if len(names) == len(reading.names) else replace(reading, names=tuple(names.values()))

    def _are_two(self, whole: Name, first: Name, second: Name, reading: Reading) -> bool:
        index, kind = self.known.index, reading.kind
        if " aka " in whole.shown:
            return True
        if whole.shown.endswith(")") and self.known.named(second.folded, reading, reading.season):
            # What titles call a show alone is no subtitle of this one.
            return True
        if index.is_known(first.folded):
            return index.are_one([first.folded, second.folded], kind)
        if not index.is_known(whole.folded):
            return index.is_unique(second.folded, kind)
        return simplified(second.folded) in {simplified(one) for one in index.namesakes(whole.folded, kind)}

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
        shared = frozenset(name for name in names if index.is_shared(name, reading.kind))
        hints = Hints(
            shared=shared,
            unique=frozenset(name for name in names if index.is_unique(name, reading.kind)),
            began=index.began(names, reading.kind),
            has_two_entries=index.are_two(names, reading.kind),
            junk=frozenset(name.folded for name in reading.names if self.is_junk(name, reading.kind)),
            alone=frozenset(one for one in reading.subtitles().values() if self.known.rows(one, reading.kind)),
            own=own_names(self.known, reading),
            subtitled=self._subtitled(reading),
            remade=self._remade(reading, candidates),
            continued=self._reach.continued(reading, candidates),
            beyond=self._reach.beyond(reading, candidates),
            beyond_entry=self._reach.beyond_entry(reading),
            is_of_year=not shared and any(index.is_of_year(name, reading.kind, reading.year) for name in names),
        )
        decision = self._doubted(reading, decide(reading, candidates, hints))
        if isinstance(decision, Unknown):
            likely = self._likely(reading)
            is_doubtful = bool(likely) or self._is_remade(reading, hints)
            return InDoubt(tuple(likely[:MOST_CANDIDATES])) if is_doubtful else decision
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

    def _remade(self, reading: Reading, candidates: Sequence[Candidate]) -> frozenset[int]:
        """The candidates that a title without a year may be of, or of another one of their names: `Show (2025)` beside `Show`."""
        if reading.year is not None:
            return frozenset()
        dated = [one.series for one in candidates if one.series.is_always_dated]
        return frozenset(one.id for one in dated if self.known.has_namesake_of_other_year(one))

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

    def _is_remade(self, reading: Reading, hints: Hints) -> bool:
        """Whether the offline index knows its names as those of shows of different years, and the title says none."""
        is_told = reading.year is not None or reading.country is not None or reading.is_later_season
        is_told = is_told or next(reading.dated(), None) is not None
        shows = (self.known.index.shows_of(name, reading.kind) for name in hints.shared)
        return not is_told and not hints.unique and any(len({show.year for show in some}) > 1 for some in shows)

    def _likely(self, reading: Reading) -> list[WeighedSeries]:
        """What a release may be of that is of no series by its names."""
        return [*self._seasons_beside(reading), *self._begun(reading), *self._ended(reading), *self._counted(reading)]

    def _seasons_beside(self, reading: Reading) -> list[WeighedSeries]:
        """The later seasons that a name without their number may be that of, though it may be that of their show."""
        if reading.season is not None or reading.kind is not SeriesKind.TV:
            return []
        later = self.known.later_seasons(reading)
        is_beyond = self._reach.is_beyond_first_cour(reading)
        found = [(one, self._clue_of_season(one, reading, is_beyond=is_beyond)) for one in later]
        return [WeighedSeries(one, (clue,)) for one, clue in found if clue is not None]

    def _clue_of_season(self, season: CandidateSeries, reading: Reading, *, is_beyond: bool) -> Clue | None:
        """Why a later season may be meant by what names none."""
        if self._bare_names.may_be_of(season, reading):
            return Clue.BARE_NAME
        if any(map(has_telling_signs, reading.names)):
            return Clue.OTHER_SIGNS
        return Clue.BEYOND if is_beyond else None

    def _begun(self, reading: Reading) -> list[WeighedSeries]:
        """The series of the Latin name with which a name begins: `Night Brewer 夜之蔵人` may be both, or a show of its own."""
        halves = filter(None, (halves_of(name.shown) for name in reading.names))
        heads = [latin.folded for latin, _ in halves if not self.known.index.is_known(latin.folded)]
        found = (series for head in heads for series, _ in self.known.named(head, reading, reading.season))
        return [WeighedSeries(one, (Clue.OTHER_NAMES,)) for one in {series.id: series for series in found}.values()]

    def _counted(self, reading: Reading) -> list[WeighedSeries]:
        """The season that a name may count: `Kurabito 2nd` beside the second season of `Kurabito`; or it is a name."""
        if reading.season is not None:
            return []
        seasons = range(FIRST_SEASON + 1, _MOST_COUNTED)
        counted = [one for name in reading.names for season in seasons if (one := read_ordinal(name.shown, season))]
        named = [series for one in counted for series, _ in self.known.named(fold_title(one.name), reading, one.season)]
        return [WeighedSeries(one, (Clue.OTHER_NAMES,)) for one in {series.id: series for series in named}.values()]

    def _ended(self, reading: Reading) -> list[WeighedSeries]:
        """The films of its year with whose name that of a film ends: `La Cava The Vault 2011` has the name in two languages."""
        if reading.year is None or not reading.is_without_number:
            return []
        ends = {base for name in reading.names for base in bases_of(name.shown) if name.folded.endswith(base)}
        found = [series for end in ends for series, _ in self.known.named(end, reading, None)]
        return [
            WeighedSeries(one, (Clue.OTHER_NAMES, Clue.YEAR))
            for one in {series.id: series for series in found}.values()
            if reading.year in one.years
        ]

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

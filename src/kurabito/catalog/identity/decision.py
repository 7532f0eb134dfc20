"""The decision which series a release is about. Pure: the reading and the candidates go in, a decision with its clues comes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, TypeAlias

from kurabito.catalog.identity.evidence import (
    DOUBTS,
    EXCLUDE,
    OUTWEIGH,
    SPEAK_AGAINST,
    CandidateSeries,
    Clue,
    has_its_signs,
    is_near,
    marks_of,
    may_be_one,
    names_of,
)
from kurabito.catalog.identity.index.shows import WholeName
from kurabito.catalog.identity.reading import Reading

MOST_CANDIDATES: Final = 12
_BY_NAME: Final = (Clue.NAME, Clue.SEQUEL, Clue.INDEX, Clue.ROMAJI)
"""The ways by which a name leads to a series, the surest first."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A series that may be meant, and how it was found."""

    series: CandidateSeries
    found: frozenset[Clue]
    by: frozenset[str] = frozenset()
    """The names of the release, folded, that led to it."""
    is_exact: bool = False
    """One of its names stands beside the same season, year and country as in the release."""


@dataclass(frozen=True, slots=True)
class WeighedSeries:
    """A candidate with everything that speaks for it and against it."""

    series: CandidateSeries
    clues: tuple[Clue, ...]

    @property
    def is_excluded(self) -> bool:
        return not EXCLUDE.isdisjoint(self.clues)

    @property
    def is_doubtful(self) -> bool:
        return not DOUBTS.isdisjoint(self.clues)


@dataclass(frozen=True, slots=True)
class Certain:
    """It is of this series."""

    series: CandidateSeries
    clues: tuple[Clue, ...]
    joined: tuple[CandidateSeries, ...] = ()
    """Series that turned out to be the same: titles call it by both names."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It is of no series that is known: a new one."""

    clues: tuple[Clue, ...] = (Clue.NEW,)


@dataclass(frozen=True, slots=True)
class InDoubt:
    """It may be of one of these, or of a new one. The likeliest first."""

    candidates: tuple[WeighedSeries, ...]
    beyond: int | None = None
    """Its number is why: it comes after this one, the last that its names may have."""
    named: Certain | None = None
    """What its names mean, whatever its number."""


Decision: TypeAlias = Certain | Unknown | InDoubt


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known beside the series."""

    shared: frozenset[str] = frozenset()
    """Those of its names, folded, that the offline index knows as several shows."""
    unique: frozenset[str] = frozenset()
    """Those of its names that it knows as one show."""
    began: frozenset[tuple[str, int]] = frozenset()
    """Those again, each with the year in which its show began."""
    has_two_entries: bool = False
    """The offline index knows its names as different shows."""
    junk: frozenset[str] = frozenset()
    """Those of its names that say nothing."""
    subtitled: frozenset[str] = frozenset()
    """Those of its names behind which stands what the offline index does not know as a name of their show."""
    alone: frozenset[str] = frozenset()
    """What some of its names go on in, and titles call a show alone."""
    own: frozenset[str] = frozenset()
    """Those of its names that only its season has: what it is called elsewhere goes on in them."""
    remade: frozenset[int] = frozenset()
    """Series of which every title said the year, where another one of another year has one of their names."""
    continued: frozenset[int] = frozenset()
    """Series of which titles of a later season came that have one of its names."""
    beyond: Mapping[int, int] = field(default_factory=dict)
    """Series that cannot have its number, each with the last that it may have."""
    beyond_entry: int | None = None
    """The last number of the entry of the offline index that it names, which cannot have its own."""
    is_of_year: bool = False
    """The offline index knows one of its names as one show, which began in the year that it says."""


def as_namesake(one: Candidate) -> Candidate:
    """A candidate whose name others with a record have as well: that it has the name tells it from none of them."""
    if Clue.SHARED_NAME not in one.found:
        return one
    return Candidate(one.series, one.found - {Clue.SHARED_NAME} | {Clue.NAME}, one.by)


def apart(one: Candidate, reading: Reading, whole: WholeName) -> Candidate:
    """A candidate with the clue that it is another entry than the release names, where no name of its own says else."""
    is_other = None not in (one.series.bgm_id, whole.entry.bgm_id) and one.series.bgm_id != whole.entry.bgm_id
    said = {reading.year, *(year for *_, year in reading.dated())} - {None}
    if one.series.bgm_id is None and one.series.years and whole.entry.year in said - one.series.years:
        # Years that are one apart may be the same beginning, but not where the entry began in the very year that is said.
        is_other = True
    is_called_so = any(known.name.folded in whole.names for known in one.series.names)
    if not is_other or is_called_so or (reading.is_later_season and one.is_exact):
        return one
    return Candidate(one.series, one.found | {Clue.OTHER_RECORD}, one.by, one.is_exact)


def decide(reading: Reading, candidates: Sequence[Candidate], hints: Hints = Hints()) -> Decision:  # noqa: B008 - frozen
    """Which series a release is of."""
    decision = _by_names(reading, candidates, hints)
    if isinstance(decision, Unknown) and hints.beyond_entry is not None:
        return InDoubt((), beyond=hints.beyond_entry)
    if not isinstance(decision, Certain) or Clue.BEYOND not in decision.clues:
        return decision
    weighed = _in_doubt(_weigh(reading, one, hints) for one in candidates).candidates
    return InDoubt(weighed, beyond=hints.beyond[decision.series.id], named=decision)


def _by_names(reading: Reading, candidates: Sequence[Candidate], hints: Hints) -> Decision:
    """Which series it is of by all but its number; that decides among those that fit alike."""
    for clue in (Clue.RULING, Clue.SUBSCRIPTION, Clue.SAME_PAGE, Clue.ENTRY):
        sure = [one for one in candidates if clue in one.found]
        if len(sure) == 1:
            return Certain(sure[0].series, _weigh(reading, sure[0], hints).clues)
    weighed = {one.series.id: _weigh(reading, one, hints) for one in candidates}
    fitting = [one for one in candidates if not weighed[one.series.id].is_excluded]
    if not fitting:
        return InDoubt(()) if hints.junk and len(hints.junk) == len(reading.names) else Unknown()
    best = _best(reading, fitting, weighed)
    if len(best) > 1:
        return _one_of_several(best, weighed, hints)
    found = weighed[best[0].series.id]
    # What a group calls a show tells it from a namesake, and not from one with another name.
    doubts = DOUBTS.intersection(found.clues) - ({Clue.SHARED_NAME} if Clue.HABIT in found.clues else set())
    if doubts:
        return _in_doubt(weighed.values())
    return Certain(found.series, found.clues, _known_as_one(reading, best[0], fitting, weighed, hints))


def _known_as_one(
    reading: Reading, best: Candidate, fitting: Sequence[Candidate], weighed: dict[int, WeighedSeries], hints: Hints
) -> tuple[CandidateSeries, ...]:
    """Other series that are the same show, as the offline index knows, or as this title calls it by the names of both."""
    if hints.has_two_entries or best.by & hints.shared:
        return ()
    # A name without the mark that another has may be that of the first season.
    is_bare = reading.season is None and bool(reading.marked())
    others = [
        one
        for one in fitting
        if one is not best
        if Clue.INDEX in one.found or (not is_bare and one.by and one.by.isdisjoint(best.by | hints.own))
    ]
    return tuple(
        one.series
        for one in others
        if not weighed[one.series.id].is_doubtful
        and one.by.isdisjoint(hints.shared)
        and may_be_one(best.series, one.series)
    )


def _weigh(reading: Reading, one: Candidate, hints: Hints) -> WeighedSeries:
    found = one.found | ({Clue.COUNTED} if reading.counted_from else set())
    marks = marks_of(reading, one.series)
    if hints.is_of_year and Clue.INDEX in one.found:
        # What the index joins with this series is of that year.
        marks = (Clue.YEAR if mark is Clue.UNSAID_YEAR else mark for mark in marks)
    clues = [*sorted(found, key=list(Clue).index), *marks]
    if one.series.id in hints.beyond and one.found.isdisjoint(OUTWEIGH - {Clue.ENTRY}):
        clues.append(Clue.BEYOND)
    if one.found.isdisjoint(OUTWEIGH):
        is_continued = one.series.id in hints.continued
        clues += names_of(reading, one.series, one.by, hints.own, is_continued=is_continued, alone=hints.alone)
        is_told = one.is_exact or Clue.YEAR in clues or Clue.COUNTRY in clues
        years = {year for name, year in hints.began if name in one.by}
        is_remake = one.series.id in hints.remade or (not one.is_exact and _is_remake(one.series, years))
        if reading.year is None and not reading.is_later_season and is_remake:
            clues.append(Clue.UNSAID_YEAR)
        is_shared = bool(one.by & hints.shared) and one.by.isdisjoint(hints.unique)
        if not is_told and Clue.NAME in one.found and is_shared:
            clues.append(Clue.SHARED_NAME)
        if one.by and one.by <= hints.junk:
            clues.append(Clue.JUNK)
        if one.by & hints.subtitled and Clue.OTHER_NAMES not in clues:
            clues.append(Clue.OTHER_NAMES)
    return WeighedSeries(one.series, tuple(clues))


def _is_remake(series: CandidateSeries, years: Set[int]) -> bool:
    """Whether titles say of a series a year in which the one show of this name did not begin."""
    return bool(years and series.years) and not any(is_near(one, year) for one in series.years for year in years)


def _best(reading: Reading, fitting: Sequence[Candidate], weighed: dict[int, WeighedSeries]) -> Sequence[Candidate]:
    """Those that fit best: by what the release says beside its name, then by how the name leads there."""

    def having(some: Sequence[Candidate], clue: Clue) -> Sequence[Candidate]:
        return [one for one in some if clue in weighed[one.series.id].clues] or some

    best = fitting
    for said, clue in ((reading.year, Clue.YEAR), (reading.country, Clue.COUNTRY)):
        best = having(best, clue) if said is not None else best
    # An exact name is what it was called before; it has not to be told from its namesakes again.
    for way in _BY_NAME:
        if ways := [one for one in best if way in one.found]:
            best = ways
            break
    best = [one for one in best if any(has_its_signs(name, one.series) for name in reading.names)] or best
    # Of two that have the name, the one that can have the number.
    best = [one for one in best if Clue.BEYOND not in weighed[one.series.id].clues] or best
    best = [one for one in best if one.is_exact] or best
    best = _of_marked_season(reading, best) if len(best) > 1 else best
    return having(best, Clue.HABIT) if len(best) > 1 else best


def _of_marked_season(reading: Reading, best: Sequence[Candidate]) -> Sequence[Candidate]:
    """Of a show and its later season, the season, if one of the names marks it: `夜之蔵人 / Yoru no Kurabito IV`."""
    marked = reading.marked() if reading.season is None else {}
    later = [one for one in best if one.by and one.by <= marked.keys()]
    if len(later) != 1:
        return best
    bare = {marked[name] for name in later[0].by}
    others = [one for one in best if one is not later[0]]
    is_show = all(bare & {known.name.folded for known in one.series.names} for one in others)
    return later if is_show and all(one.by.isdisjoint(marked) for one in others) else best


def _one_of_several(best: Sequence[Candidate], weighed: dict[int, WeighedSeries], hints: Hints) -> Decision:
    """Several series fit. Where different names led to them, they are one, if nothing speaks against it."""
    led_apart = all((one.by - hints.own).isdisjoint(other.by) for one, other in combinations(best, 2))
    doubtful = any(weighed[one.series.id].is_doubtful for one in best)
    has_own_name = any(one.by & hints.own for one in best)
    joinable = all(
        may_be_one(one.series, other.series, has_own_name=has_own_name) for one, other in combinations(best, 2)
    )
    if led_apart and joinable and not doubtful and not hints.has_two_entries:
        first, *others = sorted((one.series for one in best), key=lambda series: series.id)
        return Certain(first, weighed[first.id].clues, tuple(others))
    why = Clue.OTHER_ENTRY if led_apart and hints.has_two_entries else Clue.SHARED_NAME
    shared = {one.series.id for one in best}
    return _in_doubt(
        WeighedSeries(one.series, (*one.clues, why)) if one.series.id in shared and why not in one.clues else one
        for one in weighed.values()
    )


def _in_doubt(weighed: Iterable[WeighedSeries]) -> InDoubt:
    def against(one: WeighedSeries) -> tuple[bool, int, int]:
        return one.is_excluded, len(SPEAK_AGAINST.intersection(one.clues)), one.series.id

    return InDoubt(tuple(sorted(weighed, key=against))[:MOST_CANDIDATES])

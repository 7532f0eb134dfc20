"""Decides for a batch of releases: makes series, learns names, joins series that turn out to be one, asks what cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kurabito.catalog.corrections.merge import merge
from kurabito.catalog.corrections.model import MadeBy
from kurabito.catalog.identity import aliases, questions
from kurabito.catalog.identity.aliases import AliasSource
from kurabito.catalog.identity.decision import Certain, Decision, InDoubt, WeighedSeries
from kurabito.catalog.identity.entries import understood
from kurabito.catalog.identity.evidence import CandidateSeries, Clue
from kurabito.catalog.identity.index.pieces import doubtful_halves
from kurabito.catalog.identity.judge import IdentityJudge
from kurabito.catalog.identity.reading import FIRST_SEASON, Reading, ReleaseOrigin
from kurabito.catalog.identity.seasons.own_names import own_names
from kurabito.catalog.identity.seasons.signs import end_signs
from kurabito.catalog.releases import Release
from kurabito.catalog.spellings import halves_of, is_extra_name
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection
from kurabito.feeds.subscriptions import NewSeries, Subscription
from kurabito.titles import Episode


@dataclass(frozen=True, slots=True)
class SeriesMatch:
    """The series that a release belongs to, or that keeps it while a question is open."""

    series_id: int
    episode_offset: int
    state: SeriesState
    clues: tuple[Clue, ...] = ()
    question_id: int | None = None
    is_film: bool = False

    def read(self, release: Release) -> Release:
        """A release as what its series is, where its title leaves that open."""
        return release.as_film() if self.is_film else release

    def number(self, number: Episode) -> Episode:
        """An episode's number within the series, when titles count on from the seasons before."""
        return number - self.episode_offset if number > self.episode_offset else number


@dataclass(frozen=True, slots=True)
class Likely:
    """What would be decided about a release: its series if it is known, and whether it would be asked about."""

    series_id: int | None
    state: SeriesState | None
    is_in_doubt: bool
    is_film: bool = False
    """Whether its series is a film."""

    def read(self, release: Release) -> Release:
        """The release as what its series is, where its title leaves that open."""
        return release.as_film() if self.is_film else release


def resolve(
    conn: Connection, releases: Mapping[int, Release], origins: Mapping[int, Subscription]
) -> dict[int, SeriesMatch]:
    """The series of each release; new ones are made. Releases and their subscriptions are given by the ids of their items.

    A release without a subscription was found by a search: a new series of it is not followed until its keeper says so.
    """
    said = understood(conn, [Reading.of(release) for release in releases.values()])
    readings = dict(zip(releases, said, strict=True))
    sources = {item_id: ReleaseOrigin.of(origin) for item_id, origin in origins.items() if item_id in releases}
    batch = _Batch(conn, readings, sources)
    for item_id in sorted(readings, key=lambda one: batch.turn(readings[one])):
        origin = origins.get(item_id)
        batch.settle(item_id, NewSeries.ASK if origin is None else origin.settings.new_series)
    return batch.matches()


def foresee(conn: Connection, releases: Sequence[Release]) -> list[Likely]:
    """What would be decided about each release, in their order. Nothing is made."""
    readings = understood(conn, [Reading.of(release) for release in releases])
    judge = IdentityJudge(conn, readings)
    return [_likely(judge.decide(judge.meant(reading, None), None)) for reading in readings]


def judge(conn: Connection, reading: Reading) -> Decision:
    """What is decided about a reading as things are now."""
    return judge_all(conn, [reading])[0]


def judge_all(
    conn: Connection, readings: Sequence[Reading], origins: Sequence[ReleaseOrigin | None] | None = None
) -> list[Decision]:
    """What is decided about some readings as things are now, in their order."""
    sources = [None] * len(readings) if origins is None else origins
    judges = IdentityJudge(conn, readings, [one for one in sources if one is not None])
    return [
        judges.decide(judges.meant(reading, origin), origin) for reading, origin in zip(readings, sources, strict=True)
    ]


def _likely(decision: Decision) -> Likely:
    match decision:
        case Certain(series=series):
            return Likely(series.id, series.state, is_in_doubt=False, is_film=series.kind is SeriesKind.MOVIE)
        case InDoubt(candidates=[first, *_]):
            return Likely(first.series.id, first.series.state, is_in_doubt=True)
        case _:
            return Likely(None, None, is_in_doubt=isinstance(decision, InDoubt))


class _Batch:
    """The releases of a batch, one after the other: what one of them makes, the next ones know."""

    def __init__(self, conn: Connection, readings: Mapping[int, Reading], origins: Mapping[int, ReleaseOrigin]) -> None:
        self._conn = conn
        self._readings = readings
        self._origins = origins
        self._judge = IdentityJudge(conn, list(readings.values()), list(origins.values()))
        kinds = (kind.key for one in readings.values() for kind in (one, one.as_film())[: 1 + one.may_be_film])
        self._asked = questions.asked(conn, kinds)
        self._matches: dict[int, SeriesMatch] = {}
        self._new_names: list[dict[str, Any]] = []
        self._joined: dict[int, int] = {}

    def turn(self, reading: Reading) -> tuple[bool, bool, int, bool]:
        """When a release is decided about: those with several names first, which say what names are one.

        Where it is doubtful whether they are several, other titles may say it before; so they may what signs tell. Those that
        count seasons through come after the seasons, and OVAs after those that say so in their names.
        """
        is_guess = bool(doubtful_halves(self._judge.known.index, frozenset(), reading))
        is_guess = is_guess or any(
            halves_of(name.shown) is not None or len(end_signs(name.shown)) > 1 for name in reading.names
        )
        is_bare_ova = reading.is_ova and not any(is_extra_name(name.folded) for name in reading.names)
        return is_guess, is_bare_ova, -len(reading.names), reading.may_count_through

    def settle(self, item_id: int, new_series: NewSeries) -> None:
        """Decide about one release, and do what follows."""
        origin = self._origins.get(item_id)
        reading = self._judge.meant(self._readings[item_id], origin)
        for undecided in self._judge.undecided(reading, origin):
            self._make_film(undecided)
        decision = self._judge.decide(reading, origin)
        if isinstance(decision, InDoubt):
            asked = reading if decision.beyond is None else reading.beyond(decision.beyond)
            # Its names are those of a show whatever its number.
            keeper = None if decision.named is None else self._recognise(decision.named, reading)
            self._matches[item_id] = self._ask(asked, decision.candidates, keeper)
            return
        if isinstance(decision, Certain):
            series = self._recognise(decision, reading)
        else:
            series = self._add(reading, SeriesState.FOLLOWED if new_series is NewSeries.ADD else SeriesState.ASKED)
        self._judge.known.note_kind(series.id, reading)
        if origin is not None and origin.page_id is not None:
            self._judge.known.note_page(origin, reading.kind, series.id)
        self._matches[item_id] = SeriesMatch(
            series.id,
            reading.counted_from or series.episode_offset,
            series.state,
            decision.clues,
            is_film=series.kind is SeriesKind.MOVIE,
        )

    def matches(self) -> dict[int, SeriesMatch]:
        """Every release with its series; what was learnt is stored."""
        self._store_names()
        return {item_id: self._as_joined(match) for item_id, match in self._matches.items()}

    def _recognise(self, decision: Certain, reading: Reading) -> CandidateSeries:
        """The series that a title means, with what else the title says of it."""
        series = self._join(decision.series, decision.joined) if decision.joined else decision.series
        self._learn(series, reading)
        return series

    def _add(self, reading: Reading, state: SeriesState) -> CandidateSeries:
        series_id = aliases.add_series(self._conn, reading, state)
        added = CandidateSeries(
            series_id, reading.names[0].shown, reading.kind, reading.said_season, state, reading.year, reading.country
        )
        self._learn(added, reading)
        return added

    def _learn(self, series: CandidateSeries, reading: Reading) -> None:
        """Remember the names that lead here from now on; those that say nothing, or are another's, are none of them."""
        known = self._judge.known
        if series.names and known.index.are_two((name.folded for name in reading.names), reading.kind):
            return
        said = reading.said_season
        guesses = doubtful_halves(known.index, {one.name.folded for one in series.names}, reading)
        telling = (name for name in reading.names if not self._judge.is_junk(name, reading.kind))
        names = [(name, said) for name in telling if name.folded not in guesses]
        own = own_names(known, reading)
        # Beside a name of its own, titles leave the season out.
        names += [(name, FIRST_SEASON) for name, _ in names if name.folded in own]
        free = [(name, season) for name, season in names if known.is_free(name.folded, reading, season)]
        if free:
            self._new_names += known.learn(series, free, reading)

    def _join(self, series: CandidateSeries, others: Sequence[CandidateSeries]) -> CandidateSeries:
        self._store_names()
        for other in others:
            merge(self._conn, into=series.id, other_id=other.id, made_by=MadeBy.TITLES)
            self._joined[other.id] = series.id
        return self._judge.known.join(series, others)

    def _make_film(self, series: CandidateSeries) -> None:
        self._store_names()
        aliases.make_film(self._conn, series.id)
        self._judge.known.make_film(series)

    def _ask(
        self, reading: Reading, candidates: Sequence[WeighedSeries], keeper: CandidateSeries | None
    ) -> SeriesMatch:
        if reading.asked_from:
            self._asked.update(questions.asked(self._conn, [reading.key]))
        if reading.key not in self._asked:
            first = keeper if keeper is not None else next((one.series for one in candidates), None)
            keeper_id = self._keeper(reading) if first is None else first.id
            self._asked[reading.key] = questions.ask(self._conn, reading, candidates, keeper_id), keeper_id
        question_id, series_id = self._asked[reading.key]
        if series_id is None:
            series_id = self._keeper(reading)
        self._judge.known.read_series([series_id])
        series = self._judge.known.series(series_id)
        assert series is not None, "a question's series is there: deleting it leaves none"
        clues = next((one.clues for one in candidates if one.series.id == series_id), ())
        return SeriesMatch(series.id, series.episode_offset, series.state, clues, question_id)

    def _keeper(self, reading: Reading) -> int:
        """A series that keeps the releases of a question; its name leads to it, but where that is another season's."""
        if reading.asked_from:
            return aliases.add_series(self._conn, reading, SeriesState.ASKED)
        return self._add(reading, SeriesState.ASKED).id

    def _store_names(self) -> None:
        aliases.add(self._conn, self._new_names, AliasSource.TITLE)
        self._new_names = []

    def _as_joined(self, match: SeriesMatch) -> SeriesMatch:
        series_id = match.series_id
        while series_id in self._joined:
            series_id = self._joined[series_id]
        if series_id == match.series_id:
            return match
        return replace(match, series_id=series_id)

"""From what a release is called to the series it belongs to.

A feed of one series decides it. Else it is an alias, together with the season that the title says; a title that says none is
of the first season, or of the one whose count its number has reached. A name that is no alias may stand, in the offline index,
for the same as one that is. What nobody knows becomes a new series, followed or asked about as its subscription wants.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.catalog.releases import Release
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection, Queries, Query
from kurabito.feeds.subscription_state import Followed, NewSeries
from kurabito.metadata.sources import offline
from kurabito.titles import Episode

_SQL: Final = Queries("kurabito.catalog", "series_match.sql")
_FIRST_SEASON: Final = 1


@dataclass(frozen=True, slots=True)
class SeriesCandidate:
    """A release on its way to become links, and the subscription that brought it."""

    raw_item_id: int
    followed: Followed
    release: Release


@dataclass(frozen=True, slots=True)
class SeriesMatch:
    """The series that a release belongs to."""

    series_id: int
    episode_offset: int
    state: SeriesState

    def number(self, number: Episode) -> Episode:
        """An episode's number within the series, when titles count on from the seasons before."""
        return number - self.episode_offset if number > self.episode_offset else number


def resolve(conn: Connection, candidates: Sequence[SeriesCandidate]) -> list[SeriesMatch]:
    """The series of each candidate, in their order; new ones are made."""
    fixed = {one.followed.series_id for one in candidates if one.followed.series_id is not None}
    index = _Index(conn, [candidate.release for candidate in candidates], fixed)
    homes = [index.home_of(candidate) for candidate in candidates]
    index.store_aliases()
    return homes


def match(conn: Connection, releases: Sequence[Release]) -> list[SeriesMatch | None]:
    """The series that each release would go to, in their order; None where it would be a new one. Nothing is made."""
    index = _Index(conn, releases)
    return [index.known(release) for release in releases]


class _Index:
    """The series that some releases may belong to, by their aliases; and those that subscriptions are about."""

    def __init__(self, conn: Connection, releases: Sequence[Release], fixed: Iterable[int] = ()) -> None:
        self._conn = conn
        self._by_name: dict[tuple[str, SeriesKind], dict[int, SeriesMatch]] = {}
        self._new_aliases: list[dict[str, Any]] = []
        self._namesakes: dict[str, set[str]] = {}
        names = {name.folded for release in releases for name in release.names}
        self._look_up(names)
        if strangers := {name.folded for one in releases if self.known(one) is None for name in one.names}:
            self._namesakes = offline.namesakes(conn, strangers)
            self._look_up(set().union(*self._namesakes.values()) - names)
        homes = map(_home, self._ask(_SQL.by_id, ({"id": one} for one in fixed)))
        self._by_id = {home.series_id: home for home in homes}

    def home_of(self, candidate: SeriesCandidate) -> SeriesMatch:
        fixed = candidate.followed.series_id
        if fixed is not None and fixed in self._by_id:
            return self._by_id[fixed]
        release = candidate.release
        return self.known(release) or self._add(release, SeriesKind.of(release.kind), candidate.followed.new_series)

    def known(self, release: Release) -> SeriesMatch | None:
        """The series that one of its names leads to, or another name for the same."""
        kind = SeriesKind.of(release.kind)
        own = [name.folded for name in release.names]
        others = [other for name in own for other in sorted(self._namesakes.get(name, ()))]
        seasons = (self._by_name.get((name, kind), {}) for name in (*own, *others))
        return next((home for each in seasons if (home := _chosen(each, release)) is not None), None)

    def store_aliases(self) -> None:
        if self._new_aliases:
            self._conn.run(_SQL.add_aliases, {"rows": json.dumps(self._new_aliases)})

    def _add(self, release: Release, kind: SeriesKind, new_series: NewSeries) -> SeriesMatch:
        season = _FIRST_SEASON if release.season is None else release.season
        state = SeriesState.FOLLOWED if new_series is NewSeries.ADD else SeriesState.ASKED
        values = {"title": release.names[0].shown, "season": season, "kind": kind, "year": release.year, "state": state}
        home = SeriesMatch(int(self._conn.value(_SQL.add_series, values)), 0, state)
        for name in release.names:
            self._note(name.folded, kind, season, home)
            alias = {
                "folded": name.folded,
                "kind": kind,
                "season": season,
                "name": name.shown,
                "series_id": home.series_id,
            }
            self._new_aliases.append(alias)
        return home

    def _look_up(self, names: Iterable[str]) -> None:
        for folded, kind, season, *home in self._ask(_SQL.named, ({"folded": name} for name in names)):
            self._note(folded, SeriesKind(kind), season, _home(home))

    def _note(self, folded: str, kind: SeriesKind, season: int, home: SeriesMatch) -> None:
        self._by_name.setdefault((folded, kind), {}).setdefault(season, home)

    def _ask(self, query: Query, rows: Iterable[dict[str, Any]]) -> list[tuple[Any, ...]]:
        given = list(rows)
        return self._conn.all(query, {"rows": json.dumps(given)}) if given else []


def _chosen(seasons: dict[int, SeriesMatch], release: Release) -> SeriesMatch | None:
    """The season of a name that a release is of."""
    if release.season is not None:
        return seasons.get(release.season)
    if release.episodes:
        reached = [home for home in seasons.values() if 0 < home.episode_offset < release.episodes[0]]
        if reached:
            return max(reached, key=lambda home: home.episode_offset)
    return seasons.get(_FIRST_SEASON)


def _home(row: Sequence[Any]) -> SeriesMatch:
    series_id, offset, state = row
    return SeriesMatch(series_id, offset, SeriesState(state))

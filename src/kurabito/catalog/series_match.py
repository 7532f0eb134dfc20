"""From the name of a release to its series.

A feed of one series decides it. Else an alias does, together with the season in the title; a title without a season is of the
first one, or of the one whose count its number has reached. A name that is no alias may mean, in the offline index, the same
show as one that is. An unknown name becomes a new series, followed or asked about as its subscription says.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.catalog.releases import Release
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection, Queries, Query
from kurabito.feeds.subscriptions import NewSeries, Subscription, SubscriptionSettings
from kurabito.metadata.sources import offline
from kurabito.titles import Episode

_SQL: Final = Queries("kurabito.catalog", "series_match.sql")
_FIRST_SEASON: Final = 1


@dataclass(frozen=True, slots=True)
class SeriesMatch:
    """The series that a release belongs to."""

    series_id: int
    episode_offset: int
    state: SeriesState

    def number(self, number: Episode) -> Episode:
        """An episode's number within the series, when titles count on from the seasons before."""
        return number - self.episode_offset if number > self.episode_offset else number


def resolve(
    conn: Connection, releases: Mapping[int, Release], origins: Mapping[int, Subscription]
) -> dict[int, SeriesMatch]:
    """The series of each release; new ones are made. Releases and their subscriptions are given by the ids of their items."""
    settings = {item_id: origins[item_id].settings for item_id in releases}
    fixed = {one.series_id for one in settings.values() if one.series_id is not None}
    index = _SeriesIndex(conn, list(releases.values()), fixed)
    matches = {item_id: index.match(release, settings[item_id]) for item_id, release in releases.items()}
    index.store_aliases()
    return matches


def match(conn: Connection, releases: Sequence[Release]) -> list[SeriesMatch | None]:
    """The series that each release would go to, in their order; None where it would be a new one. Nothing is made."""
    index = _SeriesIndex(conn, releases)
    return [index.known(release) for release in releases]


class _SeriesIndex:
    """The series that some releases may belong to, by their aliases; and those that subscriptions are about."""

    def __init__(self, conn: Connection, releases: Sequence[Release], fixed: Iterable[int] = ()) -> None:
        self._conn = conn
        self._by_name: dict[tuple[str, SeriesKind], dict[int, SeriesMatch]] = {}
        self._new_aliases: list[dict[str, Any]] = []
        self._namesakes: dict[str, set[str]] = {}
        names = {name.folded for release in releases for name in release.names}
        self._look_up(names)
        if unknown := {name.folded for one in releases if self.known(one) is None for name in one.names}:
            self._namesakes = offline.namesakes(conn, unknown)
            self._look_up(set().union(*self._namesakes.values()) - names)
        matches = map(_match, self._ask(_SQL.by_id, ({"id": one} for one in fixed)))
        self._by_id = {match.series_id: match for match in matches}

    def match(self, release: Release, settings: SubscriptionSettings) -> SeriesMatch:
        """The series of a release that a subscription with these settings brought."""
        fixed = settings.series_id
        if fixed is not None and fixed in self._by_id:
            return self._by_id[fixed]
        return self.known(release) or self._add(release, SeriesKind.of(release.kind), settings.new_series)

    def known(self, release: Release) -> SeriesMatch | None:
        """The series that one of its names leads to, or another name for the same."""
        kind = SeriesKind.of(release.kind)
        own = [name.folded for name in release.names]
        others = [other for name in own for other in sorted(self._namesakes.get(name, ()))]
        seasons = (self._by_name.get((name, kind), {}) for name in (*own, *others))
        return next((found for each in seasons if (found := _of_season(each, release)) is not None), None)

    def store_aliases(self) -> None:
        if self._new_aliases:
            self._conn.run(_SQL.add_aliases, {"rows": json.dumps(self._new_aliases)})

    def _add(self, release: Release, kind: SeriesKind, new_series: NewSeries) -> SeriesMatch:
        season = _FIRST_SEASON if release.season is None else release.season
        state = SeriesState.FOLLOWED if new_series is NewSeries.ADD else SeriesState.ASKED
        values = {"title": release.names[0].shown, "season": season, "kind": kind, "year": release.year, "state": state}
        added = SeriesMatch(int(self._conn.value(_SQL.add_series, values)), 0, state)
        for name in release.names:
            self._remember(name.folded, kind, season, added)
            alias = {"folded": name.folded, "kind": kind, "season": season, "name": name.shown}
            self._new_aliases.append({**alias, "series_id": added.series_id})
        return added

    def _look_up(self, names: Iterable[str]) -> None:
        for folded, kind, season, *found in self._ask(_SQL.named, ({"folded": name} for name in names)):
            self._remember(folded, SeriesKind(kind), season, _match(found))

    def _remember(self, folded: str, kind: SeriesKind, season: int, match: SeriesMatch) -> None:
        self._by_name.setdefault((folded, kind), {}).setdefault(season, match)

    def _ask(self, query: Query, rows: Iterable[dict[str, Any]]) -> list[tuple[Any, ...]]:
        given = list(rows)
        return self._conn.all(query, {"rows": json.dumps(given)}) if given else []


def _of_season(seasons: dict[int, SeriesMatch], release: Release) -> SeriesMatch | None:
    """The season of a name that a release is of."""
    if release.season is not None:
        return seasons.get(release.season)
    if release.episodes:
        reached = [one for one in seasons.values() if 0 < one.episode_offset < release.episodes[0]]
        if reached:
            return max(reached, key=lambda one: one.episode_offset)
    return seasons.get(_FIRST_SEASON)


def _match(row: Sequence[Any]) -> SeriesMatch:
    series_id, offset, state = row
    return SeriesMatch(series_id, offset, SeriesState(state))

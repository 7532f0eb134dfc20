"""Series as they are stored: followed or still to be decided about, with their names and episodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from kurabito.catalog.errors import SeriesConflict, SeriesNotFound
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SHOWN_STATE, EpisodeState, SeriesKind, SeriesState
from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.titles import ReleaseKind

_SERIES: Final = "id, title, season, kind, year, episode_offset, state, metadata_id, created_at, updated_at"
_FILTERS: Final = {False: "", True: "AND state = :state"}
_SQL: Final = {
    chosen: Queries(
        "kurabito.catalog", "series.sql", "series_match.sql", series=_SERIES, filter=text, shown_state=SHOWN_STATE
    )
    for chosen, text in _FILTERS.items()
}


@dataclass(frozen=True, slots=True)
class Alias:
    """A name that titles give a series, and the season that they say beside it."""

    name: str
    season: int


@dataclass(frozen=True, slots=True)
class Series:
    """One season of one show, or a film."""

    id: int
    title: str
    season: int
    kind: SeriesKind
    year: int | None
    episode_offset: int
    """What titles count on from: their number 27 is episode 3 when it is 24."""
    state: SeriesState
    created_at: datetime
    updated_at: datetime
    aliases: tuple[Alias, ...] = ()
    metadata_id: int | None = None
    """The record that fills it in; None while it has none."""


@dataclass(frozen=True, slots=True)
class SeriesEpisode:
    """A number of a series, and how far it is."""

    id: int
    kind: ReleaseKind
    number: float
    state: EpisodeState
    aired_at: datetime | None
    link_count: int


def page(conn: Connection, *, before: int = BIGGEST_ID, limit: int, state: SeriesState | None = None) -> list[Series]:
    """Series, the newest first."""
    queries = _SQL[state is not None]
    rows = conn.all(queries.page, {"before": before, "limit": limit, "state": state})
    return _with_aliases(conn, [_series(row) for row in rows])


def find(conn: Connection, series_id: int) -> Series:
    """The series; raises SeriesNotFound."""
    row = conn.one(_sql(conn).get, {"id": series_id})
    if row is None:
        raise SeriesNotFound(f"no series has the id {series_id}")
    return _with_aliases(conn, [_series(row)])[0]


def change(conn: Connection, series_id: int, changes: dict[str, Any]) -> Series:
    """Change what is named, and leave the rest; raises SeriesNotFound, or SeriesConflict when an alias is another's."""
    series = find(conn, series_id)
    changed = replace(series, **changes)
    if "aliases" in changes:
        _rename(conn, changed)
    values = {
        "id": series_id,
        "title": changed.title,
        "season": changed.season,
        "episode_offset": changed.episode_offset,
        "state": changed.state,
    }
    conn.run(_sql(conn).change, values)
    return find(conn, series_id)


def hold_links(conn: Connection, series_id: int, reason: str) -> None:
    """Hold the links of a series back, but those that are held for themselves."""
    conn.run(_sql(conn).hold, {"id": series_id, "held_reason": reason})


def free_links(conn: Connection, series_id: int) -> list[int]:
    """Let go of the links that were held because of their series; their ids."""
    return sorted(link_id for (link_id,) in conn.all(_sql(conn).release, {"id": series_id}))


def episodes(conn: Connection, series_id: int, *, after: tuple[str, float], limit: int) -> list[SeriesEpisode]:
    """The episodes of a series: the regular ones first, each kind by its numbers."""
    kind, number = after
    rows = conn.all(_sql(conn).episodes, {"id": series_id, "kind": kind, "number": number, "limit": limit})
    return [_episode(row) for row in rows]


def _rename(conn: Connection, series: Series) -> None:
    rows = [
        {"folded": name.folded, "season": alias.season, "name": name.shown, "kind": series.kind, "series_id": series.id}
        for alias, name in ((alias, Name.of(alias.name)) for alias in series.aliases)
    ]
    given = {"id": series.id, "kind": series.kind, "rows": json.dumps(rows)}
    if (taken := conn.one(_sql(conn).alias_of_another, given)) is not None:
        name, season, other_id, title = taken
        raise SeriesConflict(
            f"{name!r} in season {season} is a name of the series {title!r} ({other_id}); take it away there first",
            field="aliases",
        )
    conn.run(_sql(conn).forget_aliases, {"id": series.id})
    conn.run(_sql(conn).add_aliases, given)


def _with_aliases(conn: Connection, found: Sequence[Series]) -> list[Series]:
    if not found:
        return []
    rows = json.dumps([{"id": series.id} for series in found])
    names: dict[int, list[Alias]] = {}
    for series_id, name, season in conn.all(_sql(conn).aliases, {"rows": rows}):
        names.setdefault(series_id, []).append(Alias(name, season))
    return [replace(series, aliases=tuple(names.get(series.id, ()))) for series in found]


def _sql(conn: Connection) -> Queries:
    return _SQL[False]


def _series(row: Row) -> Series:
    series_id, title, season, kind, year, offset, state, metadata_id, created, updated = row
    return Series(
        series_id,
        title,
        season,
        SeriesKind(kind),
        year,
        offset,
        SeriesState(state),
        to_datetime(created),
        to_datetime(updated),
        metadata_id=metadata_id,
    )


def _episode(row: Row) -> SeriesEpisode:
    episode_id, kind, number, state, aired, links = row
    return SeriesEpisode(
        episode_id, ReleaseKind(kind), number, EpisodeState(state), None if aired is None else to_datetime(aired), links
    )

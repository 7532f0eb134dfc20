"""Series as they are stored: followed or still to be decided about, with their names and episodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, Final, TypedDict, Unpack

from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.model import CorrectionKind
from kurabito.catalog.corrections.names import rename
from kurabito.catalog.errors import SeriesNotFound
from kurabito.catalog.identity.aliases import AliasSource
from kurabito.catalog.states import (
    SERIES_FILTERS,
    SERIES_ORDERS,
    SERIES_SHELVES,
    SHELF_STATES,
    SHOWN_STATE,
    EpisodeState,
    SeriesKind,
    SeriesOrder,
    SeriesShelf,
    SeriesState,
    SeriesWish,
)
from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.library import libraries
from kurabito.titles import ReleaseKind, fold_title

_SERIES: Final = ColumnList(
    "id, title, season, kind, year, country, episode_offset, state, wanted, library_id, metadata_id, merged_into, created_at, "
    "updated_at"
)
_CORRECTED: Final = ("title", "season", "episode_offset")


@cache
def _queries(filters: str = "", order: SeriesOrder = SeriesOrder.NEWEST, *, is_first: bool = True) -> Queries:
    beyond, ordered = SERIES_ORDERS[order]
    places = {"series": _SERIES, "shown_state": SHOWN_STATE, "filter": filters, "order": ordered}
    return Queries("kurabito.catalog", "series.sql", **places, beyond="1 = 1" if is_first else beyond)


@dataclass(frozen=True, slots=True)
class Alias:
    """A name that titles give a series, and the season that they say beside it."""

    name: str
    season: int
    year: int | None = None
    """The year that they say beside it, where that tells it from a remake."""
    country: str | None = None
    source: AliasSource = AliasSource.KEEPER
    """Where the name was learnt."""


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
    country: str | None = None
    """Whose version of a show it is, where titles say so."""
    merged_into: int | None = None
    """The series that it became part of."""
    wanted: SeriesWish = SeriesWish.ALL
    """Which of its episodes are downloaded."""
    library_id: int | None = None
    """The library that its files go into, where the user chose one."""


@dataclass(frozen=True, slots=True)
class SeriesEpisode:
    """A number of a series, and how far it is."""

    id: int
    kind: ReleaseKind
    number: float
    state: EpisodeState
    aired_at: datetime | None
    link_count: int


class SeriesFilter(TypedDict, total=False):
    """Which series are listed; what is None or not said leaves none out."""

    state: SeriesState | None
    shelf: SeriesShelf | None
    kind: SeriesKind | None
    name: str | None
    """A text in one of their names."""
    year: int | None
    quarter: int | None
    """Of the year in which they began, from 1."""
    lacks: bool | None
    """Whether episodes that were shown are missing."""
    library_id: int | None
    """A library that has files of them, or that they go into."""


def page(
    conn: Connection,
    *,
    beyond: int | None = None,
    limit: int,
    order: SeriesOrder = SeriesOrder.NEWEST,
    **wanted: Unpack[SeriesFilter],
) -> list[Series]:
    """Series, beyond the last of another page."""
    shelf = wanted.get("shelf")
    if order is SeriesOrder.TITLE and shelf is not None and not wanted.get("state"):
        return _by_title(conn, beyond, limit, SHELF_STATES[shelf], wanted)
    filters, values = _filtered(wanted)
    given = {**values, "beyond": beyond, "limit": limit}
    rows = conn.all(_queries(filters, order, is_first=beyond is None).page, given)
    return _with_aliases(conn, [_series(row) for row in rows])


def _by_title(
    conn: Connection, beyond: int | None, limit: int, states: Sequence[SeriesState], wanted: SeriesFilter
) -> list[Series]:
    """A page of several states: the index on titles is by state, so each gives its own and the first of them are taken."""
    found: list[int] = []
    for state in states:
        wanted["state"] = state
        found += [one.id for one in page(conn, beyond=beyond, limit=limit, order=SeriesOrder.TITLE, **wanted)]
    rows = conn.all(_queries(order=SeriesOrder.TITLE).first_of, {"ids": found, "limit": limit}) if found else []
    return _with_aliases(conn, [_series(row) for row in rows])


def ids(conn: Connection, **wanted: Unpack[SeriesFilter]) -> list[int]:
    """The ids of all these series."""
    filters, values = _filtered(wanted)
    return [found for (found,) in conn.all(_queries(filters).ids, values)]


def find(conn: Connection, series_id: int) -> Series:
    """The series; raises SeriesNotFound."""
    row = conn.one(_sql(conn).get, {"id": series_id})
    if row is None:
        raise SeriesNotFound(f"no series has the id {series_id}")
    return _with_aliases(conn, [_series(row)])[0]


def several(conn: Connection, series_ids: Sequence[int]) -> list[Series]:
    """Those of these series that exist."""
    rows = conn.all(_sql(conn).several, {"ids": list(series_ids)}) if series_ids else []
    return _with_aliases(conn, [_series(row) for row in rows])


def find_current(conn: Connection, series_id: int) -> Series:
    """The series, or the one that it became part of; raises SeriesNotFound."""
    found = find(conn, series_id)
    while found.merged_into is not None:
        found = find(conn, found.merged_into)
    return found


def change(conn: Connection, series_id: int, changes: dict[str, Any]) -> Series:
    """Change what is named, and leave the rest; raises SeriesNotFound, or SeriesConflict when an alias is another's."""
    series = find(conn, series_id)
    if series.merged_into is not None:
        raise SeriesNotFound(f"series {series_id} was merged into {series.merged_into}; change that one")
    changed = replace(series, **_with_state(changes))
    if changed.library_id is not None and changed.library_id != series.library_id:
        libraries.find(conn, changed.library_id)
    made = RowChanges(conn)
    rename(conn, made, series, changed)
    for column in _CORRECTED:
        made.column("series", column, [(series_id, getattr(series, column), getattr(changed, column))])
    if not made.is_empty:
        facts = {column: getattr(changed, column) for column in _CORRECTED if column in changes}
        journal.keep(conn, journal.add(conn, CorrectionKind.CHANGE, series_id, before=series.title, **facts), made)
    wish = None if changed.wanted is SeriesWish.NONE else changed.wanted
    begins = wish is SeriesWish.FUTURE and "wanted" in changes
    values = {"wanted": wish, "begins": int(begins), "library_id": changed.library_id}
    conn.run(_sql(conn).want, {"id": series_id, "state": changed.state, **values})
    return find(conn, series_id)


def _with_state(changes: dict[str, Any]) -> dict[str, Any]:
    """What is wanted of a series says whether it is followed."""
    if "wanted" not in changes:
        return changes
    followed = changes["wanted"] is not SeriesWish.NONE
    return {**changes, "state": SeriesState.FOLLOWED if followed else SeriesState.IGNORED}


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


def _filtered(wanted: SeriesFilter) -> tuple[str, dict[str, Any]]:
    """What a filter is in SQL, and its values."""
    folded, lacks, shelf = fold_title(wanted.get("name") or ""), wanted.get("lacks"), wanted.get("shelf")
    values: dict[str, Any] = {name: wanted.get(name) for name in SERIES_FILTERS}
    values |= {"name": f"%{folded}%" if folded else None, "lacks": None if lacks is None else int(lacks)}
    said = [text for name, text in SERIES_FILTERS.items() if values[name] is not None]
    return " ".join([*said, SERIES_SHELVES[shelf]] if shelf else said), values


def _with_aliases(conn: Connection, found: Sequence[Series]) -> list[Series]:
    if not found:
        return []
    rows = json.dumps([{"id": series.id} for series in found])
    names: dict[int, list[Alias]] = {}
    for series_id, name, season, year, country, source in conn.all(_sql(conn).aliases, {"rows": rows}):
        alias = Alias(name, season, year or None, country or None, AliasSource(source))
        names.setdefault(series_id, []).append(alias)
    return [replace(series, aliases=tuple(names.get(series.id, ()))) for series in found]


def _sql(conn: Connection) -> Queries:
    return _queries()


def _series(values: Row) -> Series:
    row = _SERIES.row(values)
    return Series(
        row.id,
        row.title,
        row.season,
        SeriesKind(row.kind),
        row.year,
        row.episode_offset,
        SeriesState(row.state),
        to_datetime(row.created_at),
        to_datetime(row.updated_at),
        metadata_id=row.metadata_id,
        country=row.country,
        merged_into=row.merged_into,
        wanted=SeriesWish(row.wanted) if row.state == SeriesState.FOLLOWED else SeriesWish.NONE,
        library_id=row.library_id,
    )


def _episode(row: Row) -> SeriesEpisode:
    episode_id, kind, number, state, aired, links = row
    return SeriesEpisode(episode_id, ReleaseKind(kind), number, EpisodeState(state), optional_datetime(aired), links)

"""What is wanted, and how the search for each episode goes, as the database knows it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from kurabito.catalog.states import UNWANTED
from kurabito.clock import SECOND, optional_datetime, to_datetime
from kurabito.db import Connection, Queries, Query
from kurabito.db.rows import ColumnList
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.release_options import current_downloads
from kurabito.downloads.wanted.expected_episodes import expected
from kurabito.downloads.wanted.pauses import PER_HOUR, SearchOutcome, pause_after
from kurabito.metadata import records
from kurabito.metadata.episodes import episodes_of
from kurabito.titles import ReleaseKind

_WANTED: Final = ColumnList(
    "episodes.id, episodes.series_id, series.title, series.season, episodes.kind, episodes.number, episodes.aired_at, "
    "series.automatic_search, search.searches, search.is_asked, search.outcome, search.searched_at, search.next_at"
)
_NARROWED: Final = {
    "all": "",
    "series": "AND episodes.series_id = :series_id",
    "one": "AND episodes.id = :episode_id",
}
_SQL: Final = {
    name: Queries("kurabito.downloads.wanted", "store.sql", wanted=_WANTED, narrowed=text, unwanted=UNWANTED)
    for name, text in _NARROWED.items()
}
_ALL: Final = _SQL["all"]
_HOUR: Final = 3_600 * SECOND
_MOST: Final = 5_000
_OVER: Final = timedelta(days=3)
_MICROSECOND: Final = timedelta(microseconds=1)


class WantedReason(StrEnum):
    """Why an episode is not there; the value is the message's key below `wanted_reason`."""

    NO_RELEASE = "no_release"
    """No feed and no search brought one."""
    FILTERED = "filtered"
    """Rules leave out every release of it."""
    HELD = "held"
    """Every release of it waits for a person."""
    IN_DOUBT = "in_doubt"
    """It is not sure which show the releases are of."""
    FAILED = "failed"
    """What was taken failed."""
    UNWANTED = "unwanted"
    """The releases that are known are not what its show prefers, or were not taken."""
    UPGRADE = "upgrade"
    """It is in the library, and its show wants a better one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedEpisode:
    """An episode that is wanted, and how the search for it goes."""

    id: int
    series_id: int
    series: str
    season: int
    kind: ReleaseKind
    number: float
    aired_at: datetime | None
    reason: WantedReason
    searches: int
    """How often it was searched for in vain."""
    is_asked: bool
    """Its keeper asked for a search, which is still to come."""
    outcome: SearchOutcome | None
    searched_at: datetime | None
    next_at: datetime | None
    is_automatic: bool
    """Whether it is searched for automatically."""


def expect(conn: Connection) -> None:
    """Have the episodes of followed shows known with the days on which they were shown."""
    rows: list[dict[str, Any]] = []
    for series_id, metadata_id in conn.all(_ALL.followed):
        details = records.find(conn, metadata_id).details
        rows += [{"series_id": series_id, **one._asdict()} for one in expected(details, episodes_of(conn, details))]
    for start in range(0, len(rows), _MOST):
        conn.run(_ALL.expect, {"rows": json.dumps(rows[start : start + _MOST])})


def wanted(
    conn: Connection, *, series_id: int | None = None, episode_id: int | None = None, limit: int = _MOST
) -> list[WantedEpisode]:
    """What is missing and what could be better, the newest first."""
    narrowed = "one" if episode_id is not None else "series" if series_id is not None else "all"
    queries = _SQL[narrowed]
    given = {"series_id": series_id, "episode_id": episode_id, "limit": limit}
    found = _episodes(conn, queries.missing, given, WantedReason.NO_RELEASE)
    better = _below(conn, _episodes(conn, queries.upgradable, given, WantedReason.UPGRADE))
    why = _reasons(conn, [one.id for one in found])
    missing = [replace(one, reason=why.get(one.id, one.reason)) for one in found]
    return sorted([*missing, *better], key=_newest)[:limit]


def due(conn: Connection) -> list[WantedEpisode]:
    """What is to be searched for now: what a keeper asked for, then what is searched for automatically, the newest first."""
    now = to_datetime(conn.now())
    found = [
        one
        for one in wanted(conn)
        if one.is_asked or (one.is_automatic and (one.next_at is None or one.next_at <= now))
    ]
    doubtful = {one for (one,) in conn.all(_ALL.in_doubt, given_ids({one.series_id for one in found}))}
    return sorted((one for one in found if one.series_id not in doubtful), key=lambda one: not one.is_asked)


def may_ask(conn: Connection) -> bool:
    """Note an automatic search; false at the limit of an hour, where none is noted."""
    values = {"hour": _HOUR}
    conn.run(_ALL.forget_queries, values)
    if conn.value(_ALL.count_queries, values) >= PER_HOUR:
        return False
    conn.run(_ALL.add_query)
    return True


def ask(conn: Connection, episode_ids: Iterable[int]) -> None:
    """Have these searched for soon, because their keeper says so."""
    conn.run(_ALL.ask, given_ids(episode_ids))


def note(conn: Connection, searched: Sequence[WantedEpisode], outcome: SearchOutcome, *, is_whole: bool = True) -> None:
    """Write down what came of a search, to which all indexers answered or not. Each one in vain makes the pause longer."""
    rows = [
        {
            "episode_id": one.id,
            "searches": (times := one.searches + 1),
            "outcome": outcome,
            "pause": pause_after(times, is_whole=is_whole) // _MICROSECOND,
        }
        for one in searched
    ]
    conn.run(_ALL.note, {"rows": json.dumps(rows)})


def count_asking(conn: Connection) -> int:
    """How many episodes have a release that is not taken before its keeper says so."""
    return int(conn.value(_ALL.count_asking))


def is_automatic(conn: Connection) -> bool:
    """Whether everything that is wanted is searched for automatically."""
    return bool(conn.value(_ALL.is_automatic))


def set_automatic(conn: Connection, is_on: bool) -> None:
    """Switch the automatic search on or off, for shows that say nothing else."""
    conn.run(_ALL.set_automatic, {"is_automatic": int(is_on)})


def set_series_automatic(conn: Connection, series_id: int, is_on: bool | None) -> None:
    """Switch it on or off for one show; None is as for all."""
    value = None if is_on is None else int(is_on)
    conn.run(_ALL.set_series_automatic, {"series_id": series_id, "is_automatic": value})


def series_automatic(conn: Connection, series_id: int) -> bool | None:
    """Whether it is switched on or off for one show; None is as for all."""
    value = conn.value(_ALL.series_automatic, {"series_id": series_id})
    return None if value is None else bool(value)


def is_over(conn: Connection, series_id: int, silent: timedelta = _OVER) -> bool:
    """Whether every episode of a show was shown, and the last one so long ago."""
    to_come, last = _extent(conn, series_id)
    return not to_come and last is not None and 0 < last < conn.now() - silent // _MICROSECOND


def is_listed(conn: Connection, series_id: int) -> bool:
    """Whether a list says which episodes a show has, and when each was shown."""
    _, last = _extent(conn, series_id)
    return bool(last)


def _extent(conn: Connection, series_id: int) -> tuple[int | None, int | None]:
    """How many episodes of a show are to come, and when its last one was shown."""
    to_come, last = conn.one(_ALL.extent, {"series_id": series_id}) or (None, None)
    return to_come, last


def _episodes(conn: Connection, query: Query, given: dict[str, Any], reason: WantedReason) -> list[WantedEpisode]:
    for_all = is_automatic(conn)
    return [
        WantedEpisode(
            id=of.id,
            series_id=of.series_id,
            series=of.title,
            season=of.season,
            kind=ReleaseKind(of.kind),
            number=of.number,
            aired_at=optional_datetime(of.aired_at),
            reason=reason,
            searches=of.searches or 0,
            is_asked=bool(of.is_asked),
            outcome=None if of.outcome is None else SearchOutcome(of.outcome),
            searched_at=optional_datetime(of.searched_at),
            next_at=optional_datetime(of.next_at),
            is_automatic=for_all if of.automatic_search is None else bool(of.automatic_search),
        )
        for of in (_WANTED.row(row) for row in conn.all(query, given))
    ]


def _below(conn: Connection, had: Collection[WantedEpisode]) -> list[WantedEpisode]:
    """Those whose best release is worth less than their show stops upgrading at."""
    best: dict[int | None, int] = {}
    enough: dict[int | None, int | None] = {}
    for download in current_downloads(conn, *(one.id for one in had)):
        preferred = download.option.preferences.preferred
        episode_id = download.option.episode_id
        best[episode_id] = max(best.get(episode_id, -(10**9)), download.option.rank(preferred))
        enough[episode_id] = preferred.stop_at
    return [one for one in had if (stop := enough.get(one.id)) is not None and best[one.id] < stop]


def _reasons(conn: Connection, episode_ids: Sequence[int]) -> dict[int, WantedReason]:
    found = conn.all(_ALL.links, given_ids(episode_ids)) if episode_ids else []
    return {episode_id: _reason(*counts) for episode_id, *counts in found}


def _reason(known: int, filtered: int, held: int, doubtful: int, failed: int) -> WantedReason:
    if doubtful:
        return WantedReason.IN_DOUBT
    if failed:
        return WantedReason.FAILED
    if filtered == known:
        return WantedReason.FILTERED
    return WantedReason.HELD if held + filtered >= known else WantedReason.UNWANTED


def _newest(one: WantedEpisode) -> tuple[float, int]:
    return (-one.aired_at.timestamp() if one.aired_at else 0.0, -one.id)

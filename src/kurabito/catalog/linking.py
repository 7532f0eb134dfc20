"""Makes links of releases: one for each episode, and one release only once, whichever site it comes from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from kurabito.catalog.releases import Name, Release
from kurabito.catalog.series_match import SeriesCandidate, SeriesMatch, resolve
from kurabito.catalog.states import HeldReason, SeriesState
from kurabito.db import AdvisoryLock, Connection, Queries, Query

_SQL: Final = Queries("kurabito.catalog", "linking.sql")
HELD_BY_SERIES: Final = {
    SeriesState.FOLLOWED: None,
    SeriesState.ASKED: HeldReason.SERIES_ASKED,
    SeriesState.IGNORED: HeldReason.SERIES_IGNORED,
}

_EpisodeKey = tuple[int, str, float]


class NewLinks(NamedTuple):
    """The links that were made."""

    free: list[int]
    """Those that nothing holds back."""
    made: int
    """How many there are with those that are held."""


def lock_catalog(conn: Connection) -> None:
    """Let no other transaction name series and releases until this one ends."""
    conn.lock(AdvisoryLock.CATALOG)


def link(conn: Connection, candidates: Sequence[SeriesCandidate]) -> NewLinks:
    """Make the links of some releases. The caller has locked the catalog."""
    fresh = _fresh(conn, candidates)
    if not fresh:
        return NewLinks([], 0)
    homes = resolve(conn, fresh)
    groups = _groups(conn, fresh)
    episodes = _episodes(conn, zip(fresh, homes, strict=True))
    rows = [
        row
        for one, home in zip(fresh, homes, strict=True)
        for row in _rows(one, home, _group_id(one, groups), episodes)
    ]
    made = _ask(conn, _SQL.add_links, rows)
    return NewLinks([link_id for link_id, held in made if held is None], len(made))


def held_by(release: Release, state: SeriesState) -> HeldReason | None:
    """Why a link is not downloaded by itself; None when it may be."""
    if not release.episodes and not release.is_batch:
        return HeldReason.NO_EPISODE
    return HELD_BY_SERIES[state]


def _fresh(conn: Connection, candidates: Sequence[SeriesCandidate]) -> list[SeriesCandidate]:
    """The candidates whose release nobody brought before, each release once."""
    by_key = {one.release.identity.release_key: one for one in reversed(candidates)}
    rows = [{"release_key": key} for key in by_key]
    known = {key for (key,) in _ask(conn, _SQL.known_releases, rows)}
    return [one for key, one in reversed(by_key.items()) if key not in known]


def _groups(conn: Connection, candidates: Iterable[SeriesCandidate]) -> dict[str, int]:
    names = {one.release.group.folded: one.release.group for one in candidates if one.release.group is not None}
    rows = [{"name": name.shown, "folded": name.folded} for name in names.values()]
    return dict(_added(conn, _SQL.add_groups, _SQL.groups, rows))


def _episodes(conn: Connection, placed: Iterable[tuple[SeriesCandidate, SeriesMatch]]) -> dict[_EpisodeKey, int]:
    keys = {key for one, home in placed for key in _episode_keys(one.release, home)}
    rows = [{"series_id": series_id, "kind": kind, "number": number} for series_id, kind, number in sorted(keys)]
    found = _added(conn, _SQL.add_episodes, _SQL.episodes, rows)
    return {(series_id, kind, number): episode_id for series_id, kind, number, episode_id in found}


def _rows(
    one: SeriesCandidate, home: SeriesMatch, group_id: int | None, episodes: dict[_EpisodeKey, int]
) -> Iterable[dict[str, Any]]:
    release = one.release
    held = held_by(release, home.state)
    row = {
        "release_key": release.identity.release_key,
        "raw_item_id": one.raw_item_id,
        "series_id": home.series_id,
        "episode_id": None,
        "group_id": group_id,
        "title": release.title,
        "url": release.url,
        "hash": release.identity.hash,
        "download_type": release.download_type,
        "resolution": release.resolution,
        "source": release.source,
        "languages": json.dumps(release.languages),
        "version": release.version,
        "size_bytes": release.size_bytes,
        "is_batch": int(release.is_batch),
        "held_reason": held,
    }
    keys = _episode_keys(release, home)
    return [{**row, "episode_id": episodes[key]} for key in keys] if keys else [row]


def _episode_keys(release: Release, home: SeriesMatch) -> list[_EpisodeKey]:
    numbers = (home.number(number) for number in release.episodes)
    return list(dict.fromkeys((home.series_id, release.kind.value, float(number)) for number in numbers))


def _group_id(one: SeriesCandidate, groups: dict[str, int]) -> int | None:
    group: Name | None = one.release.group
    return None if group is None else groups[group.folded]


def _added(conn: Connection, add: Query, find: Query, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Add what is not there yet, and find all of it."""
    if rows:
        conn.run(add, {"rows": json.dumps(rows)})
    return _ask(conn, find, rows)


def _ask(conn: Connection, query: Query, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return conn.all(query, {"rows": json.dumps(rows)}) if rows else []

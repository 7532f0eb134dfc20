"""Makes links of releases: one for each episode, and one release only once, whichever site it comes from."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.identity.plausibility import doubts_of
from kurabito.catalog.identity.resolution import SeriesMatch, resolve
from kurabito.catalog.links import Link
from kurabito.catalog.releases import Release
from kurabito.catalog.states import HELD_BY_SERIES, HeldReason, SeriesState
from kurabito.db import AdvisoryLock, Connection, Queries, Query
from kurabito.feeds.subscriptions import Subscription

_SQL: Final = Queries("kurabito.catalog", "linker.sql")
EpisodeKey = tuple[int, str, float]
"""Series, kind and number."""


class NewLinks(NamedTuple):
    """The links that were made."""

    free: list[int]
    """Those that nothing holds back."""
    made: int
    """How many there are with those that are held."""


def lock_catalog(conn: Connection) -> None:
    """Keep other transactions from naming series and releases until this one ends."""
    conn.lock(AdvisoryLock.CATALOG)


def link(
    conn: Connection,
    releases: Mapping[int, Release],
    origins: Mapping[int, Subscription],
    indexer_id: int | None = None,
) -> NewLinks:
    """Make the links of some releases; they and their subscriptions are given by the ids of their items.

    A release that has no subscription has no item either, and any id will do: a search found it at an indexer. The caller
    has locked the catalog.
    """
    new = _new_releases(conn, releases)
    if not new:
        return NewLinks([], 0)
    matches = resolve(conn, new, origins)
    doubts = doubts_of(conn, new, matches)
    new = {item_id: replace(release, doubt=release.doubt or doubts.get(item_id)) for item_id, release in new.items()}
    new = {item_id: matches[item_id].read(release) for item_id, release in new.items()}
    groups = _groups(conn, new.values())
    episodes = _episodes(conn, ((release, matches[item_id]) for item_id, release in new.items()))
    rows = [
        {"raw_item_id": item_id if item_id in origins else None, "indexer_id": indexer_id, **row}
        for item_id, release in new.items()
        for row in _rows(release, matches[item_id], groups, episodes)
    ]
    made = _ask(conn, _SQL.add_links, rows)
    return NewLinks([link_id for link_id, held in made if held is None], len(made))


def link_found(conn: Connection, release: Release, indexer_id: int | None) -> list[int]:
    """The links of a release that a search found; they are made if it is new. The caller has locked the catalog."""
    link(conn, {0: release}, {}, indexer_id)
    return [link_id for link_id, _ in conn.all(_SQL.links_of_release, {"release_key": release.identity.release_key})]


def settle_link(conn: Connection, changes: RowChanges, waiting: Link, release: Release, match: SeriesMatch) -> None:
    """Put a link that waited for an answer where it belongs: itself to its first episode, and links beside it to the others."""
    release = match.read(release)
    groups = {} if release.group is None else _groups(conn, [release])
    rows = list(_rows(release, match, groups, _episodes(conn, [(release, match)])))
    first, others = rows[0], rows[1:]
    for column, before in (
        ("series_id", waiting.series_id),
        ("episode_id", waiting.episode_id),
        ("held_reason", waiting.held_reason),
        ("question_id", waiting.question_id),
    ):
        changes.column("anime_links", column, [(waiting.id, before, first[column])])
    made = _ask(conn, _SQL.add_links, [{**row, "raw_item_id": waiting.raw_item_id} for row in others])
    changes.new_links((link_id for link_id, _ in made), (link_id for link_id, held in made if held is None))


def held_by(release: Release, state: SeriesState) -> HeldReason | None:
    """Why a link is not downloaded automatically; None when it is."""
    if not release.episodes and not release.is_batch:
        return HeldReason.NO_EPISODE
    if state is not SeriesState.FOLLOWED:
        return HELD_BY_SERIES[state]
    return None if release.doubt is None else HeldReason.DOUBTFUL_READING


def _new_releases(conn: Connection, releases: Mapping[int, Release]) -> dict[int, Release]:
    """The releases that have no links yet, each once and of its first item."""
    first: dict[str, int] = {}
    for item_id, release in releases.items():
        first.setdefault(release.identity.release_key, item_id)
    rows = [{"release_key": key} for key in first]
    known = {key for (key,) in _ask(conn, _SQL.known_releases, rows)}
    return {item_id: releases[item_id] for key, item_id in first.items() if key not in known}


def _groups(conn: Connection, releases: Iterable[Release]) -> dict[str, int]:
    names = {release.group.folded: release.group for release in releases if release.group is not None}
    rows = [{"name": name.shown, "folded": name.folded} for name in names.values()]
    return dict(_added(conn, _SQL.add_groups, _SQL.groups, rows))


def _episodes(conn: Connection, matched: Iterable[tuple[Release, SeriesMatch]]) -> dict[EpisodeKey, int]:
    return find_episodes(conn, {key for release, match in matched for key in _episode_keys(release, match)})


def find_episodes(conn: Connection, keys: Collection[EpisodeKey]) -> dict[EpisodeKey, int]:
    """Episodes by series, kind and number; those that are not there are made."""
    rows = [{"series_id": series_id, "kind": kind, "number": number} for series_id, kind, number in sorted(keys)]
    found = _added(conn, _SQL.add_episodes, _SQL.episodes, rows)
    return {(series_id, kind, number): episode_id for series_id, kind, number, episode_id in found}


def _rows(
    release: Release, match: SeriesMatch, groups: Mapping[str, int], episodes: Mapping[EpisodeKey, int]
) -> Iterable[dict[str, Any]]:
    row = {
        "release_key": release.identity.release_key,
        "series_id": match.series_id,
        "episode_id": None,
        "group_id": None if release.group is None else groups[release.group.folded],
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
        "held_reason": HeldReason.IN_DOUBT if match.question_id else held_by(release, match.state),
        "held_why": None if release.doubt is None else release.doubt.stored(),
        "clues": json.dumps(match.clues),
        "question_id": match.question_id,
    }
    keys = _episode_keys(release, match)
    return [{**row, "episode_id": episodes[key]} for key in keys] if keys else [row]


def _episode_keys(release: Release, match: SeriesMatch) -> list[EpisodeKey]:
    if match.question_id is not None:
        # Its number counts in a series that is not known yet.
        return []
    numbers = (match.number(number) for number in release.episodes)
    return list(dict.fromkeys((match.series_id, release.kind.value, float(number)) for number in numbers))


def _added(conn: Connection, add: Query, find: Query, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Add what is not there yet, and find all of it."""
    if rows:
        conn.run(add, {"rows": json.dumps(rows)})
    return _ask(conn, find, rows)


def _ask(conn: Connection, query: Query, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return conn.all(query, {"rows": json.dumps(rows)}) if rows else []

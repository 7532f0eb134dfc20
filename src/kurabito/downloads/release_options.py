"""The releases to choose among, as the database knows them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from kurabito.catalog.states import UNWANTED
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.downloads.choice import DEFAULT, Choice, CurrentDownload, ReleaseOption, ReleasePreferences, choose
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.states import Status
from kurabito.feeds.preferences import Policy, Preferences
from kurabito.protocol.enums import LibraryUpgrades
from kurabito.titles import ReleaseKind

_Stored = tuple[str | None, int | None, int | None, str | None]

_OPTION: Final = ColumnList(
    "link.id, link.release_key, link.episode_id, groups.folded, link.version, link.resolution, link.source, link.languages, "
    "link.title, link.size_bytes, episode.kind, episode.number, "
    "subscription.conflict_policy, subscription.upgrade, subscription.wait_minutes, subscription.preferences, "
    "own.conflict_policy AS own_policy, own.upgrade AS own_upgrade, own.wait_minutes AS own_wait, own.preferences AS own_liked, "
    "usual.conflict_policy AS usual_policy, usual.upgrade AS usual_upgrade, usual.wait_minutes AS usual_wait, "
    "usual.preferences AS usual_liked"
)
_JOINS: Final = (
    "LEFT JOIN groups ON groups.id = link.group_id LEFT JOIN raw_anime_items AS item ON item.id = link.raw_item_id "
    "LEFT JOIN subscriptions AS subscription ON subscription.id = item.subscription_id "
    "LEFT JOIN episodes AS episode ON episode.id = link.episode_id "
    "JOIN series ON series.id = link.series_id LEFT JOIN release_profiles AS own ON own.id = series.profile_id "
    "LEFT JOIN release_profiles AS usual ON usual.is_default = 1"
)
CONFLICT: Final = ColumnList(
    "conflict.id, conflict.episode_id, episode.series_id, series.title, episode.kind, episode.number, conflict.status, "
    "conflict.due_at, conflict.link_id, conflict.created_at"
)
SQL: Final = Queries(
    "kurabito.downloads", "release_options.sql", option=_OPTION, joins=_JOINS, conflict=CONFLICT, unwanted=UNWANTED
)


def choose_among(
    conn: Connection, link_ids: Iterable[int], *, without: Collection[int] = (), waits: bool = True
) -> Choice:
    """Choose among these links; `without` are links whose downloads are about to end."""
    known: dict[tuple[Any, ...], ReleasePreferences] = {}
    options = [_option(row, known) for row in conn.all(SQL.options, given_ids(link_ids))]
    own = {one.link_id for one in options} | set(without)
    episodes = {one.episode_id for one in options if one.episode_id is not None}
    current: dict[int, list[CurrentDownload]] = defaultdict(list)
    for download in current_downloads(conn, *episodes):
        if download.option.link_id not in own and download.option.episode_id is not None:
            current[download.option.episode_id].append(download)
    have = frozenset(found for (found,) in conn.all(SQL.have, given_ids(episodes)))
    kept = kept_files(conn, episodes)
    unwanted = frozenset(found for (found,) in conn.all(SQL.unwanted, given_ids(episodes)))
    return choose(_without(options, unwanted), current, have | unwanted, kept=kept, waits=waits)


def _without(options: Sequence[ReleaseOption], unwanted: Collection[int]) -> list[ReleaseOption]:
    """The releases without those that have nothing but an episode that is not wanted; of a batch all links stay."""
    links = Counter(one.release_key for one in options)
    return [one for one in options if links[one.release_key] > 1 or one.episode_id not in unwanted]


def current_downloads(conn: Connection, *episode_ids: int) -> list[CurrentDownload]:
    """The releases of these episodes that are downloaded, or being downloaded."""
    known: dict[tuple[Any, ...], ReleasePreferences] = {}
    return [
        CurrentDownload(_option(tuple(row), known), download_id, Status(status))
        for *row, download_id, status in conn.all(SQL.current, given_ids(episode_ids))
    ]


def kept_files(conn: Connection, episode_ids: Iterable[int]) -> dict[int, LibraryUpgrades]:
    """What may take the place of the files that libraries have of these episodes; those without a file are left out."""
    return {known: LibraryUpgrades(upgrades) for known, upgrades in conn.all(SQL.kept, given_ids(episode_ids))}


def preferences_of(conn: Connection, series_ids: Collection[int]) -> dict[int, ReleasePreferences]:
    """How these shows want their releases chosen; those that say nothing, and have no default, are left out."""
    found = conn.all(SQL.series_preferences, given_ids(series_ids))
    return {series_id: _preferences(*stored) for series_id, *stored in found}


def without_no_ops(conn: Connection, choice: Choice) -> Choice:
    """What carrying a choice out would really do: no download that is under way, and no question that is open already."""
    under_way = {found for (found,) in conn.all(SQL.under_way, given_ids(choice.dispatch))}
    is_open = {found for (found,) in conn.all(SQL.open_conflicts, given_ids([*choice.ask, *choice.wait]))}
    return replace(
        choice,
        dispatch=[link_id for link_id in choice.dispatch if link_id not in under_way],
        ask=[episode_id for episode_id in choice.ask if episode_id not in is_open],
        wait={episode_id: minutes for episode_id, minutes in choice.wait.items() if episode_id not in is_open},
    )


def titles_of(conn: Connection, download_ids: Iterable[int]) -> dict[int, str]:
    """The titles of the releases of these downloads, by download."""
    return dict(conn.all(SQL.of_downloads, given_ids(download_ids)))


def rivals(conn: Connection, link_ids: Iterable[int]) -> dict[int, str]:
    """The titles of the other releases of these links' episodes that could be downloaded, by link."""
    return dict(conn.all(SQL.rivals, given_ids(link_ids)))


def _option(row: Row, known: dict[tuple[Any, ...], ReleasePreferences]) -> ReleaseOption:
    of = _OPTION.row(row)
    # Many links come from few subscriptions and profiles.
    stored = (
        (of.own_policy, of.own_upgrade, of.own_wait, of.own_liked),
        (of.conflict_policy, of.upgrade, of.wait_minutes, of.preferences),
        (of.usual_policy, of.usual_upgrade, of.usual_wait, of.usual_liked),
    )
    if stored not in known:
        known[stored] = _first_said(*stored)
    # A release that names no version is the first.
    return ReleaseOption(
        of.id,
        of.release_key,
        of.episode_id,
        of.folded,
        of.version or 1,
        of.resolution,
        of.source,
        tuple(json.loads(of.languages)),
        known[stored],
        of.title,
        of.size_bytes,
        ReleaseKind(of.kind or ReleaseKind.TV),
        of.number,
    )


def _first_said(own: _Stored, subscription: _Stored, usual: _Stored) -> ReleasePreferences:
    """What the show says; else its subscription, if that says anything; else the default."""
    if own[0] is not None:
        return _preferences(*own)
    said = _preferences(*subscription)
    return said if said != DEFAULT else _preferences(*usual)


def _preferences(
    policy: str | None, upgrade: int | None, wait: int | None, preferred: str | None
) -> ReleasePreferences:
    if policy is None or preferred is None:
        return DEFAULT
    return ReleasePreferences(
        policy=Policy(policy),
        upgrade=bool(upgrade),
        wait_minutes=wait or 0,
        preferred=Preferences.read(preferred),
    )

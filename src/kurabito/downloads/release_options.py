"""What is known of the releases between which has to be chosen."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.downloads.choosing import DEFAULT, Choice, CurrentDownload, ReleaseOption, ReleasePreferences, choose
from kurabito.downloads.dispatch.attempts import given_ids
from kurabito.downloads.states import Status
from kurabito.feeds.preferences import Policy, Preferences

_OPTION: Final = (
    "link.id, link.release_key, link.episode_id, groups.folded, link.version, link.resolution, link.source, link.languages, "
    "subscription.conflict_policy, subscription.upgrade, subscription.wait_minutes, subscription.preferences"
)
_JOINS: Final = (
    "LEFT JOIN groups ON groups.id = link.group_id LEFT JOIN raw_anime_items AS item ON item.id = link.raw_item_id "
    "LEFT JOIN subscriptions AS subscription ON subscription.id = item.subscription_id"
)
SQL: Final = Queries("kurabito.downloads", "release_options.sql", option=_OPTION, joins=_JOINS)


def choose_among(
    conn: Connection, link_ids: Iterable[int], *, without: Collection[int] = (), waits: bool = True
) -> Choice:
    """Choose among these links; `without` are links whose downloads are about to end."""
    known: dict[tuple[Any, ...], ReleasePreferences] = {}
    options = [_option(row, known) for row in conn.all(SQL.options, given_ids(link_ids))]
    own = {one.link_id for one in options} | set(without)
    episodes = {one.episode_id for one in options if one.episode_id is not None}
    standing: dict[int, list[CurrentDownload]] = defaultdict(list)
    for stands in standing_for(conn, *episodes):
        if stands.option.link_id not in own and stands.option.episode_id is not None:
            standing[stands.option.episode_id].append(stands)
    there = frozenset(found for (found,) in conn.all(SQL.there, given_ids(episodes)))
    return choose(options, standing, there, waits=waits)


def standing_for(conn: Connection, *episode_ids: int) -> list[CurrentDownload]:
    """The releases of these episodes that are downloaded, or on their way."""
    known: dict[tuple[Any, ...], ReleasePreferences] = {}
    return [
        CurrentDownload(_option(tuple(row), known), download_id, Status(status))
        for *row, download_id, status in conn.all(SQL.standing, given_ids(episode_ids))
    ]


def without_effect_left_out(conn: Connection, choice: Choice) -> Choice:
    """What carrying a choice out would really do: not what is under way already, and no question that is open already."""
    under_way = {found for (found,) in conn.all(SQL.under_way, given_ids(choice.dispatch))}
    open_for = {found for (found,) in conn.all(SQL.open_for, given_ids([*choice.ask, *choice.wait]))}
    return Choice(
        dispatch=[link_id for link_id in choice.dispatch if link_id not in under_way],
        cancel=choice.cancel,
        ask=[episode_id for episode_id in choice.ask if episode_id not in open_for],
        wait={episode_id: minutes for episode_id, minutes in choice.wait.items() if episode_id not in open_for},
    )


def titles_of(conn: Connection, download_ids: Iterable[int]) -> dict[int, str]:
    """The titles of what these downloads are of, by download."""
    return dict(conn.all(SQL.of_downloads, given_ids(download_ids)))


def rivals(conn: Connection, link_ids: Iterable[int]) -> dict[int, str]:
    """The titles of what lost to these links, or came after them, by link."""
    return dict(conn.all(SQL.rivals, given_ids(link_ids)))


def _option(row: Row, known: dict[tuple[Any, ...], ReleasePreferences]) -> ReleaseOption:
    link_id, key, episode_id, group, version, resolution, source, languages, *wishes = row
    # Many links come from few subscriptions.
    said = tuple(wishes)
    if said not in known:
        known[said] = _wishes(*said)
    # A release that names no version is the first.
    return ReleaseOption(
        link_id, key, episode_id, group, version or 1, resolution, source, tuple(json.loads(languages)), known[said]
    )


def _wishes(policy: str | None, upgrade: int | None, wait: int | None, preferences: str | None) -> ReleasePreferences:
    if policy is None or preferences is None:
        return DEFAULT
    return ReleasePreferences(
        policy=Policy(policy),
        upgrade=bool(upgrade),
        wait_minutes=wait or 0,
        preferences=Preferences.read(preferences),
    )

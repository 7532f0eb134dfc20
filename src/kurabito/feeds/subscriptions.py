"""Subscriptions: the feeds that are followed, how each is, and when it is asked for next."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.clock import SECOND, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Row
from kurabito.errors import InvalidInput
from kurabito.feeds.errors import SubscriptionConflict, SubscriptionNotFound
from kurabito.feeds.preferences import NO_PREFERENCES, Policy, Preferences
from kurabito.feeds.subscription_state import NewSeries, StartWith
from kurabito.http import Validators

DEFAULT_INTERVAL: Final = timedelta(minutes=15)
_SUBSCRIPTION: Final = (
    "id, name, url, module_id, series_id, new_series, fetch_interval, is_enabled, allows_private, conflict_policy, upgrade, "
    "wait_minutes, preferences, start_with, chosen, "
    "etag, last_modified, next_fetch_at, last_fetched_at, last_success_at, failures, error_code, error_message, "
    "created_at, updated_at"
)
_LONGEST_WAIT: Final = 86_400 * SECOND
# Twice as long after each failure, up to a day; an interval that is longer than that stays what it is.
_WAIT: Final = f"""CASE WHEN fetch_interval >= {_LONGEST_WAIT} THEN fetch_interval
    WHEN failures >= 12 OR fetch_interval * (1 << failures) > {_LONGEST_WAIT} THEN {_LONGEST_WAIT}
    ELSE fetch_interval * (1 << failures) END"""
_SQL: Final = Queries("kurabito.feeds", "subscriptions.sql", subscription=_SUBSCRIPTION, wait=_WAIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionSettings:
    """How a feed is followed: what its keeper may change."""

    name: str
    url: str
    module_id: int | None = None
    """The fetcher that reads it; None for the built-in one."""
    series_id: int | None = None
    """The one series that it is about; None for many."""
    new_series: NewSeries = NewSeries.ASK
    fetch_interval: timedelta = DEFAULT_INTERVAL
    is_enabled: bool = True
    allows_private: bool = False
    """The host may be inside the keeper's own network."""
    conflict_policy: Policy = Policy.BEST
    """What decides between several releases of one episode."""
    upgrade: bool = False
    """A better release replaces one that is there already."""
    wait_minutes: int = 0
    """How long the best one waits for a better one to come."""
    preferences: Preferences = NO_PREFERENCES


@dataclass(frozen=True, slots=True)
class Health:
    """How the readings of a feed went."""

    next_fetch_at: datetime | None
    last_fetched_at: datetime | None
    last_success_at: datetime | None
    failures: int
    """In a row."""
    error_code: str | None
    error_message: str | None


@dataclass(frozen=True, slots=True)
class Subscription:
    """A feed that is followed."""

    id: int
    wishes: SubscriptionSettings
    start_with: StartWith
    chosen: frozenset[str]
    """Of the items that were there already, those that are wanted: by their guid or URL."""
    validators: Validators
    health: Health
    created_at: datetime
    updated_at: datetime


def add(conn: Connection, wishes: SubscriptionSettings, start_with: StartWith, chosen: frozenset[str]) -> Subscription:
    """Store a subscription; raises SubscriptionConflict when its URL is followed already."""
    _check_named(conn, wishes)
    values = {**_stored(wishes), "start_with": start_with.value, "chosen": json.dumps(sorted(chosen))}
    if conn.one(_SQL.following, {"url": wishes.url}) is not None:
        raise _taken()
    try:
        row = conn.one(_SQL.insert, values)
    except UniqueConflict:
        raise _taken() from None
    assert row is not None
    return find(conn, row[0])


def find(conn: Connection, subscription_id: int) -> Subscription:
    """The subscription; raises SubscriptionNotFound."""
    row = conn.one(_SQL.get, {"id": subscription_id})
    if row is None:
        raise SubscriptionNotFound(f"no subscription has the id {subscription_id}")
    return _subscription(row)


def page(conn: Connection, after: int, limit: int) -> list[Subscription]:
    """Subscriptions in the order in which they were made."""
    return [_subscription(row) for row in conn.all(_SQL.page, {"after": after, "limit": limit})]


def change(conn: Connection, subscription_id: int, changes: dict[str, Any]) -> Subscription:
    """Change how a feed is followed; what is not named stays.

    A host that was allowed to be a private one was meant as it was: another host has to be allowed anew.
    """
    old = find(conn, subscription_id).wishes
    new = replace(old, **changes)
    if "allows_private" not in changes and _place(new.url) != _place(old.url):
        new = replace(new, allows_private=False)
    _check_named(conn, new)
    other = conn.one(_SQL.following, {"url": new.url})
    if other is not None and other[0] != subscription_id:
        raise _taken()
    conn.run(_SQL.update, {"id": subscription_id, **_stored(new)})
    if _source(new) != _source(old):
        conn.run(_SQL.begin_anew, {"id": subscription_id})
    return find(conn, subscription_id)


def remove(conn: Connection, subscription_id: int) -> None:
    """Forget a subscription and its items; raises SubscriptionNotFound. The links that it brought stay."""
    find(conn, subscription_id)
    conn.run(_SQL.delete, {"id": subscription_id})


def is_due(conn: Connection) -> bool:
    """Whether some feed is to be asked for."""
    return conn.one(_SQL.due) is not None


def take_due(conn: Connection) -> list[int]:
    """The subscriptions that are due; each is given to one caller only, and its next turn is planned."""
    return [subscription_id for (subscription_id,) in conn.all(_SQL.take_due)]


def plan_next(conn: Connection, subscription_id: int, at_least: float = 0.0) -> None:
    """Plan the next turn by how many readings failed in a row, and not before so many seconds have passed."""
    conn.run(_SQL.plan, {"id": subscription_id, "at_least": round(at_least * SECOND)})


def note_reading(
    conn: Connection, subscription: Subscription, validators: Validators, problem: tuple[str, str] | None = None
) -> None:
    """Write down that a feed was read, and what to ask with next time; `problem` is what was wrong all the same."""
    code, message = problem or (None, None)
    values = {
        "id": subscription.id,
        "url": subscription.wishes.url,
        "etag": validators.etag,
        "last_modified": validators.last_modified,
        "error_code": code,
        "error_message": message,
    }
    if conn.run(_SQL.note_reading, values):
        plan_next(conn, subscription.id)


def _check_named(conn: Connection, wishes: SubscriptionSettings) -> None:
    if wishes.series_id is not None and conn.one(_SQL.series, {"id": wishes.series_id}) is None:
        raise InvalidInput("series_id", f"no series has the id {wishes.series_id}")
    if wishes.module_id is not None and conn.one(_SQL.fetcher, {"id": wishes.module_id}) is None:
        raise InvalidInput("module_id", f"no fetcher has the id {wishes.module_id}; leave it out for the built-in one")


def _taken() -> SubscriptionConflict:
    return SubscriptionConflict("another subscription follows this feed already; change that one instead", field="url")


def _place(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return parts.hostname, parts.port


def _source(wishes: SubscriptionSettings) -> tuple[Any, ...]:
    return wishes.url, wishes.module_id, wishes.fetch_interval, wishes.allows_private


def _stored(wishes: SubscriptionSettings) -> dict[str, Any]:
    return {
        "name": wishes.name,
        "url": wishes.url,
        "module_id": wishes.module_id,
        "series_id": wishes.series_id,
        "new_series": wishes.new_series.value,
        "fetch_interval": round(wishes.fetch_interval.total_seconds() * SECOND),
        "is_enabled": int(wishes.is_enabled),
        "allows_private": int(wishes.allows_private),
        "conflict_policy": wishes.conflict_policy.value,
        "upgrade": int(wishes.upgrade),
        "wait_minutes": wishes.wait_minutes,
        "preferences": wishes.preferences.stored(),
    }


def _subscription(row: Row) -> Subscription:
    (
        subscription_id, name, url, module_id, series_id, new_series, interval, enabled, private, policy, upgrade,
        wait, preferences, start_with, chosen, etag, last_modified, next_fetch, fetched, success, failures, code, message, created, updated,
    ) = row  # fmt: skip
    wishes = SubscriptionSettings(
        name=name,
        url=url,
        module_id=module_id,
        series_id=series_id,
        new_series=NewSeries(new_series),
        fetch_interval=timedelta(microseconds=interval),
        is_enabled=bool(enabled),
        allows_private=bool(private),
        conflict_policy=Policy(policy),
        upgrade=bool(upgrade),
        wait_minutes=wait,
        preferences=Preferences.read(preferences),
    )
    return Subscription(
        subscription_id,
        wishes,
        StartWith(start_with),
        frozenset(json.loads(chosen)),
        Validators(etag, last_modified),
        Health(_moment(next_fetch), _moment(fetched), _moment(success), failures, code, message),
        to_datetime(created),
        to_datetime(updated),
    )


def _moment(moment: int | None) -> datetime | None:
    return None if moment is None else to_datetime(moment)

"""Subscriptions as they are stored. No other module writes their table: those that read a feed say here how it went."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from kurabito.clock import SECOND, optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.errors import InvalidInput
from kurabito.feeds.errors import SubscriptionConflict, SubscriptionNotFound
from kurabito.feeds.preferences import Policy, Preferences
from kurabito.feeds.raw_items import clean_text
from kurabito.feeds.results import FetcherResults
from kurabito.feeds.subscriptions import Health, NewSeries, StartWith, Subscription, SubscriptionSettings
from kurabito.http import Validators
from kurabito.reasons import InputReason, refused

_SUBSCRIPTION: Final = ColumnList(
    "id, name, url, module_id, series_id, new_series, fetch_interval, is_enabled, allows_private, conflict_policy, upgrade, "
    "wait_minutes, preferences, start_with, chosen, "
    "etag, last_modified, next_fetch_at, last_fetched_at, last_success_at, failures, error_code, error_message, "
    "finished_at, created_at, updated_at"
)
_LONGEST_MESSAGE: Final = 1_000
_UNKNOWN_ERROR: Final = "fetch_failed"
_LONGEST_WAIT: Final = 86_400 * SECOND
# Twice as long after each failure, up to a day; an interval that is longer than that stays what it is.
_WAIT: Final = f"""CASE WHEN fetch_interval >= {_LONGEST_WAIT} THEN fetch_interval
    WHEN failures >= 12 OR fetch_interval * (1 << failures) > {_LONGEST_WAIT} THEN {_LONGEST_WAIT}
    ELSE fetch_interval * (1 << failures) END"""
_SQL: Final = Queries("kurabito.feeds", "subscription_store.sql", subscription=_SUBSCRIPTION, wait=_WAIT)


def add(
    conn: Connection, settings: SubscriptionSettings, start_with: StartWith, chosen: frozenset[str]
) -> Subscription:
    """Store a subscription; raises SubscriptionConflict when its URL is followed already."""
    _check_named(conn, settings)
    values = {**_stored(settings), "start_with": start_with.value, "chosen": json.dumps(sorted(chosen))}
    if conn.one(_SQL.by_url, {"url": settings.url}) is not None:
        raise _taken()
    try:
        subscription_id = conn.value(_SQL.insert, values)
    except UniqueConflict:
        raise _taken() from None
    return find(conn, subscription_id)


def find(conn: Connection, subscription_id: int) -> Subscription:
    """The subscription; raises SubscriptionNotFound."""
    row = conn.one(_SQL.get, {"id": subscription_id})
    if row is None:
        raise SubscriptionNotFound(f"no subscription has the id {subscription_id}")
    return _subscription(row)


def of_url(conn: Connection, url: str) -> Subscription | None:
    """The subscription of a feed, if it is followed."""
    known = conn.value(_SQL.by_url, {"url": url})
    return None if known is None else find(conn, known)


def page(conn: Connection, after: int, limit: int) -> list[Subscription]:
    """Subscriptions in the order in which they were made."""
    return [_subscription(row) for row in conn.all(_SQL.page, {"after": after, "limit": limit})]


def change(conn: Connection, subscription_id: int, changes: dict[str, Any]) -> Subscription:
    """Change how a feed is followed; what is not named stays.

    A host that was allowed to be a private one was meant as it was: another host has to be allowed again.
    """
    old = find(conn, subscription_id).settings
    new = replace(old, **changes)
    if "allows_private" not in changes and _place(new.url) != _place(old.url):
        new = replace(new, allows_private=False)
    _check_named(conn, new)
    if conn.value(_SQL.by_url, {"url": new.url}) not in (None, subscription_id):
        raise _taken()
    conn.run(_SQL.update, {"id": subscription_id, **_stored(new)})
    if _source(new) != _source(old):
        conn.run(_SQL.restart, {"id": subscription_id})
    return find(conn, subscription_id)


def remove(conn: Connection, subscription_id: int) -> None:
    """Forget a subscription and its items; raises SubscriptionNotFound. The links that it brought stay."""
    find(conn, subscription_id)
    conn.run(_SQL.delete, {"id": subscription_id})


def is_due(conn: Connection) -> bool:
    """Whether a feed is due."""
    return conn.one(_SQL.due) is not None


def claim_due(conn: Connection) -> list[int]:
    """The subscriptions that are due; each is given to one caller only, and its next fetch is scheduled."""
    return [subscription_id for (subscription_id,) in conn.all(_SQL.claim_due)]


def schedule_next(conn: Connection, subscription_id: int, at_least: float = 0.0) -> None:
    """Schedule the next fetch by how many readings failed in a row, and not before so many seconds have passed."""
    conn.run(_SQL.schedule_next, {"id": subscription_id, "at_least": round(at_least * SECOND)})


def postpone(conn: Connection, subscription_id: int, at_least: float = 0.0) -> None:
    """Leave the next fetch when it is due, but not before so many seconds have passed."""
    conn.run(_SQL.postpone, {"id": subscription_id, "at_least": round(at_least * SECOND)})


def record_results(conn: Connection, results: FetcherResults) -> None:
    """Write down how a reading went, in the transaction that stores its items; a success clears the last error."""
    if results.success:
        conn.run(_SQL.record_success, {"id": results.subscription_id})
        return
    message = clean_text(results.error_message)[:_LONGEST_MESSAGE] or "the fetcher did not say why"
    code = results.error_code or _UNKNOWN_ERROR
    counted = 0 if results.by_hand else 1
    values = {"id": results.subscription_id, "counted": counted, "error_code": code, "error_message": message}
    conn.run(_SQL.record_failure, values)


def record_reading(
    conn: Connection, subscription: Subscription, validators: Validators, problem: tuple[str, str] | None = None
) -> None:
    """Write down which version of a feed was read, after its items were stored, and schedule the next fetch.

    `problem` is a code and a message for a feed that was read with an error.
    """
    code, message = problem or (None, None)
    values = {
        "id": subscription.id,
        "url": subscription.settings.url,
        "etag": validators.etag,
        "last_modified": validators.last_modified,
        "error_code": code,
        "error_message": message,
    }
    if conn.run(_SQL.record_reading, values):
        schedule_next(conn, subscription.id)


def follow_for(conn: Connection, subscription_id: int, show_id: int) -> None:
    """Note the show that a feed was followed for."""
    conn.run(_SQL.follow_for, {"id": subscription_id, "show_id": show_id})


def of_shows(conn: Connection) -> list[tuple[int, int, bool]]:
    """Feeds of one show, the show, and whether each is read; without those that only their keeper may pause or resume."""
    return [(known, show_id, bool(is_read)) for known, show_id, is_read in conn.all(_SQL.of_shows)]


def finish(conn: Connection, subscription_id: int) -> None:
    """Read a feed no longer: its show is over."""
    conn.run(_SQL.finish, {"id": subscription_id})


def resume(conn: Connection, subscription_id: int) -> None:
    """Read a feed again whose show was over."""
    conn.run(_SQL.resume, {"id": subscription_id})


def _check_named(conn: Connection, settings: SubscriptionSettings) -> None:
    if settings.series_id is not None and conn.one(_SQL.series, {"id": settings.series_id}) is None:
        problem = f"no series has the id {settings.series_id}"
        raise InvalidInput("series_id", problem, refused(InputReason.NO_SERIES))
    if settings.module_id is not None and conn.one(_SQL.fetcher, {"id": settings.module_id}) is None:
        raise InvalidInput(
            "module_id", f"no fetcher has the id {settings.module_id}; leave it out for the built-in one"
        )


def _taken() -> SubscriptionConflict:
    problem = "another subscription follows this feed already; change that one instead"
    return SubscriptionConflict(problem, field="url", reason=refused(InputReason.FEED_TAKEN))


def _place(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return parts.hostname, parts.port


def _source(settings: SubscriptionSettings) -> tuple[Any, ...]:
    return settings.url, settings.module_id, settings.fetch_interval, settings.allows_private


def _stored(settings: SubscriptionSettings) -> dict[str, Any]:
    return {
        "name": settings.name,
        "url": settings.url,
        "module_id": settings.module_id,
        "series_id": settings.series_id,
        "new_series": settings.new_series.value,
        "fetch_interval": round(settings.fetch_interval.total_seconds() * SECOND),
        "is_enabled": int(settings.is_enabled),
        "allows_private": int(settings.allows_private),
        "conflict_policy": settings.conflict_policy.value,
        "upgrade": int(settings.upgrade),
        "wait_minutes": settings.wait_minutes,
        "preferences": settings.preferences.stored(),
    }


def _subscription(row: Row) -> Subscription:
    of = _SUBSCRIPTION.row(row)
    settings = SubscriptionSettings(
        name=of.name,
        url=of.url,
        module_id=of.module_id,
        series_id=of.series_id,
        new_series=NewSeries(of.new_series),
        fetch_interval=timedelta(microseconds=of.fetch_interval),
        is_enabled=bool(of.is_enabled),
        allows_private=bool(of.allows_private),
        conflict_policy=Policy(of.conflict_policy),
        upgrade=bool(of.upgrade),
        wait_minutes=of.wait_minutes,
        preferences=Preferences.read(of.preferences),
    )
    health = Health(
        optional_datetime(of.next_fetch_at),
        optional_datetime(of.last_fetched_at),
        optional_datetime(of.last_success_at),
        of.failures,
        of.error_code,
        of.error_message,
    )
    return Subscription(
        of.id,
        settings,
        StartWith(of.start_with),
        frozenset(json.loads(of.chosen)),
        Validators(of.etag, of.last_modified),
        health,
        to_datetime(of.created_at),
        to_datetime(of.updated_at),
        optional_datetime(of.finished_at),
    )

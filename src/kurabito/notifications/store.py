"""Destinations of notifications, their outbox and their history, as they are stored. No other module writes their tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import time
from typing import Any, Final, NamedTuple

from kurabito.clock import optional_datetime, to_datetime
from kurabito.contact import ContactStatus
from kurabito.db import Connection, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.notifications.errors import DestinationConflict, DestinationNotFound
from kurabito.notifications.events import ARRIVED, NotificationEvent, NotificationKind
from kurabito.notifications.model import (
    Delivery,
    DeliveryStatus,
    DestinationKind,
    DestinationSettings,
    Message,
    QuietHours,
    StoredDestination,
    check,
)
from kurabito.reasons import InputReason, refused

_DESTINATION: Final = ColumnList(
    "id, kind, name, url, token, kinds, language, quiet_from, quiet_to, is_enabled, failures, error_code, error_message, "
    "last_success_at, last_failure_at, created_at, updated_at"
)
_DELIVERY: Final = ColumnList("id, title, body, status, attempts, error_code, error_message, created_at, ended_at")
_SQL: Final = Queries("kurabito.notifications", "store.sql", destination=_DESTINATION, delivery=_DELIVERY)
_LONGEST_MESSAGE: Final = 1_000
_KEPT: Final = 200
"""So many messages of a destination are remembered."""


class Waiting(NamedTuple):
    """Something that a destination is to hear of."""

    id: int
    event: NotificationEvent
    noted_at: int


def add(conn: Connection, settings: DestinationSettings) -> StoredDestination:
    """Store a destination; raises InvalidInput or DestinationConflict."""
    made = conn.value(_SQL.add, _checked(conn, settings))
    return find(conn, made)


def everything(conn: Connection) -> list[StoredDestination]:
    """Every destination, in the order in which they were added. There are few."""
    return [_destination(row) for row in conn.all(_SQL.everything)]


def find(conn: Connection, destination_id: int) -> StoredDestination:
    """The destination; raises DestinationNotFound."""
    row = conn.one(_SQL.get, {"id": destination_id})
    if row is None:
        raise DestinationNotFound(f"no destination of notifications has the id {destination_id}")
    return _destination(row)


def change(conn: Connection, destination_id: int, changes: Mapping[str, Any]) -> StoredDestination:
    """Change a destination; what is not named stays. A token belongs to its address: another one has to be given it again."""
    old = find(conn, destination_id).settings
    given = dict(changes)
    if given.get("url", old.url) != old.url:
        given.setdefault("token", None)
    stored = _checked(conn, replace(old, **given), own=destination_id)
    conn.run(_SQL.change, {**stored, "id": destination_id})
    if not stored["is_enabled"]:
        conn.run(_SQL.forget_all, {"id": destination_id})
    return find(conn, destination_id)


def remove(conn: Connection, destination_id: int) -> None:
    """Forget a destination and its history; raises DestinationNotFound."""
    find(conn, destination_id)
    conn.run(_SQL.remove, {"id": destination_id})


def put(conn: Connection, events: Sequence[NotificationEvent]) -> list[int]:
    """Have the destinations hear of events, each of the kinds that it wants; those that have something to hear."""
    told = []
    for one in everything(conn) if events else ():
        wanted = [event for event in events if one.settings.is_enabled and event.kind in one.settings.kinds]
        for event in wanted:
            facts = json.dumps(dict(event.facts), ensure_ascii=False)
            conn.run(_SQL.put, {"id": one.id, "kind": event.kind.value, "code": event.code, "facts": facts})
        told += [one.id] if wanted else []
    return told


def waiting(conn: Connection, destination_id: int, limit: int) -> list[Waiting]:
    """What a destination is to hear of, the oldest first."""
    return [
        Waiting(key, NotificationEvent(NotificationKind(kind), code, json.loads(facts)), noted_at)
        for key, kind, code, facts, noted_at in conn.all(_SQL.waiting, {"id": destination_id, "limit": limit})
    ]


def with_waiting(conn: Connection) -> list[int]:
    """The destinations that are to hear of something."""
    return [found for (found,) in conn.all(_SQL.with_waiting)]


def begin(conn: Connection, destination_id: int, message: Message) -> int:
    """Write down that a message is being sent, or sent again; the delivery's id."""
    if (found := conn.value(_SQL.retrying, {"id": destination_id})) is not None:
        conn.run(_SQL.try_again, {"delivery": found, "title": message.title, "body": message.body})
        return int(found)
    return insert_delivery(conn, destination_id, message)


def insert_delivery(conn: Connection, destination_id: int, message: Message) -> int:
    """Write down that another message is being sent; the delivery's id."""
    conn.run(_SQL.prune, {"id": destination_id, "keep": _KEPT})
    words = {"title": message.title, "body": message.body}
    return int(conn.value(_SQL.begin, {"id": destination_id, **words}))


def note_sent(conn: Connection, destination_id: int, delivery: int, newest: int | None = None) -> None:
    """Write down that a message arrived, and forget what was told with it."""
    conn.run(_SQL.settle, _settled(delivery, DeliveryStatus.SENT))
    conn.run(_SQL.note_success, {"id": destination_id})
    if newest is not None:
        conn.run(_SQL.forget, {"id": destination_id, "newest": newest})


def note_failed(
    conn: Connection, destination_id: int, delivery: int, code: str, message: str, *, is_last: bool, drop: bool = True
) -> None:
    """Write down that a message did not arrive, and why; after the last attempt what it told of is given up."""
    message = message[:_LONGEST_MESSAGE]
    status = DeliveryStatus.FAILED if is_last else DeliveryStatus.RETRYING
    conn.run(_SQL.settle, _settled(delivery, status, code, message))
    conn.run(_SQL.note_failure, {"id": destination_id, "error_code": code, "error_message": message})
    if is_last and drop:
        conn.run(_SQL.forget_all, {"id": destination_id})


def history(conn: Connection, destination_id: int, limit: int) -> list[Delivery]:
    """The messages of a destination, the newest first; raises DestinationNotFound."""
    find(conn, destination_id)
    return [_delivery(row) for row in conn.all(_SQL.history, {"id": destination_id, "limit": limit})]


def arrived(conn: Connection, placement_ids: Sequence[int]) -> list[NotificationEvent]:
    """What placements brought into a library."""
    return [
        NotificationEvent(
            NotificationKind.ARRIVED,
            ARRIVED,
            {"series_id": series_id, "season": season, "kind": kind, "number": number},
        )
        for series_id, season, kind, number in conn.all(_SQL.arrived, {"ids": list(placement_ids)})
    ]


def known_subjects(conn: Connection) -> dict[str, int]:
    """What was told of the list of attention, and how much of it there was."""
    return dict(conn.all(_SQL.known))


def know(conn: Connection, subjects: Mapping[str, int], over: Sequence[str]) -> None:
    """Remember what was told, and forget what is over."""
    for subject, size in subjects.items():
        conn.run(_SQL.know, {"subject": subject, "size": size})
    if over:
        conn.run(_SQL.forget_subjects, {"subjects": list(over)})


def _settled(
    delivery: int, status: DeliveryStatus, code: str | None = None, message: str | None = None
) -> dict[str, Any]:
    return {"delivery": delivery, "status": status.value, "error_code": code, "error_message": message}


def _checked(conn: Connection, settings: DestinationSettings, own: int | None = None) -> dict[str, Any]:
    """Settings as they are stored; raises InvalidInput or DestinationConflict."""
    check(settings)
    if conn.value(_SQL.by_name, {"name": settings.name}) not in (None, own):
        problem = "another destination has this name already; choose another"
        raise DestinationConflict(problem, field="name", reason=refused(InputReason.NAME_TAKEN))
    quiet = settings.quiet
    return {
        "kind": settings.kind.value,
        "name": settings.name,
        "url": settings.url,
        "token": settings.token,
        "kinds": json.dumps(sorted(settings.kinds)),
        "language": settings.language,
        "quiet_from": None if quiet is None else f"{quiet.begin:%H:%M}",
        "quiet_to": None if quiet is None else f"{quiet.end:%H:%M}",
        "is_enabled": int(settings.is_enabled),
    }


def _destination(row: Row) -> StoredDestination:
    of = _DESTINATION.row(row)
    is_quiet = of.quiet_from is not None
    return StoredDestination(
        id=of.id,
        settings=DestinationSettings(
            kind=DestinationKind(of.kind),
            name=of.name,
            url=of.url,
            token=of.token,
            kinds=frozenset(map(NotificationKind, json.loads(of.kinds))),
            language=of.language,
            quiet=QuietHours(time.fromisoformat(of.quiet_from), time.fromisoformat(of.quiet_to)) if is_quiet else None,
            is_enabled=bool(of.is_enabled),
        ),
        status=ContactStatus.read(of),
        created_at=to_datetime(of.created_at),
        updated_at=to_datetime(of.updated_at),
    )


def _delivery(row: Row) -> Delivery:
    of = _DELIVERY.row(row)
    return Delivery(
        id=of.id,
        title=of.title,
        body=of.body,
        status=DeliveryStatus(of.status),
        attempts=of.attempts,
        error_code=of.error_code,
        error_message=of.error_message,
        created_at=to_datetime(of.created_at),
        ended_at=optional_datetime(of.ended_at),
    )

"""What happens is told to destinations: one message for a burst, none in quiet hours, again after a failure."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any, cast

import httpcore2
import pytest
from tests.support.destinations import DestinationStandIn, taking_messages

from kurabito.attention import Attention, AttentionCode, AttentionItem, Severity
from kurabito.clock import ManualClock, from_datetime
from kurabito.http import Outbound
from kurabito.notifications.errors import DestinationRefused
from kurabito.notifications.events import NotificationEvent, NotificationKind
from kurabito.notifications.model import DestinationKind, DestinationSettings, Message, QuietHours
from kurabito.notifications.outbox import DELIVER, DeliverTask, NotificationOutbox
from kurabito.notifications.senders import Senders
from kurabito.notifications.service import Notifications
from kurabito.notifications.watch import AttentionWatch
from kurabito.runtime import Registry, Snooze, TaskContext, Worker
from kurabito.runtime.sql.queue import SqlQueue

TLS = httpcore2.default_ssl_context()
QUESTION = NotificationEvent(NotificationKind.NEEDS_YOU, "matches_open", {"count": 1})
FAILURE = NotificationEvent(NotificationKind.FAILED, "downloads_failed", {"count": 1})


@dataclass(frozen=True)
class Attempt:
    attempt: int


async def in_codes(language: str, events: Sequence[NotificationEvent]) -> Message:
    return Message(language, "\n".join(event.code for event in events))


class Telling:
    """Destinations, and what is to be told."""

    def __init__(self, queue: SqlQueue, outbound: Outbound, clock: ManualClock, server: DestinationStandIn) -> None:
        self.queue, self.clock, self.server = queue, clock, server
        senders = Senders(outbound)
        self.outbox = NotificationOutbox(queue, senders, in_codes, local=lambda moment: moment.astimezone(UTC))
        self.notifications = Notifications(queue.database, senders, in_codes)
        self.items: list[AttentionItem] = []
        self.watch = AttentionWatch(Attention({"all": self._said}), queue.database, self.outbox)

    async def _said(self) -> Sequence[AttentionItem]:
        return self.items

    async def add(self, **others: Any) -> int:
        given = {"kind": DestinationKind.WEBHOOK, "name": "Hook", "url": f"http://{self.server.host}/hook", **others}
        return (await self.notifications.add(DestinationSettings(**given))).id

    async def note(self, *events: NotificationEvent) -> None:
        await self.queue.database.write(lambda conn: self.outbox.note(conn, events))

    async def deliver(self, destination_id: int, attempt: int = 1) -> int:
        return await self.outbox.deliver(DeliverTask(destination_id), cast("TaskContext", Attempt(attempt)))

    async def tasks(self) -> int:
        return len((await self.queue.list(task_type=DELIVER)).items)


@pytest.fixture
async def telling(queue: SqlQueue, clock: ManualClock) -> AsyncIterator[Telling]:
    async with taking_messages() as server, Outbound(tls=TLS) as outbound:
        yield Telling(queue, outbound, clock, server)


async def test_a_burst_is_one_message(telling: Telling) -> None:
    hook = await telling.add(token="secret", language="ja")
    for _ in range(12):
        await telling.note(QUESTION)
    await telling.note(FAILURE)
    assert await telling.tasks() == 1
    with pytest.raises(Snooze):
        await telling.deliver(hook)
    assert telling.server.sent == []
    telling.clock.advance(21)
    registry = Registry()
    telling.outbox.join(registry)
    async with Worker(telling.queue, registry):
        (task,) = await telling.queue.list(task_type=DELIVER)
        assert (await telling.queue.wait(task.id, timeout=30)).state == "succeeded"
    (sent,) = telling.server.sent
    assert (sent["title"], len(sent["events"]), telling.server.bearers) == ("ja", 13, ["Bearer secret"])
    (delivery,) = await telling.notifications.history(hook)
    assert (delivery.status, delivery.attempts) == ("sent", 1)
    assert await telling.deliver(hook) == 0
    # What comes afterwards begins with another task.
    await telling.note(QUESTION)
    assert await telling.tasks() == 2


async def test_what_goes_on_for_long_is_told_meanwhile(telling: Telling) -> None:
    hook = await telling.add()
    for _ in range(13):
        await telling.note(QUESTION)
        telling.clock.advance(10)
    assert await telling.deliver(hook) == 13


async def test_a_destination_hears_of_its_kinds_alone(telling: Telling) -> None:
    hook = await telling.add(kinds=frozenset({NotificationKind.FAILED}))
    await telling.note(QUESTION)
    assert await telling.tasks() == 0
    await telling.note(QUESTION, FAILURE)
    telling.clock.advance(21)
    await telling.deliver(hook)
    assert [event["code"] for event in telling.server.sent[0]["events"]] == ["downloads_failed"]


async def test_quiet_hours_are_kept_and_everything_is_told_after_them(telling: Telling) -> None:
    hook = await telling.add(quiet=QuietHours(time(22), time(7)))
    now = datetime.fromtimestamp(telling.clock.now() / 1e6, UTC)
    evening = now.replace(hour=23, minute=30, second=0, microsecond=0)
    telling.clock.advance((from_datetime(evening) - telling.clock.now()) / 1e6 % 86_400)
    await telling.note(QUESTION)
    telling.clock.advance(3_600)
    await telling.note(FAILURE)
    with pytest.raises(Snooze) as snoozed:
        await telling.deliver(hook)
    assert snoozed.value.seconds == 6.5 * 3_600
    telling.clock.advance(6.5 * 3_600)
    assert await telling.deliver(hook) == 2
    assert telling.server.sent[0]["body"] == "matches_open\ndownloads_failed"


async def test_a_failure_is_tried_again_and_given_up_in_the_end(telling: Telling) -> None:
    hook = await telling.add()
    await telling.note(QUESTION)
    telling.clock.advance(21)
    telling.server.status = "503 Service Unavailable"
    with pytest.raises(DestinationRefused):
        await telling.deliver(hook)
    (found,) = await telling.notifications.everything()
    assert (found.health, found.status.error_code) == ("failing", "bad_status")
    # What came meanwhile goes with it, and it is the same delivery.
    await telling.note(FAILURE)
    telling.clock.advance(21)
    telling.server.status = "200 OK"
    assert await telling.deliver(hook, attempt=2) == 2
    (delivery,) = await telling.notifications.history(hook)
    assert (delivery.status, delivery.attempts, delivery.error_code) == ("sent", 2, None)
    await telling.note(QUESTION)
    telling.clock.advance(21)
    telling.server.status = "503 Service Unavailable"
    with pytest.raises(DestinationRefused):
        await telling.deliver(hook, attempt=8)
    failed, _ = await telling.notifications.history(hook)
    assert (failed.status, failed.error_code) == ("failed", "bad_status")
    assert await telling.deliver(hook) == 0


async def test_trouble_is_told_once_and_again_when_it_grew_or_came_back(telling: Telling) -> None:
    def failed(count: int) -> AttentionItem:
        return AttentionItem(code=AttentionCode.DOWNLOADS_FAILED, severity=Severity.WARNING, facts={"count": count})

    telling.items = [failed(2)]
    assert await telling.watch.look() == 0, "nobody listens"
    hook = await telling.add()
    counts = []
    for items in ([failed(2)], [failed(2)], [failed(3)], [failed(1)], [], [failed(1)]):
        telling.items = items
        counts.append(await telling.watch.look())
    assert counts == [1, 0, 1, 0, 0, 1]
    disk: dict[str, str | int | float | bool | None] = {"folder": "/srv", "free": 5}
    telling.items = [AttentionItem(code=AttentionCode.DISK_FULL, severity=Severity.BROKEN, facts=disk), failed(1)]
    assert await telling.watch.look() == 1
    telling.items = [AttentionItem(code=AttentionCode.DISK_FULL, severity=Severity.BROKEN, facts={**disk, "free": 4})]
    assert await telling.watch.look() == 0, "less room is the same trouble"
    telling.clock.advance(21)
    await telling.deliver(hook)
    assert [event["kind"] for event in telling.server.sent[0]["events"]] == ["failed"] * 3 + ["disk"]


async def test_a_destination_that_is_off_or_gone_hears_nothing(telling: Telling) -> None:
    hook = await telling.add()
    await telling.note(QUESTION)
    await telling.notifications.change(hook, {"is_enabled": False})
    await telling.note(QUESTION)
    telling.clock.advance(21)
    assert await telling.deliver(hook) == 0
    await telling.notifications.remove(hook)
    assert await telling.deliver(hook) == 0
    assert telling.server.sent == []

"""What destinations are to hear of, and the task that tells them: one message for a burst, none in quiet hours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from kurabito.clock import SECOND, to_datetime
from kurabito.db import Connection, Database
from kurabito.logs import get_logger, mask_text
from kurabito.notifications import store
from kurabito.notifications.errors import DestinationRefused
from kurabito.notifications.events import NotificationEvent
from kurabito.notifications.model import Message, StoredDestination
from kurabito.notifications.senders import Senders
from kurabito.runtime import Exponential, Registry, Snooze, TaskContext
from kurabito.runtime.delegation import DelegatedTasks

DELIVER: Final = "notifications.deliver"
_QUIET: Final = 20.0
"""A season that arrives brings an episode every moment; it is one message."""
_PATIENCE: Final = 120.0
"""What goes on for longer is told meanwhile."""
_ATTEMPTS: Final = 8
_RETRY: Final = Exponential(base=15.0, cap=1_800.0)
_AT_ONCE: Final = 500

_log = get_logger(__name__)


class MessageWriter(Protocol):
    """Makes words of events; the language of a destination is known where pages are."""

    def __call__(self, language: str, events: Sequence[NotificationEvent], /) -> Awaitable[Message]: ...


@dataclass(frozen=True, slots=True)
class DeliverTask:
    """A destination that is to hear of something."""

    destination_id: int


class NotificationOutbox:
    """Tells destinations what happened."""

    def __init__(
        self,
        queue: DelegatedTasks,
        senders: Senders,
        write: MessageWriter,
        local: Callable[[datetime], datetime] = datetime.astimezone,
    ) -> None:
        self._queue = queue
        self._database: Database = queue.database
        self._senders = senders
        self._write = write
        self._local = local

    def join(self, registry: Registry) -> None:
        """Register the task."""
        registry.task(DELIVER, max_attempts=_ATTEMPTS, retry=_RETRY)(self.deliver)

    def note_placed(self, conn: Connection, placement_ids: Sequence[int]) -> None:
        """Have destinations hear of what these placements brought, in the transaction that notes them."""
        self.note(conn, store.arrived(conn, placement_ids))

    def note(self, conn: Connection, events: Sequence[NotificationEvent]) -> None:
        """Have destinations hear of events, in the caller's transaction."""
        for destination_id in store.put(conn, events):
            self._enqueue(conn, destination_id)

    def resume(self, conn: Connection) -> None:
        """Have a task for all that waits: one that ended as something was put may have missed it."""
        for destination_id in store.with_waiting(conn):
            self._enqueue(conn, destination_id)

    async def deliver(self, task: DeliverTask, ctx: TaskContext) -> int:
        """Tell a destination what it is to hear of; of how many events."""
        told = 0
        # One that was removed has nothing waiting.
        while waiting := await self._database.read(lambda conn: store.waiting(conn, task.destination_id, _AT_ONCE)):
            found = await self._database.read(lambda conn: store.find(conn, task.destination_id))
            await self._wait(found, waiting)
            await self._send(found, waiting, is_last=ctx.attempt >= _ATTEMPTS)
            told += len(waiting)
        return told

    async def _wait(self, destination: StoredDestination, waiting: Sequence[store.Waiting]) -> None:
        now = await self._database.read(lambda conn: conn.now())
        quiet = destination.settings.quiet
        if quiet is not None and (left := quiet.left(self._local(to_datetime(now))).total_seconds()) > 0:
            raise Snooze(left)
        newest, oldest = ((now - waiting[index].noted_at) / SECOND for index in (-1, 0))
        if newest < _QUIET and oldest < _PATIENCE:
            raise Snooze(_QUIET - newest)

    async def _send(self, destination: StoredDestination, waiting: Sequence[store.Waiting], *, is_last: bool) -> None:
        events = [one.event for one in waiting]
        message = await self._write(destination.settings.language, events)
        delivery = await self._database.write(lambda conn: store.begin(conn, destination.id, message))
        try:
            await self._senders.send(destination.settings, message, events)
        except DestinationRefused as error:
            code, problem = error.cause, mask_text(str(error))
            await self._database.write(
                lambda conn: store.note_failed(conn, destination.id, delivery, code, problem, is_last=is_last)
            )
            raise
        await self._database.write(lambda conn: store.note_sent(conn, destination.id, delivery, waiting[-1].id))
        _log.info("notification sent", destination=destination.id, events=len(events))

    def _enqueue(self, conn: Connection, destination_id: int) -> None:
        key, task = f"{DELIVER}:{destination_id}", DeliverTask(destination_id)
        conn.with_raw(lambda raw: self._queue.enqueue_in(raw, DELIVER, task, delay=_QUIET, unique_key=key))

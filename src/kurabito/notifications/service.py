"""What a program asks of the destinations of notifications: add, change, test, remove, history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection, Database
from kurabito.logs import mask_text
from kurabito.notifications import store
from kurabito.notifications.errors import DestinationRefused
from kurabito.notifications.events import TEST, NotificationEvent, NotificationKind
from kurabito.notifications.model import Delivery, DestinationSettings, StoredDestination
from kurabito.notifications.outbox import MessageWriter
from kurabito.notifications.senders import Senders

_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationTest:
    """What came of a test message."""

    destination: StoredDestination
    error: DestinationRefused | None = None


class Notifications:
    """The destinations of one database."""

    def __init__(self, database: Database, senders: Senders, write: MessageWriter) -> None:
        self._database = database
        self._senders = senders
        self._write = write

    async def everything(self) -> list[StoredDestination]:
        """Every destination, in the order in which they were added."""
        return await self._database.read(store.everything)

    async def add(self, settings: DestinationSettings) -> StoredDestination:
        """Add a destination; raises InvalidInput or DestinationConflict."""
        return await self._database.write(lambda conn: store.add(conn, settings))

    async def change(self, destination_id: int, changes: Mapping[str, Any]) -> StoredDestination:
        """Change a destination; fields of `DestinationSettings`, and what is not named stays."""
        return await self._database.write(lambda conn: store.change(conn, destination_id, changes))

    async def remove(self, destination_id: int) -> None:
        """Forget a destination and its history; raises DestinationNotFound."""
        await self._database.write(lambda conn: store.remove(conn, destination_id))

    async def history(self, destination_id: int, limit: int = _SHOWN) -> list[Delivery]:
        """The messages of a destination, the newest first; raises DestinationNotFound."""
        return await self._database.read(lambda conn: store.history(conn, destination_id, limit))

    async def test(self, destination_id: int) -> DestinationTest:
        """Send a test message, also in quiet hours; raises DestinationNotFound."""
        found = await self._database.read(lambda conn: store.find(conn, destination_id))
        event = NotificationEvent(NotificationKind.NEEDS_YOU, TEST)
        message = await self._write(found.settings.language, [event])
        problem: DestinationRefused | None = None
        try:
            await self._senders.send(found.settings, message, [event])
        except DestinationRefused as error:
            problem = error

        def note(conn: Connection) -> StoredDestination:
            delivery = store.insert_delivery(conn, destination_id, message)
            if problem is None:
                store.note_sent(conn, destination_id, delivery)
            else:
                code, said = problem.cause, mask_text(str(problem))
                store.note_failed(conn, destination_id, delivery, code, said, is_last=True, drop=False)
            return store.find(conn, destination_id)

        return DestinationTest(destination=await self._database.write(note), error=problem)

"""What is new in the list of attention is told: once for each trouble, and again when it has grown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kurabito.attention import Attention, AttentionCode, AttentionItem
from kurabito.db import Connection, Database
from kurabito.notifications import store
from kurabito.notifications.events import NotificationEvent, kind_of, size_of, subject_of
from kurabito.notifications.outbox import NotificationOutbox
from kurabito.runtime import Registry

LOOK: Final = "notifications.look"
_EVERY: Final = 30.0


class AttentionWatch:
    """Looks at the list of attention, and has destinations hear of what is new in it."""

    def __init__(self, attention: Attention, database: Database, outbox: NotificationOutbox) -> None:
        self._attention = attention
        self._database = database
        self._outbox = outbox

    def join(self, registry: Registry) -> None:
        """Register the task and when it runs."""
        registry.task(LOOK)(self.look)
        registry.every(_EVERY, LOOK, unique_key=LOOK)

    async def look(self) -> int:
        """Have destinations hear of what is new; how much that is."""
        if not any(one.settings.is_enabled for one in await self._database.read(store.everything)):
            return 0
        items = await self._attention.list()
        return await self._database.write(lambda conn: self._compare(conn, items))

    def _compare(self, conn: Connection, items: Sequence[AttentionItem]) -> int:
        known = store.known_subjects(conn)
        now: dict[str, int] = {}
        news = []
        for item in items:
            if (kind := kind_of(item.code)) is None:
                continue
            subject = subject_of(item)
            now[subject] = size_of(item)
            if now[subject] > known.get(subject, 0):
                news.append(NotificationEvent(kind, item.code.value, item.facts))
        # A part that could not say how it is may have the same to say in a moment.
        is_complete = all(item.code is not AttentionCode.CHECK_FAILED for item in items)
        over = sorted(known.keys() - now.keys()) if is_complete else []
        store.know(conn, {subject: size for subject, size in now.items() if known.get(subject) != size}, over)
        self._outbox.note(conn, news)
        self._outbox.resume(conn)
        return len(news)

"""What needs a person, and what of it its keeper hid until it changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kurabito.attention import Attention, AttentionCode, AttentionItem
from kurabito.clock import Clock, SystemClock
from kurabito.db import Connection, Database, Queries
from kurabito.maintenance.errors import NoticeNotFound

_SQL: Final = Queries("kurabito.maintenance", "notices.sql")
# Every page shows how many there are; asking all parts for each of them would cost more than the page.
_COUNTED_FOR: Final = 3.0


class Notice(NamedTuple):
    """One thing that needs a person, and whether it is hidden."""

    item: AttentionItem
    is_hidden: bool


class NoticeBoard:
    """The list of attention as its keeper sees it."""

    def __init__(self, attention: Attention, database: Database, clock: Clock | None = None) -> None:
        self._attention = attention
        self._database = database
        self._clock = clock or SystemClock()
        self._count = 0
        self._counted_at = -_COUNTED_FOR

    async def list(self) -> Sequence[Notice]:
        """Everything, the gravest first. What is over is no longer hidden: should it come again, it is shown."""
        items = await self._attention.list()
        hidden = await self._database.read(_hidden)
        # A part that could not say how it is may have the same to say in a moment.
        is_complete = all(item.code is not AttentionCode.CHECK_FAILED for item in items)
        if is_complete and (over := hidden - {item.key for item in items}):
            await self._database.write(lambda conn: conn.run(_SQL.forget, {"keys": sorted(over)}))
        notices = [Notice(item, item.key in hidden) for item in items]
        self._note(sum(not notice.is_hidden for notice in notices))
        return notices

    async def count(self) -> int:
        """How many are not hidden, as it was a few seconds ago at most."""
        if self._clock.monotonic() - self._counted_at >= _COUNTED_FOR:
            await self.list()
        return self._count

    def recount(self) -> None:
        """Have the next count be of now: something was changed."""
        self._counted_at = -_COUNTED_FOR

    async def hide(self, key: str) -> None:
        """Hide one until it changes; raises NoticeNotFound."""
        await self._find(key)
        await self._database.write(lambda conn: conn.run(_SQL.hide, {"key": key}))
        self.recount()

    async def show(self, key: str) -> None:
        """Show one again that was hidden; raises NoticeNotFound."""
        await self._find(key)
        await self._database.write(lambda conn: conn.run(_SQL.forget, {"keys": [key]}))
        self.recount()

    async def _find(self, key: str) -> None:
        if all(item.key != key for item in await self._attention.list()):
            raise NoticeNotFound(f"nothing that needs you has the key {key}; it has changed or is over")

    def _note(self, count: int) -> None:
        self._count, self._counted_at = count, self._clock.monotonic()


def _hidden(conn: Connection) -> set[str]:
    return {key for (key,) in conn.all(_SQL.hidden)}

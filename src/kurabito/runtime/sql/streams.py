"""Watching tasks in a database: the stream of events, and waiting for a task to end.

Both sleep until a bell rings and then look at the database. They also look now and then without a bell, because on
PostgreSQL the end of a task in another process rings no bell: a notification for every settlement would make the workers'
commits queue up behind one another. A stream looks less often the longer nothing happens.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, Self
from uuid import UUID

from kurabito.db.port import Connection
from kurabito.errors import DatabaseUnavailable, InvalidInput, KurabitoError
from kurabito.logs import get_logger
from kurabito.runtime.events import TaskEvent
from kurabito.runtime.sql.store import Changes
from kurabito.runtime.sql.tables import TaskPosition, TaskTables
from kurabito.wakeup import Bell

_log = get_logger("kurabito.runtime")

_LOOK_EVERY: Final = 0.05
_LOOK_AT_LEAST_EVERY: Final = 0.5
_PAGE: Final = 200
_ASKED_AT_ONCE: Final = 500
_CURSOR: Final = re.compile(r"[0-9]{1,18}(-[0-9]{1,18})?\.[0-9]{1,9}")


class EventStream:
    """What happens, event after event, from the moment the stream was made."""

    def __init__(self, changes: Changes, tables: TaskTables, after: str | None) -> None:
        self._database = changes.database
        self._tables = tables
        self._happened = changes.happened
        self._ready: deque[TaskEvent] = deque()
        self._position = None if after is None else _parse(tables, after)
        self._starting: asyncio.Future[TaskPosition] = asyncio.ensure_future(self._start())
        changes.starting.add(self._starting)
        self._starting.add_done_callback(changes.starting.discard)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> TaskEvent:
        position = self._position or await self._starting
        rung = asyncio.Event()
        pause = _LOOK_EVERY
        with self._happened.listen(rung.set):
            while not self._ready:
                rung.clear()
                events, after = await self._database.read(partial(self._read, position))
                self._ready.extend(events)
                if after == position:
                    heard = await _either(rung, pause)
                    pause = _LOOK_EVERY if heard else min(2 * pause, _LOOK_AT_LEAST_EVERY)
                self._position = position = after
        return self._ready.popleft()

    def _read(self, position: TaskPosition, conn: Connection) -> tuple[list[TaskEvent], TaskPosition]:
        return self._tables.events_after(conn, position, _PAGE)

    async def _start(self) -> TaskPosition:
        if self._position is None:
            return await self._database.read(self._tables.first_position)
        return self._position


class Waiters:
    """Everybody in this process who waits for a task to end; one question to the database serves them all."""

    def __init__(self, happened: Bell, finished_among: Callable[[Sequence[UUID]], Awaitable[set[UUID]]]) -> None:
        self._happened = happened
        self._finished_among = finished_among
        self._waiting: defaultdict[UUID, list[asyncio.Future[None]]] = defaultdict(list)
        self._asking: asyncio.Task[None] | None = None

    async def wait(self, task_id: UUID, timeout: float | None) -> None:
        """Return when the task is finished; raises TimeoutError."""
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[task_id].append(ended)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask(), name="task-waiters")
        try:
            async with asyncio.timeout(timeout):
                await ended
        except TimeoutError:
            raise TimeoutError(f"task {task_id} was not finished within {timeout} s") from None
        finally:
            if ended in self._waiting.get(task_id, ()):
                self._waiting[task_id].remove(ended)
            if not self._waiting.get(task_id):
                self._waiting.pop(task_id, None)

    def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()

    async def _ask(self) -> None:
        try:
            await self._ask_on()
        except BaseException as problem:
            # The questions end with it: tasks that are waited for would never be seen to end.
            waiting, self._waiting = self._waiting, defaultdict(list)
            for ended in (ended for those in waiting.values() for ended in those if not ended.done()):
                ended.set_exception(
                    problem if isinstance(problem, Exception) else DatabaseUnavailable("the queue was closed")
                )
            if not isinstance(problem, Exception):
                raise

    async def _ask_on(self) -> None:
        rung = asyncio.Event()
        with self._happened.listen(rung.set):
            while self._waiting:
                rung.clear()
                ids = list(self._waiting)
                for start in range(0, len(ids), _ASKED_AT_ONCE):
                    await self._release(ids[start : start + _ASKED_AT_ONCE])
                if self._waiting:
                    await _either(rung, _LOOK_EVERY)

    async def _release(self, ids: Sequence[UUID]) -> None:
        try:
            finished = await self._finished_among(ids)
        except KurabitoError as problem:
            # The caller set the time-out; a database that is away for a moment is no reason to give up sooner.
            _log.warning("waiting_interrupted", problem=str(problem))
            return
        for task_id in finished:
            for ended in self._waiting.pop(task_id, ()):
                if not ended.done():
                    ended.set_result(None)


async def _either(rung: asyncio.Event, seconds: float) -> bool:
    """Wait for the bell, but no longer than this; whether it rang."""
    try:
        async with asyncio.timeout(seconds):
            return await rung.wait()
    except TimeoutError:
        return False


def _parse(tables: TaskTables, cursor: str) -> TaskPosition:
    if isinstance(cursor, str) and _CURSOR.fullmatch(cursor):
        row, _, place = cursor.rpartition(".")
        try:
            return tables.position(tuple(int(number) for number in row.split("-")), int(place))
        except ValueError:
            pass
    raise InvalidInput("after", f"is not the cursor of an event ({cursor!r}); begin again without it")

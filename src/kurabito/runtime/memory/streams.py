"""Watching the tasks of an in-memory queue: the stream of events, and waiting for a task to end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from uuid import UUID

from kurabito.clock import SECOND
from kurabito.runtime.events import TaskEvent, unpack
from kurabito.runtime.memory.event_log import LogPosition
from kurabito.runtime.memory.shared_state import SharedState
from kurabito.runtime.model import TaskRecord
from kurabito.wakeup import Bell


async def wait_for(shared: SharedState, task_id: UUID | str, timeout: float | None) -> TaskRecord:
    """The task once it is finished; raises TaskNotFound or TimeoutError."""
    clock = shared.clock
    until = None if timeout is None else clock.now() + round(timeout * SECOND)
    ended = asyncio.Event()
    with _awaiting(shared, task_id) as bell, bell.listen(ended.set):
        while True:
            with shared.lock:
                record = shared.find(task_id).record(shared.living_types())
            if record.finished:
                return record
            if until is None:
                await ended.wait()
            elif not await clock.wait(ended, (until - clock.now()) / SECOND):
                raise TimeoutError(f"task {record.id} is still {record.state} after {timeout} s")
            ended.clear()


async def follow(shared: SharedState, position: LogPosition) -> AsyncIterator[TaskEvent]:
    """Event after event, from this place of the log on."""
    news = asyncio.Event()
    with shared.happened.listen(news.set):
        while True:
            news.clear()
            with shared.lock:
                batches = shared.log.since(position)
            for number, name, at, facts in batches:
                begin = position.place if number == position.number else 0
                position = LogPosition(number, len(facts))
                for event in unpack(name, at, facts, str(number), begin):
                    yield event
            if not batches:
                await news.wait()
                continue
            position = LogPosition(position.number + 1, 0)


@contextmanager
def _awaiting(shared: SharedState, task_id: UUID | str) -> Iterator[Bell]:
    bell = Bell()
    with shared.lock:
        task = shared.find(task_id).hex
        shared.awaited[task].append(bell)
    try:
        yield bell
    finally:
        with shared.lock:
            shared.awaited[task].remove(bell)
            if not shared.awaited[task]:
                del shared.awaited[task]

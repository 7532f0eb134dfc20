"""One suite for every queue: each test runs in memory, on SQLite and on PostgreSQL, and moves time by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.runtime.events import TaskEvent
from kurabito.runtime.model import MAX_LOST_LEASES, TaskRecord
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Success
from kurabito.runtime.port import Queue
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import PreparedTask, prepare
from kurabito.wakeup import Bell

T = TypeVar("T")


class Hands:
    """A worker's hands: they claim and settle, and run nothing."""

    def __init__(self, queue: Queue, clock: ManualClock) -> None:
        self.queue = queue
        self.clock = clock

    async def claim(
        self, *task_types: str, limit: int = 100, worker: str = "worker", lease: float = 30.0
    ) -> list[Claim]:
        """Claim tasks of these types ("work" if none is named), without a limit by type."""
        capacity = dict.fromkeys(task_types or ("work",), 1_000_000)
        return (await self.queue.work.claim(worker, capacity, limit, lease=lease)).tasks

    async def claim_one(self, task_type: str = "work", *, worker: str = "worker", lease: float = 30.0) -> Claim:
        """Claim the task that is first; there must be one."""
        (claim,) = await self.claim(task_type, limit=1, worker=worker, lease=lease)
        return claim

    async def become_suspects(self, task_type: str) -> None:
        """Let the tasks of a type lose two workers: with the next they are dead."""
        for _ in range(MAX_LOST_LEASES - 1):
            lost = await self.claim(task_type, worker="lost")
            assert await self.queue.work.expire_worker("lost") == len(lost)
            assert await self.queue.work.recover() == len(lost)

    async def settle(self, claim: Claim, outcome: Outcome | None = None) -> bool:
        """Settle one claim, with success if nothing else is said; false when it was lost."""
        lost = await self.queue.work.settle([(claim, Success() if outcome is None else outcome)])
        assert lost in ([], [claim])
        return not lost

    async def bring(self, state: TaskState, task_type: str = "work", **options: Any) -> TaskRecord:
        """A new task in this state; of its type no other may be queued."""
        if state is TaskState.RETRY_SCHEDULED:
            return await self.queue.enqueue(task_type, delay=60.0, **options)
        task = await self.queue.enqueue(task_type, **options)
        if state is TaskState.CANCELLED:
            await self.queue.cancel(task.id)
        elif state is not TaskState.QUEUED:
            claim = await self.claim_one(task_type)
            assert claim.id == task.id
            if state is not TaskState.RUNNING:
                outcome = Success() if state is TaskState.SUCCEEDED else Failure("broken", permanent=True)
                assert await self.settle(claim, outcome)
        record = await self.queue.get(task.id)
        assert record.state is state
        return record

    async def order(self, *task_types: str) -> list[Any]:
        """The payloads of everything that is queued, in the order in which it is claimed one by one."""
        seen = []
        while claims := await self.claim(*task_types, limit=1):
            seen.append((await self.queue.get(claims[0].id)).payload_as(Any))
        return seen

    async def rows(self, **filters: Any) -> list[TaskRecord]:
        """Every task, page by page."""
        found: list[TaskRecord] = []
        cursor = None
        while True:
            page = await self.queue.list(limit=100, cursor=cursor, **filters)
            found += page
            if (cursor := page.next_cursor) is None:
                return found

    async def hear(self, stream: AsyncIterator[TaskEvent], count: int) -> list[TaskEvent]:
        """The next events of a stream."""
        async with asyncio.timeout(PATIENCE):
            return [await anext(stream) for _ in range(count)]

    async def hear_all(self, stream: AsyncIterator[TaskEvent]) -> list[TaskEvent]:
        """What the stream tells up to now."""
        last = await self.queue.enqueue("the last word")
        heard: list[TaskEvent] = []
        async with asyncio.timeout(PATIENCE):
            async for event in stream:
                if event.task_id == last.id:
                    break
                heard.append(event)
        return heard

    def prepared(self, task_type: str = "work", payload: Any = None, **options: Any) -> PreparedTask:
        return prepare(task_type, payload, **options)

    async def soon(self, rung: asyncio.Event) -> None:
        """Wait for a bell that must ring."""
        async with asyncio.timeout(PATIENCE):
            await rung.wait()

    @contextmanager
    def listening(self, bell: Bell) -> Iterator[asyncio.Event]:
        """An event that is set when the bell rings."""
        rung = asyncio.Event()
        with bell.listen(rung.set):
            yield rung


class Ground:
    """A queue for tests that are no coroutines: one database for many examples, each on cleared ground."""

    def __init__(self, url: str, clock: ManualClock) -> None:
        self.url = url
        self.clock = clock
        self._runner = asyncio.Runner()
        self._opened: AbstractAsyncContextManager[Queue] | None = None
        self.clear()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def clear(self) -> None:
        """Leave nothing of the example before."""
        if self._opened is None or self.url == "memory://":
            from kurabito.runtime import open_queue

            self._opened = open_queue(self.url, clock=self.clock)
            self.queue = self.run(self._opened.__aenter__())
            self.hands = Hands(self.queue, self.clock)
        else:
            self.run(self.queue.transact(_clear_tables))

    def close(self) -> None:
        if self._opened is not None:
            self.run(self._opened.__aexit__(None, None, None))
        self._runner.close()


def _clear_tables(conn: Any) -> None:
    for table in ("tasks", "task_events", "task_workers", "task_schedules"):
        conn.execute(f"DELETE FROM {table}")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def queue_url(request: pytest.FixtureRequest) -> str:
    return "memory://" if request.param == "memory" else str(request.getfixturevalue(f"migrated_{request.param}"))


@pytest.fixture
def ground(queue_url: str, clock: ManualClock) -> Iterator[Ground]:
    ground = Ground(queue_url, clock)
    yield ground
    ground.close()


@pytest.fixture
async def queue(queue_url: str, clock: ManualClock) -> AsyncIterator[Queue]:
    from kurabito.runtime import open_queue

    async with open_queue(queue_url, clock=clock) as opened:
        yield opened


@pytest.fixture
def hands(queue: Queue, clock: ManualClock) -> Hands:
    return Hands(queue, clock)

"""What only the queue in memory promises: it forgets in good time, and threads may share it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from kurabito.clock import SECOND, ManualClock
from kurabito.errors import InvalidInput
from kurabito.runtime.memory import MemoryQueue
from kurabito.runtime.memory.event_log import KEPT_FACTS, KEPT_FOR, EventLog
from kurabito.runtime.memory.ready_heap import ReadyTasks
from kurabito.runtime.memory.rows import QUEUED, RUNNING, TaskRow
from kurabito.runtime.model import NewTask
from kurabito.runtime.outcomes import Success
from kurabito.runtime.port import Beat, Queue
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks.intake import prepare


def test_it_is_a_queue() -> None:
    queue: Queue = MemoryQueue()
    assert queue.max_payload > 0


async def test_cancelled_tasks_that_nobody_claims_do_not_pile_up() -> None:
    queue = MemoryQueue()
    for delay in (None, 60.0):
        for _ in range(2000):
            task = await queue.enqueue("nobody runs this", delay=delay)
            await queue.cancel(task.id)
    await queue.purge(older_than=0)
    table = queue._table
    assert len(table.ready["nobody runs this"]) + len(table.scheduled) < 500
    assert not table.records
    assert not table.newest_last
    assert not table.active_keys


async def test_a_task_that_is_cancelled_and_retried_again_and_again_is_claimed_once() -> None:
    queue = MemoryQueue()
    task = await queue.enqueue("work")
    for _ in range(300):
        await queue.cancel(task.id)
        await queue.retry(task.id)
    assert len((await queue.work.claim("worker", {"work": 10}, 10)).tasks) == 1
    assert len(queue._table.ready["work"]) < 200


async def test_a_raised_task_is_found_by_its_new_place_also_in_a_batch() -> None:
    queue = MemoryQueue()
    await queue.enqueue_many(
        [NewTask("work", unique_key="a"), NewTask("work"), NewTask("work", unique_key="a", priority=1)]
    )
    claims = (await queue.work.claim("worker", {"work": 10}, 10)).tasks
    assert [claim.key for claim in claims] == [1, 2]


def test_old_events_are_forgotten_by_number_and_by_age() -> None:
    log = EventLog()
    for _ in range(10):
        log.add("Enqueued", 0, [("id", "work")] * (KEPT_FACTS // 5))
    assert sum(len(batch.facts) for batch in log.since(log.after("0.0"))) == KEPT_FACTS
    log.add("Enqueued", KEPT_FOR + SECOND, [("id", "work")])
    assert [batch.at for batch in log.since(log.after("0.0"))] == [KEPT_FOR + SECOND]


async def test_a_cursor_of_another_life_of_the_process_is_refused() -> None:
    queue = MemoryQueue()
    await queue.enqueue("work")
    with pytest.raises(InvalidInput) as refused:
        queue.events(after="999.1")
    assert refused.value.field == "after"


async def test_only_a_connection_of_a_running_transaction_is_taken() -> None:
    queue = MemoryQueue()
    kept: list[Any] = []
    await queue.transact(kept.append)
    for conn in (None, kept[0]):
        with pytest.raises(InvalidInput) as refused:
            queue.enqueue_in(conn, "work")
        assert refused.value.field == "conn"


async def test_nobody_waits_for_a_wait_that_was_given_up() -> None:
    queue = MemoryQueue(clock=ManualClock())
    task = await queue.enqueue("work")
    waiter = asyncio.create_task(queue.wait(task.id))
    await asyncio.sleep(0)
    assert queue._shared.awaited
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    assert not queue._shared.awaited


async def test_a_long_list_is_read_past_the_rows_that_do_not_fit() -> None:
    queue = MemoryQueue()
    (first,) = await queue.enqueue_many([("rare",)])
    await queue.enqueue_many([("usual", place) for place in range(5000)])
    assert [task.id for task in await queue.list(task_type="rare")] == [first.id]


def test_threads_may_share_it() -> None:
    queue = MemoryQueue()
    tasks = 400

    async def work(name: str) -> int:
        done = 0
        for _ in range(tasks):
            await queue.enqueue("work")
            claims = (await queue.work.claim(name, {"work": 3}, 3)).tasks
            assert queue.work.heartbeat([Beat(claim) for claim in claims]) == []
            assert await queue.work.settle([(claim, Success()) for claim in claims]) == []
            done += len(claims)
        return done

    done: list[int] = []
    threads = [threading.Thread(target=lambda name=name: done.append(asyncio.run(work(name)))) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = asyncio.run(queue.counts_by_state())
    assert sum(done) == counts[TaskState.SUCCEEDED]
    assert sum(counts.values()) == 4 * tasks
    assert counts[TaskState.RUNNING] == 0


def test_a_task_that_comes_back_goes_before_those_that_came_after_it() -> None:
    """Also when its line has been left by all others, and when several come back in any order."""
    records: dict[str, TaskRow] = {}
    ready = ReadyTasks(records)
    for key in range(1, 7):
        row = TaskRow(key, prepare("work", None, 100, f"{key:032x}"), 0)
        records[row.hex] = row
        ready.push(0, row)
    gone = [_leave(ready, records) for _ in range(4)]
    for row in (gone[2], gone[0], gone[3]):
        row.state = QUEUED
        ready.push(0, row)
    assert [_leave(ready, records).key for _ in range(5)] == [1, 3, 4, 5, 6]
    assert ready.head() is None
    assert len(ready) == 0


def _leave(ready: ReadyTasks, records: dict[str, TaskRow]) -> TaskRow:
    entry = ready.head()
    assert entry is not None
    ready.pop()
    row = records[entry[2]]
    row.state = RUNNING
    return row

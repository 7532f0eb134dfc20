"""What is true of the scan queue, whatever is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kurabito.library.scans.queue import TaskPriority, TaskStatus
from kurabito.runtime.errors import TaskFinished

if TYPE_CHECKING:
    from tests.conformance.scan_queue.conftest import Desk, Ground

Scenario = Callable[["Desk", Any], Coroutine[Any, Any, None]]

libraries = st.integers(1, 2**40)
priorities = st.sampled_from(TaskPriority)
requests = st.lists(st.tuples(st.integers(1, 6), priorities), min_size=1, max_size=12)


def holds(ground: Ground, given_: st.SearchStrategy[Any], scenario: Scenario) -> None:
    """Play the scenario with a hundred examples, each on cleared ground; fewer where each takes several times as long."""

    @settings(
        max_examples=100 if ground.is_quick else 30,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(example=given_)
    def play(example: Any) -> None:
        ground.clear()
        ground.run(scenario(ground.desk, example))

    play()


async def submit_all(desk: Desk, asked: list[tuple[int, TaskPriority]]) -> dict[int, UUID]:
    found: dict[int, UUID] = {}
    for library, priority in asked:
        desk.clock.advance(1)
        found[library] = await desk.scans.submit_task(library, priority)
    return found


def test_what_is_submitted_waits_once(ground: Ground) -> None:
    async def scenario(desk: Desk, asked: tuple[int, TaskPriority]) -> None:
        library, priority = asked
        task_id = await desk.scans.submit_task(library, priority)
        task = await desk.task(task_id)
        assert (task.id, task.library_id, task.priority, task.status) == (
            task_id,
            library,
            priority,
            TaskStatus.PENDING,
        )
        assert (task.started_at, task.completed_at, task.progress, task.result, task.error) == (None,) * 5
        assert [waiting.id for waiting in await desk.scans.list_pending()] == [task_id]

    holds(ground, st.tuples(libraries, priorities), scenario)


def test_high_goes_before_normal_and_earlier_before_later(ground: Ground) -> None:
    async def scenario(desk: Desk, asked: list[TaskPriority]) -> None:
        ids = await submit_all(desk, list(enumerate(asked, 1)))
        expected = sorted(ids, key=lambda library: (-asked[library - 1], library))
        assert [task.library_id for task in await desk.scans.list_pending()] == expected
        done = []
        for _ in ids:
            await desk.settle()
            done.append(await desk.plane.work())
        assert done == expected

    holds(ground, st.lists(priorities, min_size=1, max_size=6), scenario)


def test_a_task_tells_its_present_status(ground: Ground) -> None:
    endings = {
        "completed": TaskStatus.COMPLETED,
        "failed": TaskStatus.FAILED,
        "cancelled": TaskStatus.CANCELLED,
        None: TaskStatus.RUNNING,
    }

    async def scenario(desk: Desk, asked: tuple[int, TaskPriority, str | None]) -> None:
        library, priority, ending = asked
        task_id = await desk.scans.submit_task(library, priority)
        await desk.settle()
        assert (await desk.task(task_id)).status is TaskStatus.RUNNING
        if ending is not None:
            await desk.plane.work(ending, "FILE_UNREADABLE" if ending == "failed" else None)
            await desk.settle()
        task = await desk.task(task_id)
        assert task.status is endings[ending]
        assert (task.completed_at is not None) is (ending is not None)
        assert (task.result is not None) is (ending == "completed")
        assert (task.error is not None) is (ending == "failed")

    holds(ground, st.tuples(libraries, priorities, st.sampled_from(list(endings))), scenario)


def test_history_has_every_task_of_the_last_day(ground: Ground) -> None:
    async def scenario(desk: Desk, ages: list[tuple[int, bool]]) -> None:
        """Each of the tasks was made so many hours ago, and cancelled at once or never."""
        expected: list[UUID] = []
        now = 0
        for library, (hours, cancelled) in enumerate(sorted(ages, reverse=True), 1):
            desk.clock.advance((48 - hours - now) * 3600)
            now = 48 - hours
            task_id = await desk.scans.submit_task(library, TaskPriority.NORMAL)
            if cancelled:
                await desk.scans.cancel_task(task_id)
            if hours < 24:
                expected.insert(0, task_id)
        desk.clock.advance((48 - now) * 3600)
        assert [task.id for task in await desk.scans.list_history(100)] == expected
        assert [task.id for task in await desk.scans.list_history(2)] == expected[:2]
        kept = await desk.rows("SELECT count(*) FROM tasks")
        assert kept == [(sum(1 for hours, cancelled in ages if hours < 24 or not cancelled),)]

    holds(ground, st.lists(st.tuples(st.integers(0, 48), st.booleans()), max_size=6), scenario)


def test_a_waiting_task_that_is_cancelled_leaves_the_queue(ground: Ground) -> None:
    async def scenario(desk: Desk, asked: list[tuple[int, TaskPriority]]) -> None:
        ids = await submit_all(desk, asked)
        victim = ids[asked[0][0]]
        assert (await desk.scans.cancel_task(victim)).status is TaskStatus.CANCELLED
        assert (await desk.task(victim)).status is TaskStatus.CANCELLED
        assert victim not in {task.id for task in await desk.scans.list_pending()}
        await desk.settle()
        assert (await desk.task(victim)).status is TaskStatus.CANCELLED

    holds(ground, requests, scenario)


def test_what_is_over_cannot_be_cancelled(ground: Ground) -> None:
    async def scenario(desk: Desk, asked: tuple[int, TaskPriority, str]) -> None:
        library, priority, ending = asked
        task_id = await desk.scans.submit_task(library, priority)
        await desk.settle()
        await desk.plane.work(ending, "FILE_UNREADABLE" if ending == "failed" else None)
        await desk.settle()
        before = await desk.task(task_id)
        with pytest.raises(TaskFinished):
            await desk.scans.cancel_task(task_id)
        assert await desk.task(task_id) == before

    holds(ground, st.tuples(libraries, priorities, st.sampled_from(["completed", "failed", "cancelled"])), scenario)


def test_a_library_has_one_task_that_waits_or_runs(ground: Ground) -> None:
    async def scenario(desk: Desk, asked: tuple[list[tuple[int, TaskPriority]], bool]) -> None:
        wishes, begun = asked
        first = await submit_all(desk, wishes)
        if begun:
            await desk.settle()
        again = await asyncio.gather(*(desk.scans.submit_task(library, priority) for library, priority in wishes))
        assert list(again) == [first[library] for library, _ in wishes]
        assert await desk.rows("SELECT count(*) FROM tasks") == [(len(first),)]
        for library, task_id in first.items():
            current = await desk.scans.get_library_task(library)
            assert current is not None
            assert current.id == task_id

    holds(ground, st.tuples(requests, st.booleans()), scenario)


def test_a_high_request_raises_a_normal_one_that_waits_and_nothing_lowers_it(ground: Ground) -> None:
    async def scenario(desk: Desk, asked: list[tuple[int, TaskPriority]]) -> None:
        ids = await submit_all(desk, asked)
        made = {task.id: task.created_at for task in await desk.scans.list_pending()}
        for library, task_id in ids.items():
            task = await desk.task(task_id)
            assert task.priority == max(priority for wanted, priority in asked if wanted == library)
            assert task.created_at == made[task_id]
        await desk.settle()
        (running,) = await desk.scans.list_running()
        assert await desk.scans.submit_task(running.library_id, TaskPriority.HIGH) == running.id
        assert await desk.task(running.id) == running

    holds(ground, requests, scenario)

"""What must hold for any scans that are asked for: a task per library, manual ones first, all of it observable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kurabito.clock import SECOND
from kurabito.runtime.errors import TaskFinished, TaskNotFound
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import Failure, Success
from kurabito.runtime.states import Priority, TaskState

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Ground

Scenario = Callable[..., Coroutine[Any, Any, None]]

DAY = 86_400.0

libraries = st.integers(min_value=0, max_value=2**63 - 1)
few_libraries = st.integers(min_value=1, max_value=4)
priorities = st.sampled_from(Priority)
requests = st.lists(st.tuples(few_libraries, priorities), min_size=1, max_size=12)
endings = st.sampled_from(["completed", "failed", "cancelled", "running", "pending"])


def for_any(**examples: st.SearchStrategy[Any]) -> Callable[[Scenario], Callable[[Ground], None]]:
    """Play a scenario with a hundred examples, each on cleared ground; fewer where each takes several times as long."""

    def decorate(scenario: Scenario) -> Callable[[Ground], None]:
        def test(ground: Ground) -> None:
            @settings(
                max_examples=30 if ground.url.startswith("postgresql") else 100,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(**examples)
            def play(**example: Any) -> None:
                ground.clear()
                ground.run(scenario(ground, **example))

            play()

        return test

    return decorate


async def submit(ground: Ground, library: int, priority: Priority) -> TaskRecord:
    return await ground.queue.enqueue(
        "scan", {"library": library}, unique_key=f"scan:{library}", priority=priority, max_attempts=1
    )


async def bring_to(ground: Ground, task: TaskRecord, ending: str) -> TaskState:
    """Move the only queued task on, and say which state it must have now."""
    if ending == "cancelled":
        await ground.queue.cancel(task.id)
        return TaskState.CANCELLED
    if ending == "pending":
        return TaskState.QUEUED
    claim = await ground.hands.claim_one("scan")
    assert claim.id == task.id
    if ending == "running":
        return TaskState.RUNNING
    await ground.hands.settle(claim, Success() if ending == "completed" else Failure("unreadable"))
    return TaskState.SUCCEEDED if ending == "completed" else TaskState.DEAD


@for_any(asked=st.lists(st.tuples(libraries, priorities), min_size=1, max_size=12))
async def test_a_submitted_scan_waits_in_the_queue_exactly_once(
    ground: Ground, asked: list[tuple[int, Priority]]
) -> None:
    tasks = await asyncio.gather(*(submit(ground, library, priority) for library, priority in asked))
    for (library, _), task in zip(asked, tasks, strict=True):
        stored = await ground.queue.get(task.id)
        assert stored.state is TaskState.QUEUED
        assert stored.payload_as(dict[str, int]) == {"library": library}
    waiting = [claim.id for claim in await ground.hands.claim("scan")]
    assert sorted(waiting) == sorted({task.id for task in tasks})
    assert len(waiting) == len({library for library, _ in asked})


@for_any(asked=st.lists(st.tuples(priorities, st.integers(0, 3)), min_size=1, max_size=12))
async def test_scans_leave_the_queue_by_priority_and_then_by_age(
    ground: Ground, asked: list[tuple[Priority, int]]
) -> None:
    tasks = []
    for library, (priority, pause) in enumerate(asked):
        tasks.append(await submit(ground, library, priority))
        ground.clock.advance(pause)
    expected = [task.id for task in sorted(tasks, key=lambda task: -task.priority)]
    left = []
    while claims := await ground.hands.claim("scan", limit=2):
        left += [claim.id for claim in claims]
    assert left == expected


@for_any(asked=st.lists(st.tuples(priorities, endings), min_size=1, max_size=8))
async def test_a_scan_that_is_looked_up_has_its_present_state(
    ground: Ground, asked: list[tuple[Priority, str]]
) -> None:
    expected: dict[UUID, TaskState] = {}
    # Those that stay pending come last, so that each of the others is alone in the queue when it is moved.
    for library, (priority, ending) in enumerate(sorted(asked, key=lambda one: one[1] == "pending")):
        task = await submit(ground, library, priority)
        expected[task.id] = await bring_to(ground, task, ending)
    for task_id, state in expected.items():
        assert (await ground.queue.get(task_id)).state is state


@for_any(asked=st.lists(st.tuples(endings, st.floats(0, DAY)), min_size=1, max_size=8))
async def test_the_history_keeps_every_scan_of_the_last_day_and_all_that_are_active(
    ground: Ground, asked: list[tuple[str, float]]
) -> None:
    made = []
    for library, (ending, pause) in enumerate(sorted(asked, key=lambda one: one[0] == "pending")):
        task = await submit(ground, library, Priority.NORMAL)
        state = await bring_to(ground, task, ending)
        made.append((task, state, ground.clock.now()))
        ground.clock.advance(pause)
    oldest = ground.clock.now() - round(DAY * SECOND)
    active = (TaskState.QUEUED, TaskState.RUNNING)
    kept = [task.id for task, state, finished in made if state in active or finished > oldest]
    await ground.queue.purge(older_than=DAY)
    assert [record.id for record in await ground.hands.rows()] == kept[::-1]


@for_any(asked=st.lists(st.tuples(priorities, st.booleans()), min_size=1, max_size=10))
async def test_a_cancelled_scan_leaves_the_queue(ground: Ground, asked: list[tuple[Priority, bool]]) -> None:
    tasks = [await submit(ground, library, priority) for library, (priority, _) in enumerate(asked)]
    cancelled = [task.id for task, (_, cancel) in zip(tasks, asked, strict=True) if cancel]
    for task_id in cancelled:
        await ground.queue.cancel(task_id)
    claimed = {claim.id for claim in await ground.hands.claim("scan")}
    assert claimed == {task.id for task in tasks} - set(cancelled)
    for task_id in cancelled:
        assert (await ground.queue.get(task_id)).state is TaskState.CANCELLED


@for_any(priority=priorities, ending=st.sampled_from(["completed", "failed", "cancelled"]), unknown=st.uuids())
async def test_a_scan_that_is_over_cannot_be_cancelled(
    ground: Ground, priority: Priority, ending: str, unknown: UUID
) -> None:
    task = await submit(ground, 1, priority)
    await bring_to(ground, task, ending)
    before = await ground.queue.get(task.id)
    with pytest.raises(TaskFinished):
        await ground.queue.cancel(task.id)
    with pytest.raises(TaskNotFound):
        await ground.queue.cancel(unknown)
    assert await ground.queue.get(task.id) == before


@for_any(asked=requests, running=st.booleans())
async def test_a_library_with_an_active_scan_gets_no_second_one(
    ground: Ground, asked: list[tuple[int, Priority]], running: bool
) -> None:
    first: dict[int, UUID] = {}
    for library, priority in asked:
        task = await submit(ground, library, priority)
        assert first.setdefault(library, task.id) == task.id
    if running:
        assert len(await ground.hands.claim("scan")) == len(first)
    again = await asyncio.gather(*(submit(ground, library, priority) for library, priority in asked))
    assert [task.id for task in again] == [first[library] for library, _ in asked]
    assert len(await ground.hands.rows()) == len(first)


@for_any(asked=requests)
async def test_a_waiting_scan_has_the_highest_priority_that_was_asked_for(
    ground: Ground, asked: list[tuple[int, Priority]]
) -> None:
    highest: dict[int, Priority] = {}
    made: dict[int, TaskRecord] = {}
    for library, priority in asked:
        highest[library] = max(priority, highest.get(library, priority))
        task = await submit(ground, library, priority)
        assert task.priority == highest[library]
        made.setdefault(library, task)
        assert (task.id, task.created_at) == (made[library].id, made[library].created_at)
        ground.clock.advance(1)
    order = sorted(made, key=lambda library: -highest[library])
    assert [claim.id for claim in await ground.hands.claim("scan")] == [made[library].id for library in order]
    for library, task in made.items():
        again = await submit(ground, library, Priority.HIGH)
        assert (again.id, again.priority) == (task.id, highest[library])

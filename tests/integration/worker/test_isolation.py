"""What an isolated handler leaves behind in its process is not for the next task, nor for the worker."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue, Registry, TaskState, Worker, open_queue

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    # By its name, as a process of its own imports it.
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    found = importlib.import_module("isolated_handlers").registry
    assert isinstance(found, Registry)
    return found


@pytest.fixture
def url() -> str:
    # The processes are the same whatever keeps the tasks.
    return "memory://"


async def test_a_thread_that_was_left_behind_does_not_speak_for_the_next_task(queue: Queue, registry: Registry) -> None:
    async with Worker(queue, registry, concurrency=1):
        first = await queue.enqueue("goes on reporting")
        second = await queue.enqueue("says nothing")
        assert (await queue.wait(first.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED
        done = await queue.wait(second.id, timeout=PATIENCE)
    assert (done.state, done.progress) == (TaskState.SUCCEEDED, None)


async def test_a_process_that_does_not_read_does_not_hold_up_the_worker(
    registry: Registry, eventually: Eventually
) -> None:
    async with open_queue("memory://") as queue, Worker(queue, registry, concurrency=1):
        first = await queue.enqueue("stops its process")
        stat = Path(f"/proc/{(await queue.wait(first.id, timeout=PATIENCE)).result}/stat")
        await eventually(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")
        # More than fits into a pipe.
        second = await queue.enqueue("measures", "x" * 1_000_000)
        done = await queue.wait(second.id, timeout=PATIENCE)
        assert done.last_error == "TimeoutError: ran longer than its time limit of 0.5 s"
        third = await queue.enqueue("says nothing")
        assert (await queue.wait(third.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED


async def test_the_tools_of_a_process_that_died_are_ended(
    queue: Queue, registry: Registry, tmp_path: Path, eventually: Eventually
) -> None:
    file = tmp_path / "pid"
    async with Worker(queue, registry):
        task = await queue.enqueue("starts a tool and exits", str(file))
        assert (await queue.wait(task.id, timeout=PATIENCE)).state is TaskState.DEAD
        stat = Path(f"/proc/{file.read_text()}/stat")
        await eventually(lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z")


async def test_a_task_does_not_fail_because_what_starts_processes_was_killed(queue: Queue, registry: Registry) -> None:
    async with Worker(queue, registry, concurrency=1):
        first = await queue.enqueue("kills what starts it")
        second = await queue.enqueue("says nothing", max_attempts=1)
        assert (await queue.wait(first.id, timeout=PATIENCE)).state is TaskState.DEAD
        assert (await queue.wait(second.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED

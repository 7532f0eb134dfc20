"""What a worker's life looks like in the log."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import Fixed, Queue, Registry, TaskState, Worker


def told(caplog: pytest.LogCaptureFixture, task_id: object) -> list[tuple[str, int, dict[str, Any]]]:
    """Name, level and values of each line about a task."""
    lines = []
    for record in caplog.records:
        values = record.msg if isinstance(record.msg, dict) else {}
        if record.name == "kurabito.runtime" and values.get("task_id") == str(task_id):
            own = {name: value for name, value in values.items() if name not in ("event", "task_id", "task_type")}
            lines.append((values["event"], record.levelno, own))
    return lines


async def test_the_life_of_a_task_is_told_with_its_values(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "kurabito.runtime")
    registry = Registry()

    @registry.task("fails", max_attempts=2, retry=Fixed(0.01))
    async def fails() -> None:
        raise ValueError("no")

    @registry.task("works")
    async def works() -> None:
        """Ends at once."""

    failing, working = await queue.enqueue("fails"), await queue.enqueue("works")
    async with Worker(queue, registry):
        assert (await queue.wait(failing.id, timeout=PATIENCE)).state is TaskState.DEAD
        await queue.wait(working.id, timeout=PATIENCE)
    lines = [line for line in told(caplog, failing.id) if line[0] != "handler_raised"]
    scheduled = next(values for name, _, values in lines if name == "RetryScheduled")
    assert scheduled.keys() == {"next_run_at", "backoff"}
    assert scheduled["backoff"] == pytest.approx(0.01)
    assert lines == [
        ("Enqueued", logging.DEBUG, {}),
        ("Started", logging.DEBUG, {"attempt": 1}),
        ("Failed", logging.WARNING, {"attempt": 1, "error": "ValueError: no"}),
        ("RetryScheduled", logging.INFO, scheduled),
        ("Started", logging.DEBUG, {"attempt": 2}),
        ("Failed", logging.WARNING, {"attempt": 2, "error": "ValueError: no"}),
        ("Dead", logging.WARNING, {"attempts": 2, "last_error": "ValueError: no"}),
    ]
    assert told(caplog, working.id) == [
        ("Enqueued", logging.DEBUG, {}),
        ("Started", logging.DEBUG, {"attempt": 1}),
        ("Succeeded", logging.DEBUG, {"attempt": 1}),
    ]


async def test_a_cancelled_task_is_told_of(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kurabito.runtime")
    task = await queue.enqueue("later")
    await queue.cancel(task.id)
    assert told(caplog, task.id) == [("Cancelled", logging.INFO, {})]


async def test_what_goes_well_is_silent_at_the_usual_level(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kurabito")
    registry = Registry()

    @registry.task
    async def works() -> None:
        """Ends at once."""

    async with Worker(queue, registry):
        await queue.wait((await queue.enqueue("works")).id, timeout=PATIENCE)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("kurabito")] == []

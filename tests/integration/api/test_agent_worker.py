"""The example of an external worker, run as its readers run it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import Registry, TaskRecord, TaskState, Worker

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site
    from tests.support.waiting import Eventually

EXAMPLE = Path(__file__).parents[3] / "examples" / "agent_worker.py"
KEY = "a key for the tests"
STEPS = 8


@pytest.fixture
async def site(url: str, serve: Callable[..., AbstractAsyncContextManager[Site]]) -> AsyncIterator[Site]:
    """A server with short leases, and a worker that sees to those that run out, as every `serve` has one."""
    async with serve(url, lease=2.0) as site, Worker(site.queue, Registry(), lease=2.0, heartbeat=0.2):
        yield site


@contextmanager
def agent(site: Site, folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE), "--url", site.url, *arguments],
        cwd=folder,
        env={**os.environ, "KURABITO_API_KEY": KEY},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


async def test_the_agent_is_killed_and_another_goes_on_where_it_was(
    site: Site, tmp_path: Path, eventually: Eventually
) -> None:
    async def reached(step: int) -> TaskRecord | None:
        for task in await site.queue.list(state=TaskState.RUNNING):
            if task.progress is not None and task.progress.done >= step:
                return task
        return None

    ends: list[str] = []
    listening = asyncio.create_task(_note_ends(site, ends))
    asking = ["ask", "Why is the sea salty?", "--steps", str(STEPS), "--seconds", "0.2"]
    with agent(site, tmp_path, *asking) as question:
        with agent(site, tmp_path, "work") as first:
            await eventually(lambda: reached(3))
            first.send_signal(signal.SIGKILL)
            said = (await asyncio.to_thread(first.communicate))[0].splitlines()
            assert [line.rsplit(" ", 1)[1] for line in said] == ["1"]
        with agent(site, tmp_path, "work") as second:
            answer = (await asyncio.to_thread(question.communicate, timeout=PATIENCE))[0].splitlines()
            assert second.stdout is not None
            began = await asyncio.to_thread(second.stdout.readline)
    assert int(began.rsplit(" ", 1)[1]) >= 4
    assert answer[1] == "succeeded, workers lost on the way: 1"
    assert [line.split(":")[0] for line in answer[2:]] == [
        f"Why is the sea salty? part {n}" for n in range(1, STEPS + 1)
    ]
    (task,) = await site.queue.list()
    assert (task.state, task.attempts, task.lost_leases) == (TaskState.SUCCEEDED, 1, 1)
    await eventually(lambda: ends)
    listening.cancel()
    assert ends == ["Succeeded"]


async def test_the_agent_stops_its_tool_when_the_task_is_cancelled(
    site: Site, tmp_path: Path, eventually: Eventually
) -> None:
    asking = ["ask", "What is the point?", "--steps", "2", "--seconds", "60"]
    with agent(site, tmp_path, "work") as worker, agent(site, tmp_path, *asking) as question:
        assert worker.stdout is not None
        await asyncio.to_thread(worker.stdout.readline)
        (task,) = await site.queue.list()
        await site.queue.cancel(task.id)
        # Long before the tool would have ended by itself.
        assert "stopped: lease_lost" in await asyncio.to_thread(worker.stdout.readline)
        answer, _ = await asyncio.to_thread(question.communicate, timeout=PATIENCE)
    assert "cancelled" in answer


async def _note_ends(site: Site, ends: list[str]) -> None:
    async for event in site.queue.events():
        ends += [event.name] if event.name in ("Succeeded", "Failed", "Dead") else []

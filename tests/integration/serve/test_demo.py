"""`kurabito demo`, from the first line to the last."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue, TaskState, open_queue

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands


async def states(queue: Queue, task_type: str) -> list[TaskState]:
    return [task.state for task in (await queue.list(task_type=task_type)).items]


async def until_states(queue: Queue, task_type: str, *wanted: TaskState) -> None:
    async with asyncio.timeout(PATIENCE):
        while not set(wanted) <= set(await states(queue, task_type)):
            await asyncio.sleep(0.05)


async def test_the_demo_shows_every_kind_of_end_and_cleans_up(commands: Commands) -> None:
    with commands.started("demo", "--json") as (process, log):
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert httpx2.get(f"{told['url']}/health").status_code == 200
        assert told["login"].startswith(f"{told['url']}/login?token=")
        folder = Path(told["state"])
        async with open_queue(f"sqlite:///{folder / 'kurabito.db'}", create=False) as queue:
            await until_states(queue, "demo.greet", TaskState.SUCCEEDED, TaskState.RETRY_SCHEDULED)
            await until_states(queue, "demo.copy", TaskState.RUNNING)
            await until_states(queue, "demo.broken", TaskState.DEAD)
            await until_states(queue, "demo.hopeless", TaskState.DEAD)
            await until_states(queue, "demo.flaky", TaskState.SUCCEEDED)
            await until_states(queue, "demo.describe", TaskState.SUCCEEDED)
            async with asyncio.timeout(PATIENCE):
                while (await states(queue, "demo.thumbnail")).count(TaskState.SUCCEEDED) < 3:
                    await asyncio.sleep(0.05)
            (unattended,) = (await queue.list(task_type="demo.transcribe")).items
            assert unattended.no_worker
            copying = (await queue.list(task_type="demo.copy", state=TaskState.RUNNING)).items
            assert any(task.progress for task in copying)
        process.send_signal(signal.SIGINT)
        await asyncio.to_thread(process.wait, PATIENCE)
        assert process.returncode == 0, log.read_text()
        assert "Traceback" not in log.read_text()
    assert not folder.exists()
    assert not commands.state.exists()

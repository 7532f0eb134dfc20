"""The examples, run as their readers run them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue, TaskRecord, TaskState, open_queue

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT = [sys.executable, str(EXAMPLES / "agent.py"), "sqlite:///agent.db"]
LEASE = 30.0


def quickstart(folder: Path, *arguments: str) -> list[str]:
    command = [sys.executable, str(EXAMPLES / "quickstart.py"), *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=True
    ).stdout.splitlines()


def test_the_quickstart_greets_three_in_memory(tmp_path: Path) -> None:
    assert quickstart(tmp_path) == [
        "succeeded Hello, Ada!",
        "succeeded Hello, Grace!",
        "succeeded Hello, Edsger!",
        "{'succeeded': 3}",
    ]
    assert list(tmp_path.iterdir()) == []


def test_the_quickstart_finds_its_tasks_again_in_a_file(tmp_path: Path) -> None:
    assert quickstart(tmp_path, "sqlite:///tasks.db")[-1] == "{'succeeded': 3}"
    assert quickstart(tmp_path, "sqlite:///tasks.db")[-1] == "{'succeeded': 6}"


@contextmanager
def agent(folder: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "KURABITO_WORKER_NAME": name}
    with (folder / f"{name}.txt").open("ab") as out:
        process = subprocess.Popen([*AGENT, "work"], cwd=folder, stdout=out, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def question(folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [*AGENT, "ask", "tea", "--steps", "10", "--seconds", "0.3"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def reached(queue: Queue, step: int, *, lost: int = 0) -> TaskRecord:
    """The task, once it has reported this step and runs after losing so many workers.

    The row of a killed worker's task says that it runs until somebody takes it over, so the state alone proves nothing.
    """
    async with asyncio.timeout(PATIENCE):
        while True:
            for task in await queue.list(state=TaskState.RUNNING):
                if task.lost_leases == lost and task.progress is not None and task.progress.done >= step:
                    return task
            await asyncio.sleep(0.05)


def beginnings(folder: Path) -> list[int]:
    """The steps at which an execution began, in no certain order."""
    lines = [line for path in folder.glob("*.txt") for line in path.read_text().splitlines()]
    return sorted(int(line.split("step ")[1].split()[0]) for line in lines)


async def test_the_agent_goes_on_in_another_process_when_its_own_is_killed(tmp_path: Path) -> None:
    async with open_queue(f"sqlite:///{tmp_path / 'agent.db'}") as queue:
        with agent(tmp_path, "one") as one, agent(tmp_path, "two") as two, question(tmp_path) as asking:
            interrupted = await reached(queue, 3)
            victim = {"one": one, "two": two}[interrupted.worker or ""]
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            killed = time.monotonic()
            resumed = await reached(queue, 3, lost=1)
            # Long before the lease would have ended.
            assert time.monotonic() - killed < LEASE / 2
            assert resumed.worker != interrupted.worker
            out, _ = await asyncio.to_thread(asking.communicate, timeout=PATIENCE)
    assert "workers lost on the way: 1" in out
    assert [line.split(":")[0] for line in out.splitlines()[-10:]] == [f"tea, part {step}" for step in range(1, 11)]
    first, second = beginnings(tmp_path)
    assert (first, second >= 4) == (1, True)


async def test_the_agent_goes_on_when_its_only_process_is_started_again(tmp_path: Path) -> None:
    async with open_queue(f"sqlite:///{tmp_path / 'agent.db'}") as queue:
        with question(tmp_path) as asking:
            with agent(tmp_path, "one") as one:
                await reached(queue, 2)
                one.send_signal(signal.SIGKILL)
                one.wait()
            # Under another name, as a restarted process has one.
            with agent(tmp_path, "two"):
                out, _ = await asyncio.to_thread(asking.communicate, timeout=PATIENCE)
        (task,) = await queue.list()
    assert "succeeded" in out
    assert (task.state, task.attempts, task.lost_leases) == (TaskState.SUCCEEDED, 1, 1)
    first, second = beginnings(tmp_path)
    assert (first, second >= 3) == (1, True)


async def test_the_agent_goes_on_when_it_is_restarted_under_its_old_name(tmp_path: Path) -> None:
    async with open_queue(f"sqlite:///{tmp_path / 'agent.db'}") as queue:
        with question(tmp_path):
            with agent(tmp_path, "one") as one:
                await reached(queue, 2)
                one.send_signal(signal.SIGKILL)
                one.wait()
            killed = time.monotonic()
            with agent(tmp_path, "one"):
                await reached(queue, 2, lost=1)
                assert time.monotonic() - killed < LEASE / 2


async def test_an_agent_that_is_asked_to_stop_puts_its_task_back_uncounted(tmp_path: Path) -> None:
    async with open_queue(f"sqlite:///{tmp_path / 'agent.db'}") as queue:
        with question(tmp_path), agent(tmp_path, "one") as one:
            task = await reached(queue, 1)
            one.send_signal(signal.SIGINT)
            assert await asyncio.to_thread(one.wait, PATIENCE) == 0
            record = await queue.get(task.id)
    assert record.lost_leases == 0
    assert record.state in (TaskState.SUCCEEDED, TaskState.QUEUED)

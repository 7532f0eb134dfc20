"""`kurabito worker` with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.commands import KURABITO, Command, run
from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue, TaskState, open_queue

HANDLERS = """
import asyncio, os, time
from pathlib import Path
from kurabito.runtime import Registry, TaskContext

registry = Registry()
empty = Registry()
nothing = "no registry"

@registry.task
async def greet(to: str) -> str:
    return f"Hello, {to}!"

@registry.task
async def linger(folder: str) -> int:
    Path(folder, str(os.getpid())).touch()
    await asyncio.sleep(300)

@registry.task
async def finish(folder: str) -> str:
    Path(folder, str(os.getpid())).touch()
    while not Path(folder, "go").exists():
        await asyncio.sleep(0.02)
    return "finished"

@registry.task
def stuck(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    time.sleep(300)

@registry.task(time_limit=0.2, max_attempts=1)
def deaf(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    time.sleep(300)

@registry.task(time_limit=0.2, max_attempts=1)
async def selfish(folder: str) -> None:
    Path(folder, str(os.getpid())).touch()
    time.sleep(300)

@registry.task
def environment() -> list[str]:
    return sorted(name for name in os.environ if name in ("KURABITO_WORKER_NAME", "KURABITO_PARENT_PID"))
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "handlers.py").write_text(HANDLERS)
    (tmp_path / "broken.py").write_text("import no_such_dependency\n")
    (tmp_path / "seen").mkdir()
    return tmp_path


@contextmanager
def worker(
    folder: Path, *options: str, start: type[subprocess.Popen[bytes]] = Command
) -> Iterator[subprocess.Popen[bytes]]:
    command = [*KURABITO, "worker", "handlers:registry", "--queue", "sqlite:///tasks.db", *options]
    process = start(command, cwd=folder)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.02)


def seen(folder: Path) -> list[int]:
    return [int(path.name) for path in (folder / "seen").iterdir() if path.name.isdigit()]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.fixture
async def queue(shop: Path) -> AsyncIterator[Queue]:
    async with open_queue(f"sqlite:///{shop / 'tasks.db'}") as queue:
        yield queue


async def test_a_worker_runs_tasks_and_stops_in_good_order(shop: Path, queue: Queue) -> None:
    with worker(shop, start=subprocess.Popen) as process:
        task = await queue.enqueue("greet", "Ada")
        assert (await queue.wait(task.id, timeout=PATIENCE)).result == "Hello, Ada!"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, PATIENCE) == 0
    assert await queue.workers() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_running_task_may_end_before_the_worker_does(shop: Path, queue: Queue, number: signal.Signals) -> None:
    with worker(shop) as process:
        task = await queue.enqueue("finish", str(shop / "seen"))
        await until(lambda: bool(seen(shop)))
        process.send_signal(number)
        with pytest.raises(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, 0.3)
        (shop / "seen" / "go").touch()
        assert await asyncio.to_thread(process.wait, PATIENCE) == 0
    record = await queue.get(task.id)
    assert (record.state, record.result, record.attempts) == (TaskState.SUCCEEDED, "finished", 1)


@pytest.mark.parametrize("kind", ["linger", "stuck"])
async def test_a_task_that_does_not_end_in_time_is_put_back(shop: Path, queue: Queue, kind: str) -> None:
    with worker(shop, "--grace", "0.2") as process:
        task = await queue.enqueue(kind, str(shop / "seen"))
        await until(lambda: bool(seen(shop)))
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, PATIENCE) == 0
    record = await queue.get(task.id)
    assert (record.state, record.attempts, record.lost_leases) == (TaskState.QUEUED, 0, 0)


async def test_a_second_signal_does_not_wait(shop: Path, queue: Queue) -> None:
    with worker(shop, "--grace", "300") as process:
        await queue.enqueue("linger", str(shop / "seen"))
        await until(lambda: bool(seen(shop)))
        process.send_signal(signal.SIGINT)
        # Time for the process to end at the first signal: that it goes on is told by no event.
        await asyncio.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(process.wait, PATIENCE) == -signal.SIGINT


async def test_a_killed_process_is_replaced_and_its_task_runs_again_at_once(shop: Path, queue: Queue) -> None:
    with worker(shop, "--supervise") as process:
        task = await queue.enqueue("finish", str(shop / "seen"))
        await until(lambda: len(seen(shop)) == 1)
        (shop / "seen" / "go").touch()
        first = await queue.wait(task.id, timeout=PATIENCE)
        assert first.state is TaskState.SUCCEEDED
        (shop / "seen" / "go").unlink()
        task = await queue.enqueue("finish", str(shop / "seen"))
        (pid,) = seen(shop)
        await until_running(queue, str(task.id))
        os.kill(pid, signal.SIGKILL)
        await until(lambda: len(seen(shop)) == 2)
        (shop / "seen" / "go").touch()
        record = await queue.wait(task.id, timeout=PATIENCE)
        assert (record.state, record.lost_leases) == (TaskState.SUCCEEDED, 1)
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, PATIENCE) == 0
    assert not any(alive(pid) for pid in seen(shop))


async def until_running(queue: Queue, task_id: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await queue.get(task_id)).state is not TaskState.RUNNING:
            await asyncio.sleep(0.02)


async def test_processes_share_the_work_and_end_with_a_supervisor_that_is_killed(shop: Path, queue: Queue) -> None:
    with worker(shop, "--processes", "2", "--concurrency", "1", "--grace", "0.2") as process:
        for _ in range(2):
            await queue.enqueue("linger", str(shop / "seen"))
        await until(lambda: len(seen(shop)) == 2)
        assert len(await queue.workers()) == 2
        process.kill()
        process.wait()
        await until(lambda: not any(alive(pid) for pid in seen(shop)))
    # They were asked to stop, so their tasks were put back and are not lost.
    assert (await queue.counts_by_state())[TaskState.QUEUED] == 2


async def test_what_a_handler_starts_is_not_taken_for_a_worker(shop: Path, queue: Queue) -> None:
    with worker(shop, "--supervise"):
        task = await queue.enqueue("environment")
        assert (await queue.wait(task.id, timeout=PATIENCE)).result == []


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("handlers", "MODULE:REGISTRY"),
        ("no_such_module:registry", "there is no module no_such_module"),
        ("handlers:missing", "is no Registry"),
        ("handlers:nothing", "is no Registry, but str"),
        ("handlers:empty", "has no handlers"),
        ("broken:registry", "no_such_dependency"),
    ],
)
def test_handlers_that_cannot_be_found_are_a_clear_error(shop: Path, place: str, says: str) -> None:
    command = [*KURABITO, "worker", place, "--queue", "sqlite:///new.db"]
    said = run(command, cwd=shop, timeout=PATIENCE)
    assert said.returncode == 1
    assert says in said.stderr
    assert said.stderr.startswith("error: ") is (place != "broken:registry")
    assert not (shop / "new.db").exists()


async def test_a_worker_whose_database_is_broken_ends_with_a_code(
    shop: Path, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KURABITO_LEASE_SECONDS", "1")
    monkeypatch.setenv("KURABITO_HEARTBEAT_SECONDS", "0.2")
    with worker(shop) as process:
        task = await queue.enqueue("greet", "Ada")
        await queue.wait(task.id, timeout=PATIENCE)
        await queue.transact(lambda conn: conn.execute("ALTER TABLE tasks RENAME TO gone"))
        assert await asyncio.to_thread(process.wait, 40) == 70


async def test_a_worker_that_cannot_stop_its_handlers_ends_with_a_code_and_is_replaced(
    shop: Path, queue: Queue
) -> None:
    with worker(shop, "--supervise", "--concurrency", "1", "--grace", "0.2") as process:
        tasks = list(await queue.enqueue_many([("deaf", str(shop / "seen"))] * 3))
        # The second one that cannot be stopped is one too many for a worker that runs one at a time.
        await until(lambda: len(seen(shop)) == 2)
        ended = [await queue.wait(task.id, timeout=PATIENCE) for task in tasks]
        assert {task.last_error for task in ended} == {"TimeoutError: ran longer than its time limit of 0.2 s"}
        first = min(seen(shop))
        await until(lambda: not alive(first))
        greeting = await queue.enqueue("greet", "Ada")
        assert (await queue.wait(greeting.id, timeout=PATIENCE)).result == "Hello, Ada!"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, PATIENCE) == 0


@pytest.mark.soak
async def test_a_worker_whose_event_loop_is_held_ends_with_a_code(shop: Path, queue: Queue) -> None:
    with worker(shop) as process:
        await queue.enqueue("selfish", str(shop / "seen"))
        await until(lambda: bool(seen(shop)))
        assert await asyncio.to_thread(process.wait, 60) == 70


async def test_schedules_keep_the_time_zone_of_the_settings(
    shop: Path, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (shop / "handlers.py").open("a") as handlers:
        handlers.write('\nregistry.cron("0 4 * * *", "greet", "Ada")\n')
    (shop / "kurabito.toml").write_text('tz = "Asia/Tokyo"\n')
    monkeypatch.setenv("KURABITO_CONFIG", str(shop / "kurabito.toml"))
    kept: list[tuple[str]] = []
    with worker(shop):
        async with asyncio.timeout(PATIENCE):
            while not kept:
                kept = await queue.transact(lambda conn: conn.execute("SELECT name FROM task_schedules").fetchall())
                await asyncio.sleep(0.02)
    assert kept == [("greet 0 4 * * * Asia/Tokyo",)]

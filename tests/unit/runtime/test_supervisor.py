"""The supervisor, with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.errors import DatabaseUnavailable, InvalidInput
from kurabito.runtime.tasks.retry import Fixed
from kurabito.runtime.worker.supervisor import PARENT_PID, Supervisor

# Writes its name and pid, then does as told.
CHILD = """
import os, signal, subprocess, sys, time
from pathlib import Path
folder, how = Path(sys.argv[1]), sys.argv[2]
if how == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tool = subprocess.Popen(["sleep", "60"])
    (folder / "tool").write_text(str(tool.pid))
part = folder / f".{os.getpid()}"
part.write_text(str(os.getpid()))
part.rename(folder / os.environ["KURABITO_WORKER_NAME"])
if how == "fail":
    sys.exit(3)
time.sleep(60)
"""


class Rescue:
    """A queue that remembers what it was asked."""

    def __init__(self, *, broken: bool = False) -> None:
        self.asked: list[str] = []
        self.broken = broken

    async def expire_worker(self, name: str) -> int:
        self.asked.append(name)
        if self.broken:
            raise DatabaseUnavailable("gone")
        return 1

    async def recover(self) -> int:
        self.asked.append("recover")
        return 1


def command(folder: Path, how: str = "stay") -> list[str]:
    return [sys.executable, "-c", CHILD, str(folder), how]


def workers(folder: Path) -> dict[str, int]:
    return {
        path.name: int(path.read_text())
        for path in folder.iterdir()
        if not path.name.startswith(".") and path.name != "tool"
    }


async def until(true: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Look at what real processes do until it is so."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_each_process_has_its_own_name_and_all_end_with_the_block(tmp_path: Path) -> None:
    queue = Rescue()
    async with Supervisor(queue, command(tmp_path), count=3):
        await until(lambda: len(workers(tmp_path)) == 3)
        pids = list(workers(tmp_path).values())
        assert all(alive(pid) for pid in pids)
        assert len(set(pids)) == 3
    assert not any(alive(pid) for pid in pids)


async def test_the_tasks_of_a_killed_process_are_given_back_and_it_is_started_again(tmp_path: Path) -> None:
    queue = Rescue()
    async with Supervisor(queue, command(tmp_path), backoff=Fixed(0)):
        await until(lambda: len(workers(tmp_path)) == 1)
        ((name, pid),) = workers(tmp_path).items()
        os.kill(pid, signal.SIGKILL)
        await until(lambda: len(workers(tmp_path)) == 2)
        assert queue.asked == [name, "recover"]


async def test_a_broken_database_does_not_keep_the_process_from_being_started_again(tmp_path: Path) -> None:
    async with Supervisor(Rescue(broken=True), command(tmp_path), backoff=Fixed(0)):
        await until(lambda: len(workers(tmp_path)) == 1)
        os.kill(next(iter(workers(tmp_path).values())), signal.SIGKILL)
        await until(lambda: len(workers(tmp_path)) == 2)


class Waits:
    """A back-off that remembers the number of failures in a row that it was told of."""

    def __init__(self) -> None:
        self.failures: list[int] = []
        self.errors: list[str] = []

    def __call__(self, attempt: int, error: BaseException) -> float:
        self.failures.append(attempt)
        self.errors.append(str(error))
        return 10.0


async def test_a_process_that_keeps_dying_is_started_later_and_later(tmp_path: Path) -> None:
    clock, waits = ManualClock(), Waits()
    async with Supervisor(Rescue(), command(tmp_path, "fail"), backoff=waits, clock=clock):
        for failures in (1, 2, 3):
            await until(lambda failures=failures: len(waits.failures) == failures)  # type: ignore[misc]
            assert len(workers(tmp_path)) == failures
            clock.advance(9.9)
            # A real process that was started too early needs a moment to show itself.
            await asyncio.sleep(0.02)
            assert len(workers(tmp_path)) == failures
            clock.advance(0.2)
        await until(lambda: len(waits.failures) == 4)
    assert waits.failures == [1, 2, 3, 4]
    assert waits.errors[0].endswith("ended with code 3")


async def test_a_process_that_lived_a_minute_is_trusted_again(tmp_path: Path) -> None:
    clock, waits = ManualClock(), Waits()
    async with Supervisor(Rescue(), command(tmp_path), backoff=waits, clock=clock):
        for life, died in [(1, 1), (1, 2), (61, 3)]:
            await until(lambda died=died: len(workers(tmp_path)) == died)  # type: ignore[misc]
            clock.advance(life)
            youngest = max(workers(tmp_path), key=lambda name: (tmp_path / name).stat().st_mtime_ns)
            os.kill(workers(tmp_path)[youngest], signal.SIGKILL)
            await until(lambda died=died: len(waits.failures) == died)  # type: ignore[misc]
            clock.advance(10)
    assert waits.failures == [1, 2, 1]
    assert waits.errors[0].endswith("was killed by SIGKILL")


async def test_a_stop_does_not_wait_for_the_back_off(tmp_path: Path) -> None:
    waits = Waits()
    async with Supervisor(Rescue(), command(tmp_path, "fail"), backoff=waits, clock=ManualClock()):
        await until(lambda: len(waits.failures) == 1)


async def test_a_process_that_ignores_the_request_is_killed_with_its_tools(tmp_path: Path) -> None:
    async with Supervisor(Rescue(), command(tmp_path, "stubborn"), stop_limit=0.1):
        await until(lambda: len(workers(tmp_path)) == 1)
        pids = [*workers(tmp_path).values(), int((tmp_path / "tool").read_text())]
        assert all(alive(pid) for pid in pids)
    await until(lambda: not any(alive(pid) for pid in pids))


async def test_run_lasts_until_stop(tmp_path: Path) -> None:
    supervisor = Supervisor(Rescue(), command(tmp_path))
    running = asyncio.create_task(supervisor.run())
    await until(lambda: len(workers(tmp_path)) == 1)
    assert not running.done()
    supervisor.stop()
    await running


async def test_a_cancelled_run_leaves_no_process(tmp_path: Path) -> None:
    running = asyncio.create_task(Supervisor(Rescue(), command(tmp_path), count=2).run())
    await until(lambda: len(workers(tmp_path)) == 2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not any(alive(pid) for pid in workers(tmp_path).values())


async def test_a_program_that_does_not_exist_is_an_error_and_not_a_loop() -> None:
    with pytest.raises(InvalidInput, match="command: no-such-program cannot be started"):
        await Supervisor(Rescue(), ["no-such-program"], count=2).run()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"command": "kurabito worker"}, "command"),
        ({"command": []}, "command"),
        ({"count": 0}, "count"),
        ({"stop_limit": float("nan")}, "stop_limit"),
    ],
)
def test_what_cannot_be_supervised_is_refused(given: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Supervisor(Rescue(), **({"command": ["true"]} | given))  # type: ignore[arg-type]
    assert refused.value.field == named


# A process that dies with its parent.

SUPERVISE = """
import asyncio, sys
from kurabito.runtime.worker.supervisor import Supervisor
class Rescue:
    async def expire_worker(self, name): return 0
    async def recover(self): return 0
asyncio.run(Supervisor(Rescue(), sys.argv[1:]).run())
"""
FAITHFUL = """
import os, sys, time
from pathlib import Path
from kurabito.runtime.worker.supervisor import die_with_parent
die_with_parent()
assert "KURABITO_PARENT_PID" not in os.environ
Path(sys.argv[1]).write_text(str(os.getpid()))
time.sleep(60)
"""


async def test_processes_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    supervisor = subprocess.Popen([sys.executable, "-c", SUPERVISE, sys.executable, "-c", FAITHFUL, str(told)])
    try:
        await until(lambda: told.exists() and bool(told.read_text()))
        pid = int(told.read_text())
        assert alive(pid)
        supervisor.kill()
        supervisor.wait()
        await until(lambda: not alive(pid))
    finally:
        supervisor.kill()
        supervisor.wait()


@pytest.mark.parametrize("asked_after", [True, False], ids=["forgotten", "still listed"])
def test_a_process_whose_parent_died_before_it_asked_ends_too(tmp_path: Path, asked_after: bool) -> None:
    with subprocess.Popen(["true"]) as gone:
        # A dead process is listed until somebody asks how it ended.
        os.waitid(os.P_PID, gone.pid, os.WEXITED | (0 if asked_after else os.WNOWAIT))
        environment = {**os.environ, PARENT_PID: str(gone.pid)}
        began = time.monotonic()
        process = subprocess.run([sys.executable, "-c", FAITHFUL, str(tmp_path / "pid")], env=environment, check=False)
    assert process.returncode == -signal.SIGTERM
    assert time.monotonic() - began < 30
    assert not (tmp_path / "pid").exists()


def test_a_wrapper_between_supervisor_and_process_is_no_death(tmp_path: Path) -> None:
    environment = {**os.environ, PARENT_PID: str(os.getpid())}
    script = FAITHFUL.replace("time.sleep(60)", "")
    wrapped = ["sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", script, str(tmp_path / "pid")]
    assert subprocess.run(wrapped, env=environment, check=False).returncode == 0
    assert (tmp_path / "pid").exists()


def test_a_process_without_a_supervisor_is_left_alone(tmp_path: Path) -> None:
    script = FAITHFUL.replace("time.sleep(60)", "")
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path / "pid")], check=False).returncode == 0

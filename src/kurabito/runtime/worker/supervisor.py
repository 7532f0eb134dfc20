"""Keeps a number of processes alive: workers, or whatever else holds leases.

A process that dies is noticed at once by the process that started it, so its tasks go to another without waiting for their leases
to end.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, Self

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.errors import InvalidInput, KurabitoError
from kurabito.logs import get_logger
from kurabito.runtime.tasks.retry import Exponential, RetryPolicy
from kurabito.runtime.worker.locks import fresh_worker_name

WORKER_NAME: Final = "KURABITO_WORKER_NAME"
PARENT_PID: Final = "KURABITO_PARENT_PID"
_HEALTHY_AFTER: Final = 60 * SECOND
_LASTING: Final = 5 * SECOND
_PR_SET_PDEATHSIG: Final = 1
_BACKOFF: Final = Exponential(base=0.5, cap=30.0, jitter=0.1)
_NOTHING: Final[Mapping[str, str]] = {}
_log = get_logger(__name__)


class TaskRescue(Protocol):
    """What a supervisor needs of a queue, or of whatever keeps the leases of its processes."""

    async def expire_worker(self, name: str) -> int: ...

    async def recover(self) -> int: ...


class WorkerDied(KurabitoError):
    """A worker process ended without being asked to."""

    code = "worker_died"


class Supervisor:
    """Runs `command` in `count` processes, and again when one dies.

        async with Supervisor(queue, ["kurabito", "worker", "shop:registry"], count=4): ...

    Each process finds a name of its own in KURABITO_WORKER_NAME, which must become its worker's name. A process that
    keeps dying is started again later and later; one that lived a minute is trusted again. `role` is what the log calls
    the processes; `environment` is added to our own for them.
    """

    def __init__(
        self,
        queue: TaskRescue,
        command: Sequence[str],
        *,
        count: int = 1,
        role: str = "worker",
        environment: Mapping[str, str] = _NOTHING,
        backoff: RetryPolicy = _BACKOFF,
        stop_limit: float = 40.0,
        clock: Clock | None = None,
    ) -> None:
        if isinstance(command, str) or not command:
            raise InvalidInput("command", f"must be a program and its arguments, got {command!r}")
        if count < 1:
            raise InvalidInput("count", f"must be at least 1, got {count}")
        if not stop_limit >= 0:
            raise InvalidInput("stop_limit", f"must be 0 seconds or more, got {stop_limit}")
        self._queue = queue
        self._command = tuple(command)
        self._count = count
        self._role = role
        self._environment = dict(environment)
        self._backoff = backoff
        self._stop_limit = stop_limit
        self._clock = clock or SystemClock()
        self._stopping = asyncio.Event()
        self._renewed = asyncio.Event()
        """Set when the processes that live now are to end for others; each generation has one of its own."""
        self._places: list[asyncio.Task[None]] = []
        self._deaths: dict[int, tuple[str, int]] = {}
        """How the last process of each place died, and when its successor is to be trusted."""

    @property
    def trouble(self) -> str | None:
        """How a process died that has no lasting successor yet; None while all live."""
        now = self._clock.now()
        return next((how for how, trusted_at in self._deaths.values() if now < trusted_at), None)

    async def run(self) -> None:
        """Keep the processes alive until `stop` is called or this is cancelled."""
        async with self:
            await self._stopping.wait()

    def stop(self) -> None:
        """Ask for the end; leaving the block waits for it."""
        self._stopping.set()

    def renew(self, environment: Mapping[str, str] = _NOTHING) -> None:
        """Have every process end in good order and another take its place, with this in its environment too."""
        self._environment |= environment
        renewed, self._renewed = self._renewed, asyncio.Event()
        renewed.set()

    async def __aenter__(self) -> Self:
        self._stopping.clear()
        self._places = [asyncio.create_task(self._keep_alive(place)) for place in range(self._count)]
        for place in self._places:
            # A command that cannot be started at all ends everything.
            place.add_done_callback(lambda _: self.stop())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Ask the processes to stop, end those that have not after the limit, and wait for all."""
        self.stop()
        ended = await asyncio.gather(*self._places, return_exceptions=True)
        for outcome in ended:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _keep_alive(self, place: int) -> None:
        failures = 0
        while not self._stopping.is_set():
            name, born, renewed = fresh_worker_name(), self._clock.now(), self._renewed
            status = await self._live(name, renewed)
            if self._stopping.is_set():
                return
            if renewed.is_set():
                failures = 0
                continue
            failures = 1 if self._clock.now() - born >= _HEALTHY_AFTER else failures + 1
            wait = self._backoff(failures, WorkerDied(f"{self._role} {name} {status}"))
            # After one death the next process is trusted when it starts; after several, once it has lived for a while.
            trusted_in = round(wait * SECOND) + (_LASTING if failures > 1 else 0)
            self._deaths[place] = (f"the {self._role} {status}; it is started again", self._clock.now() + trusted_in)
            _log.warning("process died", role=self._role, worker=name, how=status, restart_in=round(wait, 2))
            await self._clock.wait(self._stopping, wait)

    async def _live(self, name: str, renewed: asyncio.Event) -> str:
        """Run one process to its end and see to its tasks; says how it ended."""
        try:
            process = await self._spawn(name)
        except OSError as problem:
            return f"could not be started: {problem.strerror}"
        _log.info("process started", role=self._role, worker=name, pid=process.pid)
        try:
            await self._until_end(process, renewed)
        finally:
            if process.returncode is None:
                _kill_group(process.pid)
                await process.wait()
        await self._rescue_tasks(name)
        return _how(process.returncode or 0)

    async def _spawn(self, name: str) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._command,
                env={**os.environ, **self._environment, WORKER_NAME: name, PARENT_PID: str(os.getpid())},
                # Ctrl-C in a terminal reaches us alone: a worker that heard it too would take our SIGTERM for a second one.
                process_group=0,
            )
        except (FileNotFoundError, PermissionError, NotADirectoryError) as problem:
            raise InvalidInput("command", f"{self._command[0]} cannot be started: {problem.strerror}") from problem

    async def _until_end(self, process: asyncio.subprocess.Process, renewed: asyncio.Event) -> None:
        """Return when the process ended on its own, or when it ended or ran out of time after a stop."""
        ended = asyncio.create_task(process.wait())
        told = [asyncio.create_task(event.wait()) for event in (self._stopping, renewed)]
        try:
            await asyncio.wait({ended, *told}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                process.terminate()
                await asyncio.wait({ended}, timeout=self._stop_limit)
                if not ended.done():
                    _log.warning(
                        "process did not stop in time", role=self._role, pid=process.pid, seconds=self._stop_limit
                    )
        finally:
            for waiting in (ended, *told):
                waiting.cancel()

    async def _rescue_tasks(self, name: str) -> None:
        try:
            expired = await self._queue.expire_worker(name)
            await self._queue.recover()
            if expired:
                _log.info("tasks of a dead worker were given back", worker=name, tasks=expired)
        except Exception:  # noqa: BLE001 - a supervisor outlives its database, and leases expire without it
            _log.exception("the tasks of a dead worker wait for their leases to end", worker=name)


def supervised_name() -> str | None:
    """The name that a supervisor gave to the worker of this process; None when there is none, or when it was asked before.

    It is taken out of the environment: neither a second worker here nor a program that a handler starts is that worker.
    """
    return os.environ.pop(WORKER_NAME, None)


def die_with_parent() -> None:
    """In a supervised process: have the kernel ask us to stop when the supervisor dies, even by SIGKILL.

    Call it early, in the main thread. Linux means by the parent the thread that started us, so a supervisor belongs into
    a thread that lives as long as itself. Elsewhere than on Linux nothing happens.
    """
    parent = os.environ.pop(PARENT_PID, "")
    if not parent.isdigit() or sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        _log.warning("this process will not notice its supervisor's death", problem=os.strerror(ctypes.get_errno()))
    # It may have died before we asked; a wrapper (`uv run`, a shell) between us and it is no death.
    if os.getppid() != int(parent) and not _lives(int(parent)):
        os.kill(os.getpid(), signal.SIGTERM)


def _lives(pid: int) -> bool:
    """Whether the process runs. A dead process that was not waited for yet is still listed."""
    try:
        listed = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    # After the name, which may hold anything, in parentheses.
    return listed.rpartition(")")[2].split()[0] not in ("Z", "X")


def _kill_group(leader: int) -> None:
    """End a process that would not stop, and the tools that it started."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"

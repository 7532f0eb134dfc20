"""Handlers in processes of their own: they can be stopped whatever they do, and take nothing down with them.

A process is started for the first task that needs one and kept for the next. It is killed, with every tool that it
started, when its task is cancelled, out of time, or the worker's lease is lost.
"""

from __future__ import annotations

import pickle
import threading
import time
from contextlib import suppress
from typing import Final

from kurabito.errors import InvalidInput
from kurabito.runtime.errors import HandlerProcessDied
from kurabito.runtime.outcomes import Claim, Outcome, Released, failure
from kurabito.runtime.tasks.context import TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.worker.isolation import child
from kurabito.runtime.worker.isolation.process import HandlerProcess

_STOP_CHANCE: Final = 0.5
_STARTS: Final = 10
_BETWEEN_STARTS: Final = 0.1


def check_isolated(handler: Handler) -> bytes:
    """The handler as another process can read it; refuses one that only this process knows."""
    try:
        return pickle.dumps(handler)
    except Exception as problem:
        raise InvalidInput(
            "isolation",
            f"the handler of {handler.task_type!r} cannot be found by another process ({problem}); it, its retry policy "
            "and its payload's class must stand at the top of a module",
        ) from problem


class IsolatedRun:
    """One task in a process."""

    def __init__(self, pool: HandlerProcesses, handler: Handler, claim: Claim, ctx: TaskContext) -> None:
        self._pool = pool
        self._handler = handler
        self._claim = claim
        self._ctx = ctx
        self._lock = threading.Lock()
        """For what stands below, and never while something waits: the event loop takes it."""
        self._process: HandlerProcess | None = None
        self._stopping = False
        self._sending = threading.Lock()

    def to_its_end(self) -> Outcome:
        """Run the handler, in a thread that may wait; how it ended."""
        try:
            process = self._begin()
            if process is None:
                return Released()
            return self._follow(process)
        except BaseException as problem:  # noqa: BLE001 - whatever keeps a handler from running is how its attempt ended
            self._leave_process()
            return failure(self._handler, self._claim, problem)

    def stop(self) -> None:
        """Tell the handler to end, and kill its process if it does not at once."""
        with self._lock:
            if self._stopping:
                return
            self._stopping = True
            process = self._process
        if process is None:
            return
        killing = threading.Timer(_STOP_CHANCE, self._kill)
        killing.daemon = True
        killing.start()
        # A process that does not read would hold up the caller.
        threading.Thread(target=self._tell_to_stop, args=(process,), daemon=True).start()

    def _begin(self) -> HandlerProcess | None:
        order = child.HandlerCall(self._pool.written(self._handler), self._claim)
        process = self._pool.take()
        with self._sending:
            with self._lock:
                stopping = self._stopping
                if not stopping:
                    self._process = process
            if not stopping:
                with suppress(OSError):
                    process.connection.send(order)
                return process
        self._pool.give_back(process)
        return None

    def _tell_to_stop(self, process: HandlerProcess) -> None:
        with self._sending, suppress(OSError, ValueError):
            process.connection.send(child.STOP)

    def _leave_process(self) -> None:
        """Let go of a process that said something unknown."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            self._pool.discard(process)

    def _follow(self, process: HandlerProcess) -> Outcome:
        """Pass on what the process says, until it says how the handler ended, or ends itself."""
        while True:
            try:
                said = process.hear()
            except (EOFError, OSError):
                return self._outlived(process)
            if isinstance(said, child.Reported):
                # A thread that an earlier handler left behind may still speak of that one's task.
                if said.claim == (self._claim.key, self._claim.owner):
                    _ = self._ctx.report(said.done, said.total)
                continue
            assert isinstance(said, child.Ended)
            with self._lock:
                self._process = None
                stopping = self._stopping
            if said.reusable and not stopping:
                self._pool.give_back(process)
            else:
                self._pool.discard(process)
            if isinstance(said.outcome, str):
                unread = HandlerProcessDied(f"its process cannot read the handler: {said.outcome}")
                return failure(self._handler, self._claim, unread)
            # Told to stop, it may have left its work half done.
            return Released() if stopping and said.heeded else said.outcome

    def _outlived(self, process: HandlerProcess) -> Outcome:
        with self._lock:
            self._process = None
            stopping = self._stopping
        how = process.how_it_ended()
        self._pool.forget(process)
        if stopping:
            return Released()
        return failure(self._handler, self._claim, HandlerProcessDied(f"the handler's process {how}"))

    def _kill(self) -> None:
        with self._lock:
            if self._process is not None:
                self._process.kill()


class HandlerProcesses:
    """The processes of one worker: as many as there are isolated handlers at work."""

    def __init__(self, max_payload: int) -> None:
        self._max_payload = max_payload
        self._lock = threading.Lock()
        self._all: set[HandlerProcess] = set()
        self._idle: list[HandlerProcess] = []
        self._written: dict[str, bytes] = {}
        self._closed = False

    def written(self, handler: Handler) -> bytes:
        """The handler as another process can read it."""
        if handler.task_type not in self._written:
            self._written[handler.task_type] = check_isolated(handler)
        return self._written[handler.task_type]

    def run(self, handler: Handler, claim: Claim, ctx: TaskContext) -> IsolatedRun:
        """One run of a handler, which begins when it is followed."""
        return IsolatedRun(self, handler, claim, ctx)

    def take(self) -> HandlerProcess:
        """A process that has nothing to do."""
        with self._lock:
            if self._closed:
                raise HandlerProcessDied("the worker has stopped")
            while self._idle:
                process = self._idle.pop()
                if not process.is_over:
                    return process
                self._all.discard(process)
                process.end()
        process = self._start()
        with self._lock:
            self._all.add(process)
        return process

    def _start(self) -> HandlerProcess:
        for _ in range(_STARTS):
            with suppress(ConnectionError, EOFError):
                return HandlerProcess(self._max_payload)
            # What starts them was killed, which is no fault of this task; another one is made when its end is noticed.
            time.sleep(_BETWEEN_STARTS)
        return HandlerProcess(self._max_payload)

    def give_back(self, process: HandlerProcess) -> None:
        """Have it do something else."""
        with self._lock:
            if not self._closed:
                self._idle.append(process)
                return
        self.discard(process)

    def discard(self, process: HandlerProcess) -> None:
        """Use it no more."""
        process.end()
        self.forget(process)

    def forget(self, process: HandlerProcess) -> None:
        with self._lock:
            self._all.discard(process)

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            self._closed = True
            ending, self._all = self._all, set()
            self._idle.clear()
        for process in ending:
            process.kill()
        for process in ending:
            process.end()

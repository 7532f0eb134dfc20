"""The process of isolated handlers, seen from inside.

The main thread runs handlers. Another one hears the worker: what to run next, that the handler should stop, and by the end
of the connection that the worker is gone. Then this process has no reason to live, and ends with everything it started.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import pickle
import resource
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Final

from kurabito import logs
from kurabito.runtime.outcomes import Claim, Outcome, conclude
from kurabito.runtime.tasks.context import Accepted, TaskContext
from kurabito.runtime.tasks.handlers import Handler
from kurabito.runtime.worker.failures import describe
from kurabito.runtime.worker.lineage import Lineage

STOP: Final = "stop"
_PR_SET_PDEATHSIG: Final = 1


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """A task to run: the handler as it was written down, and the claim."""

    handler: bytes
    claim: Claim


@dataclass(frozen=True, slots=True)
class Reported:
    """The handler said how far it is."""

    claim: tuple[int, str]
    """Key and owner of the claim that it speaks of."""
    done: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a handler ended, and what became of this process by it."""

    outcome: Outcome | str
    """A text says why the handler could not be read here."""
    heeded: bool
    """It was told to stop, and saw it."""
    reusable: bool


class _Context(TaskContext):
    """The context of a handler whose worker is another process."""

    __slots__ = ("_say",)

    def __init__(self, claim: Claim, max_payload: int, say: Callable[[object], None]) -> None:
        super().__init__(claim, max_payload)
        self._say = say

    def report(self, done: int, total: int | None = None) -> Accepted:
        said = super().report(done, total)
        if (news := self.take_progress()) is not None:
            self._say(Reported((self.claim.key, self.claim.owner), news.done, news.total))
        return said


class _Desk:
    """What the two threads of this process share."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self.orders: SimpleQueue[HandlerCall] = SimpleQueue()
        self.context: _Context | None = None
        self._connection = connection
        self._speaking = threading.Lock()

    def say(self, said: object) -> None:
        """Tell the worker something; from any thread of the handler's."""
        with self._speaking:
            self._connection.send(said)

    def listen(self) -> None:
        """Hear the worker until it is gone."""
        while True:
            try:
                heard = self._connection.recv()
            except (EOFError, OSError):
                os.killpg(0, signal.SIGKILL)
                raise
            if heard != STOP:
                self.orders.put(heard)
            elif (context := self.context) is not None:
                context.told_to_stop = "lost"


def main(connection: Connection[Any, Any], max_payload: int, logging: tuple[Any, str] | None) -> None:
    """Run handlers for a worker, one after another, until it is gone."""
    # A group of its own: it is killed together with the tools that handlers start, and Ctrl-C is for the worker.
    os.setpgid(0, 0)
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if logging is not None:
        logs.configure(format=logging[0], level=logging[1])
    desk, lineage = _Desk(connection), Lineage()
    threading.Thread(target=desk.listen, name="kurabito-worker", daemon=True).start()
    while True:
        order = desk.orders.get()
        ended = _carry_out(order, desk, max_payload)
        lineage.end_a_copy()
        desk.say(ended)


def _carry_out(order: HandlerCall, desk: _Desk, max_payload: int) -> Ended:
    try:
        handler = _read(order.handler)
    except BaseException as problem:  # noqa: BLE001 - importing the user's module may do anything
        return Ended(describe(problem), heeded=False, reusable=False)
    context = desk.context = _Context(order.claim, max_payload, desk.say)
    call = _Call(handler)
    outcome = conclude(handler, order.claim, context, max_payload, call)
    desk.context = None
    return Ended(outcome, context.heeded, reusable=not call.ran_out)


@lru_cache(maxsize=256)
def _read(handler: bytes) -> Handler:
    found = pickle.loads(handler)  # noqa: S301 - our own worker wrote it
    assert isinstance(found, Handler)
    return found


class _Call:
    """Calls a function within its memory limit: the process is refused more, and Python raises MemoryError."""

    def __init__(self, handler: Handler) -> None:
        self.ran_out = False
        self._is_async = handler.is_async
        self._limit = handler.memory_limit

    def __call__(self, fn: Callable[..., Any], *arguments: Any) -> Any:
        if self._limit is None:
            return self._call(fn, arguments)
        before = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (self._limit, before[1]))
        try:
            return self._call(fn, arguments)
        except MemoryError as problem:
            # Lifted first: there is no room to say so, as long as the frames hold what they have.
            resource.setrlimit(resource.RLIMIT_DATA, before)
            self.ran_out = True
            raise MemoryError(f"needed more than its memory limit of {self._limit:,} bytes") from problem
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)

    def _call(self, fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return asyncio.run(fn(*arguments)) if self._is_async else fn(*arguments)


def _die_with_parent() -> None:
    """Have the kernel end us when the process that started us ends, also while a handler lets no thread run."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

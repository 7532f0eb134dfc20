"""Every way in which a handler can end that we could think of, as tables. `test_every_end` runs them.

Handlers here stand at the top of a module, so that those with a process of their own are found by it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import ctypes
import itertools
import math
import os
import resource
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NoReturn

from pydantic import BaseModel, field_serializer

from kurabito.errors import DatabaseUnavailable, LeaseLost
from kurabito.runtime import PermanentError, Registry, Snooze, TaskContext

DEAD: Final = "dead"
DONE: Final = "succeeded"


class Panic(BaseException):
    """What native extensions raise that cannot go on."""


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class SpeechlessBase(BaseException):
    def __str__(self) -> str:
        raise SystemExit(1)

    __repr__ = __str__


class Wordless(Exception):
    def __str__(self) -> Any:
        return 7  # noqa: PLE0307 - that is what is wrong with it


class Unshown(Exception):
    def __repr__(self) -> str:
        raise RuntimeError("not to be seen")


class OddText(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError("how long?")

    def __getitem__(self, _key: Any) -> str:
        raise RuntimeError("nothing in here")


class OddlyTold(Exception):
    def __str__(self) -> str:
        return OddText("odd")


class Unnamed(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise SystemExit("no name")


class Nameless(Exception, metaclass=Unnamed):
    pass


class Liar(Exception):
    __class__ = property(lambda _self: 1 / 0)


class Incomparable(Exception):
    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("nothing is like me")

    __hash__ = None  # type: ignore[assignment]


class Unpicklable(Exception):
    def __init__(self, first: str, second: object) -> None:
        super().__init__(first)
        self.second = second

    def __reduce__(self) -> NoReturn:
        raise RuntimeError("stays here")


SHARED: Final = ValueError("one error for all")


def changed_snooze() -> Snooze:
    snooze = Snooze(1.0)
    snooze.seconds = "soon"  # type: ignore[assignment]
    return snooze


def with_cause_of_its_own() -> Exception:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    return first


def with_many_causes() -> Exception:
    problem = ValueError("the first")
    for number in range(300):
        problem, problem.__cause__ = ValueError(f"number {number}"), problem
    return problem


def with_odd_notes() -> Exception:
    problem = ValueError("noted")
    problem.__notes__ = 7  # type: ignore[assignment]
    return problem


def group(depth: int) -> ExceptionGroup[Any]:
    members: list[Exception] = [ValueError(f"member {depth}"), OSError(2, "gone", "caf\udce9")]
    return ExceptionGroup("several", [*members, group(depth - 1)] if depth else members)


RAISED: Final[dict[str, Callable[[], BaseException]]] = {
    "a name that is no Unicode": lambda: ValueError("caf\udce9.mkv"),
    "NUL": lambda: ValueError("a\x00b"),
    "half a pair and NUL": lambda: ValueError("\ud800\x00"),
    "a text of megabytes": lambda: ValueError("x" * 2_000_000),
    "no text": ValueError,
    "a text that cannot be made": lambda: Speechless("x"),
    "a text that ends the program": lambda: SpeechlessBase("x"),
    "a text that is none": lambda: Wordless("x"),
    "no repr": lambda: Unshown("x"),
    "a text of a class of its own": lambda: ValueError(OddText("odd")),
    "a text of a class of its own, made by itself": OddlyTold,
    "a class whose name cannot be read": lambda: Nameless("x"),
    "a class with a broken name": lambda: type("Caf\udce9", (Exception,), {})("x"),
    "a class that lies": lambda: Liar("x"),
    "an error that cannot be compared": lambda: Incomparable("x"),
    "an error that cannot be pickled": lambda: Unpicklable("x", threading.Lock()),
    "BaseException": lambda: BaseException("panic"),
    "a panic": lambda: Panic("native"),
    "KeyboardInterrupt": KeyboardInterrupt,
    "SystemExit": lambda: SystemExit(3),
    "SystemExit with a text": lambda: SystemExit("caf\udce9"),
    "GeneratorExit": GeneratorExit,
    "StopIteration": lambda: StopIteration("value"),
    "StopAsyncIteration": StopAsyncIteration,
    "CancelledError": lambda: asyncio.CancelledError("mine"),
    "CancelledError of a future": concurrent.futures.CancelledError,
    "InvalidStateError": lambda: asyncio.InvalidStateError("x"),
    "TimeoutError": lambda: TimeoutError("the server"),
    "MemoryError": MemoryError,
    "RecursionError": lambda: RecursionError("too deep"),
    "a group of errors": lambda: group(2),
    "a group of groups": lambda: group(30),
    "a group with an interrupt": lambda: BaseExceptionGroup("several", [KeyboardInterrupt(), ValueError("x")]),
    "causes in a circle": with_cause_of_its_own,
    "hundreds of causes": with_many_causes,
    "notes that are none": with_odd_notes,
    "one error for many tasks": lambda: SHARED,
    "an error of the disk": lambda: OSError(28, "No space left", "/caf\udce9"),
    "an error of a database": lambda: sqlite3.OperationalError("database is locked"),
    "an error of our own database": lambda: DatabaseUnavailable("the handler's own"),
    "a lost lease of its own": lambda: LeaseLost("the handler's own"),
    "a permanent error": lambda: PermanentError("caf\udce9 \x00"),
    "a changed snooze": changed_snooze,
    "a Unicode error": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
    "a warning": lambda: ResourceWarning("leak"),
    "an assertion": lambda: AssertionError({"caf\udce9": b"\xff"}),
}


class Fussy(BaseModel):
    value: int = 1

    @field_serializer("value")
    def refuse(self, _value: int) -> int:
        raise KeyboardInterrupt


@dataclass
class Lazy:
    name: str = "x"

    @property
    def more(self) -> str:
        raise RuntimeError("not now")


class Faceless:
    __class__ = property(lambda _self: 1 / 0)


def nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


def circle() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def counting() -> Any:
    yield from itertools.count()


async def not_awaited() -> None:
    """Never run."""


def made_coroutine() -> Any:
    coroutine = not_awaited()
    coroutine.close()
    return coroutine


RETURNED: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "nothing": (lambda: None, DONE),
    "bytes": (lambda: b"\xff\x00\x01", DONE),
    "bytes that look like JSON": (lambda: b"123", DONE),
    "no bytes at all": (lambda: b"", DONE),
    "a bytearray": (lambda: bytearray(b"abc"), DONE),
    "a memoryview": (lambda: memoryview(b"abc"), DONE),
    "not a number": (lambda: math.nan, DONE),
    "infinity": (lambda: {"a": math.inf}, DONE),
    "an empty text": (lambda: "", DONE),
    "NUL in a text": (lambda: "a\x00b", DONE),
    "a Decimal": (lambda: Decimal("1.10"), DONE),
    "a set": (lambda: {1, 2}, DONE),
    "a dataclass": (Lazy, DONE),
    "keys that are no texts": (lambda: {(1, 2): 3, None: 4}, DONE),
    "a large number": (lambda: 10**30, DONE),
    "a number of thousands of digits": (lambda: 10**5000, "either"),
    "hundreds of levels": (lambda: nested(150), DONE),
    "thousands of levels": (lambda: nested(3000), "either"),
    "half a pair": (lambda: "caf\udce9", DEAD),
    "half a pair as a key": (lambda: {"caf\udce9": 1}, DEAD),
    "an object": (object, DEAD),
    "a class": (lambda: ValueError, "either"),
    "a function": (lambda: print, DEAD),
    "itself": (circle, DEAD),
    "a generator without an end": (counting, DEAD),
    "an iterator without an end": (itertools.count, DEAD),
    "a coroutine": (made_coroutine, DEAD),
    "a model that cannot be written": (Fussy, DEAD),
    "an object without a class": (Faceless, DEAD),
    "Ellipsis": (lambda: ..., DEAD),
    "more than is kept": (lambda: "x" * 2_000_000, DEAD),
    "a changed snooze": (changed_snooze, DEAD),
    "an error": (lambda: ValueError("returned"), DEAD),
    "a lock": (threading.Lock, DEAD),
}

_left: contextvars.ContextVar[object] = contextvars.ContextVar("left")


async def cancels_itself() -> str:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    return "returned all the same"


async def cancels_itself_and_waits() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.Event().wait()


async def leaves_what_cannot_be_compared() -> None:
    _left.set(Incomparable("left behind"))


async def forks_and_returns() -> str:
    return "the copy" if os.fork() == 0 else "the worker"


async def forks_and_waits() -> str:
    if os.fork() == 0:
        await asyncio.sleep(0.01)
        return "the copy"
    return "the worker"


def forks_in_its_thread() -> str:
    return "the copy" if os.fork() == 0 else "the worker"


def ends_its_thread() -> None:
    import _thread

    _thread.exit()


def reports_too_much(ctx: TaskContext) -> None:
    _ = ctx.report(2**63)


def reports_far_too_much(ctx: TaskContext) -> None:
    _ = ctx.report(1, 10**5000)


class TwoFaced(int):
    """One number to look at, and another one to keep."""

    def __int__(self) -> int:
        return 2**70


def reports_two_numbers(ctx: TaskContext) -> None:
    _ = ctx.report(TwoFaced(1), TwoFaced(2))


def reports_a_bool(ctx: TaskContext) -> None:
    _ = ctx.report(True, 2)


def asks_for_nonsense(ctx: TaskContext) -> None:
    _ = ctx.enqueue("caf\udce9")


def starts_a_thread_that_fails() -> None:
    def fail() -> None:
        raise SystemExit

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def recurses() -> int:
    return recurses() + 1


DONE_BY: Final[dict[str, tuple[Callable[..., Any], str]]] = {
    "cancels itself": (cancels_itself, DONE),
    "cancels itself and waits": (cancels_itself_and_waits, DEAD),
    "leaves what cannot be compared": (leaves_what_cannot_be_compared, DONE),
    "forks in the event loop": (forks_and_returns, DONE),
    "forks and waits": (forks_and_waits, DONE),
    "forks in its thread": (forks_in_its_thread, DONE),
    "ends its thread": (ends_its_thread, DEAD),
    "reports too much": (reports_too_much, DEAD),
    "reports far too much": (reports_far_too_much, DEAD),
    "reports two numbers in one": (reports_two_numbers, DONE),
    "reports a bool": (reports_a_bool, DONE),
    "asks for nonsense": (asks_for_nonsense, DEAD),
    "starts a thread that fails": (starts_a_thread_that_fails, DONE),
    "recurses for ever": (recurses, DEAD),
}


def loops_for_ever() -> None:
    while True:
        pass


def sleeps_for_ever() -> None:
    time.sleep(3600)


async def heeds_nothing() -> None:
    until = time.monotonic() + 3
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue


async def loops_for_ever_in_a_loop_of_its_own() -> None:
    while True:
        pass


def exits() -> None:
    os._exit(3)


def leaves_a_copy_and_exits() -> None:
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(3)


def leaves_a_copy_out_of_reach() -> None:
    if os.fork() == 0:
        os.setsid()
        time.sleep(90)
        os._exit(0)
    time.sleep(3600)


def leaves() -> None:
    sys.exit(4)


def is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashes() -> None:
    # Without the core that nobody reads.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.string_at(0)


def aborts() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.abort()


def is_told_to_end() -> None:
    signal.raise_signal(signal.SIGTERM)
    time.sleep(3600)


def takes_all_memory() -> int:
    blocks = []
    while True:
        blocks.append(bytearray(16 << 20))


def closes_everything() -> None:
    os.closerange(3, 256)


def returns_from_its_process(ctx: TaskContext) -> dict[str, int]:
    _ = ctx.report(1, 2)
    _ = ctx.enqueue("neighbour", 77)
    return {"pid": os.getpid()}


def raises_in_its_process() -> None:
    raise Unpicklable("caf\udce9", threading.Lock())


async def returns_bytes_from_its_process() -> bytes:
    await asyncio.sleep(0)
    return b"\xff"


ISOLATED: Final[dict[str, tuple[Callable[..., Any], dict[str, Any], str, str]]] = {
    "returns": (returns_from_its_process, {}, DONE, ""),
    "returns bytes": (returns_bytes_from_its_process, {}, DONE, ""),
    "raises what stays there": (raises_in_its_process, {}, DEAD, r"^Unpicklable: caf\\udce9$"),
    "exits": (exits, {}, DEAD, r"^HandlerProcessDied: the handler's process ended with exit code 3$"),
    "leaves a copy and exits": (leaves_a_copy_and_exits, {}, DEAD, r"ended with exit code 3$"),
    "leaves a copy out of reach": (leaves_a_copy_out_of_reach, {"time_limit": 0.5}, DEAD, r"^TimeoutError"),
    "leaves": (leaves, {}, DEAD, r"^SystemExit: 4$"),
    "is killed": (is_killed, {}, DEAD, r"was killed by SIGKILL"),
    "crashes": (crashes, {}, DEAD, r"was killed by SIGSEGV"),
    "aborts": (aborts, {}, DEAD, r"was killed by SIGABRT"),
    "is told to end": (is_told_to_end, {}, DEAD, r"was killed by SIGTERM"),
    "loops for ever": (loops_for_ever, {"time_limit": 0.5}, DEAD, r"^TimeoutError: ran longer than its time limit"),
    "loops for ever, async": (loops_for_ever_in_a_loop_of_its_own, {"time_limit": 0.5}, DEAD, r"^TimeoutError"),
    "takes all memory": (
        takes_all_memory,
        {"memory_limit": 256 * 2**20},
        DEAD,
        r"its memory limit of 268,435,456 bytes",
    ),
    "forks": (forks_in_its_thread, {}, DONE, ""),
    "closes everything": (closes_everything, {}, "either", ""),
}

LIMITED: Final[dict[str, tuple[Callable[..., Any], str]]] = {
    "a plain function that sleeps": (sleeps_for_ever, DEAD),
    "a coroutine that heeds nothing": (heeds_nothing, DEAD),
}


def raiser(make: Callable[[], BaseException], *, threaded: bool) -> Callable[..., Any]:
    def fails() -> None:
        raise make()

    async def fails_async() -> None:
        raise make()

    return fails if threaded else fails_async


def returner(make: Callable[[], Any], *, threaded: bool) -> Callable[..., Any]:
    async def returns_async() -> Any:
        return make()

    def returns() -> Any:
        return make()

    return returns if threaded else returns_async


def policy_that_leaves(_attempt: int, _error: BaseException) -> float:
    raise SystemExit


def policy_without_number(_attempt: int, _error: BaseException) -> float:
    return math.nan


def policy_without_end(_attempt: int, _error: BaseException) -> float:
    return 10**400


@dataclass(frozen=True)
class Case:
    """A handler and the states that are right for its task."""

    name: str
    expected: str
    error: str = ""


def in_loop_and_threads(registry: Registry) -> list[Case]:
    """Register every end that needs no process."""
    cases = []
    for threaded in (False, True):
        where = "thread" if threaded else "loop"
        for name, make in RAISED.items():
            case = Case(f"raises {name} ({where})", DEAD)
            registry.task(case.name, max_attempts=1)(raiser(make, threaded=threaded))
            cases.append(case)
        for name, (make_result, expected) in RETURNED.items():
            case = Case(f"returns {name} ({where})", expected)
            registry.task(case.name, max_attempts=1)(returner(make_result, threaded=threaded))
            cases.append(case)
    for name, (fn, expected) in DONE_BY.items():
        registry.task(name, max_attempts=1)(fn)
        cases.append(Case(name, expected))
    for policy in (policy_that_leaves, policy_without_number, policy_without_end):
        registry.task(policy.__name__, retry=policy)(raiser(lambda: ValueError("x"), threaded=False))
        cases.append(Case(policy.__name__, DEAD))
    for name, (fn, expected) in LIMITED.items():
        registry.task(name, max_attempts=1, time_limit=0.2)(fn)
        cases.append(Case(name, expected, r"^TimeoutError: ran longer than its time limit of 0.2 s$"))
    return cases


def in_processes(registry: Registry) -> list[Case]:
    """Register every end in a process of its own."""
    cases = []
    for name, (fn, options, expected, error) in ISOLATED.items():
        case = Case(f"{name} (process)", expected, error)
        registry.task(case.name, max_attempts=1, isolation="process", **options)(fn)
        cases.append(case)
    return cases

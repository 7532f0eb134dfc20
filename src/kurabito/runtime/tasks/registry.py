"""Which function runs which type of task, and which tasks are enqueued at given times."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import FrameType, MappingProxyType
from typing import Any, Final, TypeVar, overload

from kurabito.errors import InvalidInput
from kurabito.runtime.model import DEFAULT_ATTEMPTS
from kurabito.runtime.schedules.cron import Cron
from kurabito.runtime.schedules.schedule import Every, Rule, Schedule
from kurabito.runtime.tasks.handlers import Handler, Isolation, own_name, read_signature
from kurabito.runtime.tasks.intake import prepare
from kurabito.runtime.tasks.options import HandlerOptions, check_importable
from kurabito.runtime.tasks.retry import DEFAULT_RETRY, RetryPolicy

__all__ = ["Handler", "Registry"]

F = TypeVar("F", bound=Callable[..., Any])
_CALLER: Final = 1


class Registry:
    """The handlers and schedules of a program.

        registry = Registry()

        @registry.task("send_email", max_attempts=5)
        async def send_email(email: Email, ctx: TaskContext) -> Receipt: ...

        @registry.cron("0 4 * * *", tz="Europe/Berlin")
        def clean_up() -> None: ...

    A plain `def` runs in a thread. The function is returned unchanged, so it can be called and tested as before.
    """

    def __init__(self, *, tz: str | None = None) -> None:
        """`tz` is the time zone of cron schedules that name none: what KURABITO_TZ says if it is not given, else UTC."""
        self._tz = tz or os.environ.get("KURABITO_TZ") or "UTC"
        self._handlers: dict[str, Handler] = {}
        self._schedules: dict[str, Schedule] = {}
        self._named_by_schedule: set[str] = set()

    @property
    def task_types(self) -> tuple[str, ...]:
        return tuple(self._handlers)

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        return tuple(self._schedules.values())

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """The handlers by type: those that are registered now, and those that will be."""
        return MappingProxyType(self._handlers)

    def handler(self, task_type: str) -> Handler | None:
        """The handler of a type, or None when it has none here."""
        return self._handlers.get(task_type)

    def replace(self, handler: Handler) -> None:
        """Run a registered type with another handler from now on. Do it last: a schedule keeps the function that it was given."""
        if handler.task_type not in self._handlers:
            raise InvalidInput("task_type", f"{handler.task_type!r} has no handler here")
        self._handlers[handler.task_type] = handler

    @overload
    def task(self, task_type: F, /) -> F: ...

    @overload
    def task(
        self,
        task_type: str | None = None,
        *,
        max_attempts: int = DEFAULT_ATTEMPTS,
        retry: RetryPolicy = DEFAULT_RETRY,
        concurrency: int | None = None,
        time_limit: float | timedelta | None = None,
        isolation: Isolation | None = None,
        memory_limit: int | None = None,
    ) -> Callable[[F], F]: ...

    def task(
        self,
        task_type: Any = None,
        *,
        max_attempts: int = DEFAULT_ATTEMPTS,
        retry: RetryPolicy = DEFAULT_RETRY,
        concurrency: int | None = None,
        time_limit: float | timedelta | None = None,
        isolation: Isolation | None = None,
        memory_limit: int | None = None,
    ) -> Any:
        """Register a function for a task type, which is the function's own name if none is given.

        `concurrency` limits how many run at once in one worker, `time_limit` how many seconds one may take. After a
        failure `retry` says how long to wait; after `max_attempts` executions the task is dead. With
        `isolation="process"` it runs in a process that can be killed, and `memory_limit` is how many bytes that may use.
        """
        options = HandlerOptions(max_attempts, retry, concurrency, time_limit, isolation, memory_limit)

        def register(fn: F) -> F:
            self._add(fn, task_type, sys._getframe(_CALLER), options)
            return fn

        if callable(task_type):
            fn, task_type = task_type, None
            self._add(fn, None, sys._getframe(_CALLER), options)
            return fn
        return register

    @overload
    def every(
        self,
        seconds: float | timedelta,
        task_type: None = None,
        payload: Any = None,
        *,
        name: str | None = None,
        priority: int = 0,
        unique_key: str | None = None,
    ) -> Callable[[F], F]: ...

    @overload
    def every(
        self,
        seconds: float | timedelta,
        task_type: str,
        payload: Any = None,
        *,
        name: str | None = None,
        priority: int = 0,
        unique_key: str | None = None,
    ) -> Schedule: ...

    def every(
        self,
        seconds: float | timedelta,
        task_type: str | None = None,
        payload: Any = None,
        *,
        name: str | None = None,
        priority: int = 0,
        unique_key: str | None = None,
    ) -> Any:
        """Enqueue a task every so many seconds: once per tick, however many processes run.

        Over a function it makes that a task too, unless it is one already; with a task type it only declares the
        schedule. Of the ticks that pass while no process runs, the last one is made up for.
        """
        return self._schedule(Every(seconds), task_type, payload, name, priority, unique_key)

    @overload
    def cron(
        self,
        expression: str,
        task_type: None = None,
        payload: Any = None,
        *,
        name: str | None = None,
        tz: str | None = None,
        priority: int = 0,
        unique_key: str | None = None,
    ) -> Callable[[F], F]: ...

    @overload
    def cron(
        self,
        expression: str,
        task_type: str,
        payload: Any = None,
        *,
        name: str | None = None,
        tz: str | None = None,
        priority: int = 0,
        unique_key: str | None = None,
    ) -> Schedule: ...

    def cron(
        self,
        expression: str,
        task_type: str | None = None,
        payload: Any = None,
        *,
        name: str | None = None,
        tz: str | None = None,
        priority: int = 0,
        unique_key: str | None = None,
    ) -> Any:
        """Enqueue a task when the clock of `tz` (by default the registry's) fits a cron expression; otherwise like `every`."""
        return self._schedule(
            Cron(expression, self._tz if tz is None else tz), task_type, payload, name, priority, unique_key
        )

    def _add(self, fn: Callable[..., Any], task_type: str | None, frame: FrameType, options: HandlerOptions) -> Handler:
        task_type = self._free_type(fn, task_type)
        options = options.checked()
        taken = read_signature(fn, frame)
        if options.isolation is not None:
            check_importable(fn)
        handler = Handler(
            task_type,
            fn,
            options.max_attempts,
            options.retry,
            options.concurrency,
            options.time_limit,
            *taken,
            isolation=options.isolation,
            memory_limit=options.memory_limit,
        )
        self._handlers[task_type] = handler
        return handler

    def _free_type(self, fn: Callable[..., Any], task_type: str | None) -> str:
        if not callable(fn):
            raise InvalidInput("task", f"must be a function, got {fn!r}")
        if task_type is None:
            task_type = own_name(fn)
            if task_type is None:
                raise InvalidInput("task_type", f"{fn!r} has no name of its own; give one: @registry.task('name')")
        # What could not be enqueued cannot be registered either.
        prepare(task_type)
        if task_type in self._handlers:
            other = self._handlers[task_type].fn
            raise InvalidInput("task_type", f"{task_type!r} is registered already, for {other!r}")
        already = self._type_of(fn)
        if already in self._named_by_schedule:
            raise InvalidInput("task_type", f"{already!r} has a schedule; put @registry.task below it, next to the def")
        return task_type

    def _type_of(self, fn: Callable[..., Any]) -> str | None:
        """The type that the function was registered for, the last one if for several."""
        # Equality, not identity: each look at a bound method makes a new object.
        return next((kind for kind, known in reversed(self._handlers.items()) if known.fn == fn), None)

    def _schedule(
        self, rule: Rule, task_type: str | None, payload: Any, name: str | None, priority: int, unique_key: str | None
    ) -> Any:
        def declare(task_type: str) -> Schedule:
            schedule = Schedule(name or f"{task_type} {rule}", task_type, payload, priority, unique_key, rule)
            if schedule.name in self._schedules:
                raise InvalidInput("name", f"there is a schedule {schedule.name!r} already; give this one a name")
            self._schedules[schedule.name] = schedule
            return schedule

        def decorate(fn: F) -> F:
            known = self._type_of(fn)
            if known is None:
                frame = sys._getframe(_CALLER)
                known = self._add(fn, None, frame, HandlerOptions()).task_type
                self._named_by_schedule.add(known)
            declare(known)
            return fn

        return decorate if task_type is None else declare(task_type)

"""The options of a handler, checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from kurabito.errors import InvalidInput
from kurabito.runtime.model import DEFAULT_ATTEMPTS
from kurabito.runtime.tasks.handlers import Isolation
from kurabito.runtime.tasks.intake import seconds_of
from kurabito.runtime.tasks.retry import DEFAULT_RETRY, RetryPolicy

_LEAST_MEMORY: Final = 128 * 2**20


@dataclass(frozen=True, slots=True)
class HandlerOptions:
    """How a handler is to be run, as it was asked for."""

    max_attempts: int = DEFAULT_ATTEMPTS
    retry: RetryPolicy = DEFAULT_RETRY
    concurrency: int | None = None
    time_limit: Any = None
    isolation: Isolation | None = None
    memory_limit: int | None = None

    def checked(self) -> HandlerOptions:
        """The same with the time limit in seconds; refuses what cannot be kept."""
        _check_count("max_attempts", self.max_attempts)
        if self.concurrency is not None:
            _check_count("concurrency", self.concurrency)
        if not callable(self.retry):
            raise InvalidInput("retry", f"must be callable with (attempt, error) and give seconds, got {self.retry!r}")
        _check_isolation(self.isolation, self.memory_limit)
        if self.time_limit is None:
            return self
        seconds = seconds_of("time_limit", self.time_limit)
        if seconds <= 0:
            raise InvalidInput("time_limit", f"must be more than 0 seconds, got {seconds:g}")
        return replace(self, time_limit=seconds)


def _check_isolation(isolation: Any, memory_limit: Any) -> None:
    if isolation not in (None, "process"):
        raise InvalidInput("isolation", f"must be None or 'process', got {isolation!r}")
    if memory_limit is None:
        return
    if isolation is None:
        raise InvalidInput("memory_limit", "only a process can be held to it; add isolation='process'")
    if isinstance(memory_limit, bool) or not isinstance(memory_limit, int) or memory_limit < _LEAST_MEMORY:
        raise InvalidInput(
            "memory_limit",
            f"must be an int of at least {_LEAST_MEMORY:,} bytes, which Python needs itself, got {memory_limit!r}",
        )


def check_importable(fn: Callable[..., Any]) -> None:
    """Refuse what another process could not import; whether it can, a worker tries when it starts."""
    if "<" in getattr(fn, "__qualname__", ""):
        raise InvalidInput(
            "isolation",
            f"{fn!r} is inside another function, where its process cannot find it; move it to the top of a module",
        )


def _check_count(field: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(field, f"must be an int of at least 1, got {value!r}")

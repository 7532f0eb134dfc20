"""How long to wait before the next attempt.

A policy is anything that can be called with the attempt that just failed (1 for the first) and its error, and gives
seconds; `Fixed` and `Exponential` are the usual two.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from kurabito.errors import InvalidInput

_LONGEST_WAIT: Final = 100 * 365 * 86_400.0


class RetryPolicy(Protocol):
    """Says how many seconds to wait after attempt number `attempt` ended in `error`."""

    def __call__(self, attempt: int, error: BaseException, /) -> float: ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same wait after every attempt."""

    seconds: float

    def __post_init__(self) -> None:
        _check("seconds", self.seconds, least=0.0, most=_LONGEST_WAIT)

    def __call__(self, attempt: int, error: BaseException, /) -> float:
        return self.seconds


@dataclass(frozen=True, slots=True)
class Exponential:
    """A wait that grows by `factor` with each attempt up to `cap`, then varies by the share `jitter` either way.

    The variation keeps tasks that failed together from coming back together.
    """

    base: float = 2.0
    cap: float = 300.0
    factor: float = 2.0
    jitter: float = 0.1
    random: Callable[[], float] = field(default=random.random, repr=False, compare=False)
    """Gives a number from 0 up to 1."""

    def __post_init__(self) -> None:
        _check("base", self.base, least=0.0, most=_LONGEST_WAIT)
        _check("cap", self.cap, least=0.0, most=_LONGEST_WAIT)
        _check("factor", self.factor, least=1.0, most=1e9)
        _check("jitter", self.jitter, least=0.0, most=1.0)

    def __call__(self, attempt: int, error: BaseException, /) -> float:
        try:
            wait = min(self.cap, self.base * float(self.factor) ** max(attempt - 1, 0))
        except OverflowError:
            wait = self.cap if self.base else 0.0
        return wait * (1.0 + self.jitter * (2.0 * self.random() - 1.0))


def _check(name: str, value: Any, *, least: float, most: float) -> None:
    # A comparison with NaN is false, so NaN is refused too.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise InvalidInput(name, f"must be a number from {least:g} to {most:g}, got {value!r}")


DEFAULT_RETRY: Final = Exponential()

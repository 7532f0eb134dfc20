"""The rounds of a loop that runs as long as its process: one that fails does not end the loop, and is not hidden by it either."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from kurabito.clock import Clock, SystemClock
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger

T = TypeVar("T")

PATIENCE: Final = 15.0
"""Seconds for which rounds may fail before the loop counts as one that does not work: a busy database is no news."""

_log = get_logger(__name__)


class Rounds:
    """Does the rounds of one loop, and knows whether they succeed.

    rounds = Rounds("downloads not filed")
    await rounds.do(step)
    rounds.trouble
    """

    def __init__(self, failed: str, clock: Clock | None = None) -> None:
        self._failed = failed
        """What the log says of a round that failed."""
        self._clock = clock or SystemClock()
        self._problem: str | None = None
        self._failing_since = 0.0

    @property
    def trouble(self) -> str | None:
        """Why the loop does not work; None while it does, and for a while after the first round that failed."""
        has_lasted = self._clock.monotonic() - self._failing_since >= PATIENCE
        return self._problem if has_lasted else None

    async def do(self, step: Callable[[], Awaitable[T]]) -> T | None:
        """Do one round; None if it failed. Only a cancellation gets through."""
        try:
            answer = await step()
        except KurabitoError as problem:
            self._note(str(problem))
            _log.warning(self._failed, problem=str(problem))
        except Exception as problem:  # noqa: BLE001 - whatever it was, the next round may do better
            # The text of an error may fail itself.
            self._note("".join(traceback.format_exception_only(problem)).strip())
            _log.exception(self._failed)
        else:
            self._problem = None
            return answer
        return None

    def _note(self, problem: str) -> None:
        if self._problem is None:
            self._failing_since = self._clock.monotonic()
        self._problem = problem

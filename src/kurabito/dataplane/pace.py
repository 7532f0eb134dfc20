"""How much a long piece of work writes at once, so that the small writes of others get their turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from kurabito.dataplane.held import HeldJob
from kurabito.db import Connection

T = TypeVar("T")

_LONGEST: Final = 0.020
_BREATH: Final = 0.001
_FEWEST: Final = 100


class Pace:
    """Writes of one job: each as large as fits into 20 ms, and a moment for others after it."""

    def __init__(self, job: HeldJob, most: int) -> None:
        self.rows = most
        """How many rows the next transaction should take."""
        self._job = job
        self._most = most

    def write(self, fn: Callable[[Connection], T]) -> T:
        """Run a function in a transaction of the job, and learn from how long it took."""
        took = 0.0

        def timed(conn: Connection) -> T:
            nonlocal took
            # The wait for the database is not ours to shorten.
            began = time.perf_counter()
            answer = fn(conn)
            took = time.perf_counter() - began
            return answer

        answer = self._job.write(timed)
        if took > _LONGEST:
            self.rows = max(_FEWEST, min(self._most, self.rows) // 2)
        elif took < _LONGEST / 2:
            self.rows = min(self._most, self.rows * 2)
        time.sleep(_BREATH)
        return answer

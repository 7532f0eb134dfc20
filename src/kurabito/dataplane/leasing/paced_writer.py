"""How much a long piece of work writes at once, so that the small writes of others get their turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Final, Self, TypeVar

from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.db import Connection

T = TypeVar("T")

_LONGEST: Final = 0.020
_BREATH: Final = 0.001
_FEWEST: Final = 1000
"""Each transaction has a cost of its own."""


class PacedWriter:
    """Writes to one leased row: each as large as fits into 20 ms, and a moment for others after it. Use it as a context."""

    def __init__(self, row: LeasedRow, most: int, *, fewest: int = _FEWEST) -> None:
        self.rows = most
        """How many rows the next transaction should take."""
        self._row = row
        self._most = most
        self._fewest = fewest
        self._thread = ThreadPoolExecutor(1, f"writes of {row.id}")
        self._behind: Future[object] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()

    def write(self, fn: Callable[[Connection], T]) -> T:
        """Run a function in a transaction of the row's owner, and learn from how long it took."""
        self.catch_up()
        return self._write(fn)

    def write_behind(self, fn: Callable[[Connection], object]) -> None:
        """As `write`, while the caller goes on. One at a time: the next write waits for it, and raises what it raised."""
        self.catch_up()
        self._behind = self._thread.submit(self._write, fn)

    def catch_up(self) -> None:
        """Wait until everything is written."""
        behind, self._behind = self._behind, None
        if behind is not None:
            behind.result()

    def _write(self, fn: Callable[[Connection], T]) -> T:
        took = 0.0

        def timed(conn: Connection) -> T:
            nonlocal took
            # The wait for the database is not ours to shorten.
            began = time.perf_counter()
            answer = fn(conn)
            took = time.perf_counter() - began
            return answer

        # What is found on the disks once is found there again, should the power fail.
        answer = self._row.write(timed, durable=False)
        if took > _LONGEST:
            self.rows = min(self._most, max(self._fewest, self.rows // 2))
        elif took < _LONGEST / 2:
            self.rows = min(self._most, self.rows * 2)
        time.sleep(_BREATH)
        return answer

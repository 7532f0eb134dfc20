"""What a worker does when its queue fails: wait, try again, and know when to give up."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

from kurabito.errors import DatabaseUnavailable, KurabitoError
from kurabito.logs import get_logger
from kurabito.runtime.failures import describe
from kurabito.runtime.outcomes import Failure, Settlement, Success
from kurabito.runtime.port import Queue
from kurabito.runtime.slots import Slots

_log = get_logger("kurabito.runtime")

_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 5.0


class WorkerFailed(KurabitoError):
    """A worker cannot go on, and has ended: its tasks go to another."""

    code = "worker_failed"


class Patience:
    """How long to wait after each failure in a row.

    A database that is away is waited for as long as it takes: that is nobody's fault here. An error that no queue should
    raise is tried again for the length of a lease, after which the worker's tasks are another's anyway.
    """

    def __init__(self, lease: float) -> None:
        self.trouble: str | None = None
        """What failed last, while it fails."""
        self._lease = lease
        self._wait = _FIRST_WAIT
        self._baffled_since: float | None = None

    def restore(self) -> None:
        """It works."""
        if self.trouble is not None:
            _log.info("queue_available_again")
            self.trouble = None
            self._wait = _FIRST_WAIT
            self._baffled_since = None

    def wait_after(self, problem: Exception) -> float:
        """Seconds to wait before the next try; raises WorkerFailed when there is none."""
        self.trouble = describe(problem)
        if isinstance(problem, DatabaseUnavailable):
            self._baffled_since = None
        else:
            now = time.monotonic()
            self._baffled_since = self._baffled_since or now
            if now - self._baffled_since >= self._lease:
                raise WorkerFailed(
                    f"the queue has failed for {self._lease:g} s in a way that waiting does not mend: {self.trouble}"
                ) from problem
        wait, self._wait = self._wait, min(self._wait * 2, _LONGEST_WAIT)
        _log.warning("queue_unavailable", problem=self.trouble, again_in=wait)
        return min(wait, self._lease / 4)


async def settle_apart(queue: Queue, slots: Slots, settling: list[Settlement]) -> None:
    """Settle one by one, taking each off the list; an outcome that cannot be written is replaced by one that says so.

    So it harms no neighbour. Raises what the queue raises when that cannot be written either.
    """
    while settling:
        first = settling[:1]
        try:
            lost = await queue.settle(first)
        except DatabaseUnavailable:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever the store has against this outcome
            plain = _storable(first[0], problem)
            lost = await queue.settle([plain])
            _log.warning("outcome_not_storable", task_id=str(plain[0].id), problem=describe(problem))
        slots.settled(first, lost)
        del settling[0]


def _storable(settlement: Settlement, problem: Exception) -> Settlement:
    """The same end with nothing in it that a store could refuse."""
    claim, outcome = settlement
    why = describe(problem)
    claim.progress = None
    match outcome:
        case Failure():
            text = outcome.error.encode("ascii", "backslashreplace").decode()
            return claim, replace(outcome, error=f"{text} (its details could not be stored: {why})", traceback=None)
        case Success():
            error = f"the handler did its work, but how it ended cannot be stored: {why}"
        case _:
            error = f"how it ended cannot be stored: {why}"
    return claim, Failure(error, permanent=True)

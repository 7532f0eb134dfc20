"""What a worker does when its queue fails: wait, try again, and know when to give up."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from kurabito.clock import Clock
from kurabito.errors import DatabaseUnavailable, KurabitoError
from kurabito.logs import get_logger
from kurabito.runtime.errors import WorkerFailed
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Settlement, Success
from kurabito.runtime.port import WorkQueue
from kurabito.runtime.worker.failures import describe
from kurabito.runtime.worker.slots import Slots

_log = get_logger("kurabito.runtime")

_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 5.0


class Patience:
    """How long to wait after each failure in a row.

    A database that is away is waited for as long as it takes: that is no fault of the worker. An error that no queue should
    raise is tried again for the length of a lease, after which the worker's tasks are another's anyway.
    """

    def __init__(self, clock: Clock, lease: float, what: str) -> None:
        self._clock = clock
        self._what = what
        self.trouble: str | None = None
        """What failed last, while it fails."""
        self._lease = lease
        self._wait = _FIRST_WAIT
        self._baffled_since: float | None = None

    def restore(self) -> None:
        """It works."""
        if self.trouble is not None:
            _log.info("queue_works_again", what=self._what)
            self.trouble = None
            self._wait = _FIRST_WAIT
            self._baffled_since = None

    def wait_after(self, problem: Exception) -> float:
        """Seconds to wait before the next try; raises WorkerFailed when there is none."""
        self.trouble = str(problem) if isinstance(problem, KurabitoError) else describe(problem)
        if isinstance(problem, DatabaseUnavailable):
            self._baffled_since = None
        else:
            now = self._clock.monotonic()
            if self._baffled_since is None:
                self._baffled_since = now
            if now - self._baffled_since >= self._lease:
                raise WorkerFailed(
                    f"the queue has failed for {self._lease:g} s in a way that waiting does not mend: {self.trouble}"
                ) from problem
        wait, self._wait = self._wait, min(self._wait * 2, _LONGEST_WAIT)
        _log.warning("queue_unavailable", what=self._what, problem=self.trouble, again_in=wait)
        return min(wait, self._lease / 4)


async def settle_apart(queue: WorkQueue, slots: Slots, settling: list[Settlement]) -> None:
    """Settle one by one, taking each off the list; an outcome that cannot be written is replaced by one that says so.

    So it harms no neighbour. Raises what the queue raises when that cannot be written either.
    """
    while settling:
        first = settling[0]
        slots.settled([first], await _settle_one(queue, first))
        del settling[0]


async def _settle_one(queue: WorkQueue, settlement: Settlement) -> list[Claim]:
    try:
        return await queue.settle([settlement])
    except DatabaseUnavailable:
        raise
    except Exception as problem:  # noqa: BLE001 - whatever the store has against this outcome
        claim, outcome = settlement
        _log.warning("outcome_not_storable", task_id=str(claim.id), problem=describe(problem))
        claim.progress = None
        try:
            return await queue.settle([(claim, _in_ascii(outcome, describe(problem)))])
        except DatabaseUnavailable:
            raise
        except Exception:  # noqa: BLE001 - what a store says about a text that it refuses often quotes it
            return await queue.settle([(claim, _without_details(outcome))])


def _in_ascii(outcome: Outcome, why: str) -> Outcome:
    """The same end in letters that every store knows."""
    bare = _without_details(outcome)
    said = outcome.error if isinstance(outcome, Failure) else bare.error
    error = f"{said} (it could not be stored: {why})".encode("ascii", "backslashreplace").decode()
    return replace(bare, error=error)


def _without_details(outcome: Outcome) -> Failure:
    """The same end with nothing in it that a store could refuse."""
    match outcome:
        case Failure():
            return replace(outcome, error="the handler failed, and its error could not be stored", traceback=None)
        case Success():
            return Failure("the handler did its work, but its result could not be stored", permanent=True)
        case _:
            return Failure("the handler ended, and how could not be stored", permanent=True)

"""Claims that workers at rest have parked, made in the thread that hears of an arrival."""

from __future__ import annotations

from collections import deque

from kurabito.logs import get_logger
from kurabito.runtime.events import PendingEvents
from kurabito.runtime.port import Claimed, ParkedClaim
from kurabito.runtime.sql.store import INTERRUPT, Changes
from kurabito.runtime.sql.work import SqlWork

_log = get_logger("kurabito.runtime")


class ParkedClaims:
    """Claims for workers at rest: the way through the event loop and back takes as long as a third of the claim."""

    def __init__(self, changes: Changes, work: SqlWork) -> None:
        self._changes = changes
        self._work = work
        self._parked: deque[ParkedClaim] = deque()

    def park(self, claim: ParkedClaim) -> None:
        self._parked.append(claim)

    def unpark(self, claim: ParkedClaim) -> bool:
        try:
            self._parked.remove(claim)
        except ValueError:
            return False
        return True

    def hear(self, word: str) -> None:
        """Claim for the workers at rest, and pass on what another process did to all others."""
        if word == INTERRUPT:
            self._changes.hear(word)
            return
        served = []
        for parked in self._take():
            claimed, pending = self._claim_for(parked)
            parked.answer(claimed)
            if claimed is not None:
                served.append(parked.listener)
                self._changes.make_known(pending)
        self._changes.arrivals.ring(but=served)
        self._changes.happened.ring()

    def _take(self) -> list[ParkedClaim]:
        taken = []
        # One by one: each is either taken here or taken back by its worker, whichever comes first.
        while True:
            try:
                taken.append(self._parked.popleft())
            except IndexError:
                return taken

    def _claim_for(self, parked: ParkedClaim) -> tuple[Claimed | None, PendingEvents]:
        turn = self._work.turn(parked.worker, parked.capacity, parked.limit, parked.lease, suspects=parked.suspects)
        try:
            return self._changes.run_blocking(turn)
        except Exception as problem:  # noqa: BLE001 - the worker meets it when it tries itself, and knows what to do
            _log.warning("claim_on_arrival_failed", worker=parked.worker, problem=str(problem))
            return None, PendingEvents()

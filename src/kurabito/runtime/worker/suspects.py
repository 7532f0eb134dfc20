"""Tasks that may be what takes their workers down.

At the third lost worker a task is dead. A suspect has lost two, and the others that lost theirs in the same moment are suspects
too. A worker holds one of them at a time: should it die, it is known which one it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from kurabito.runtime.outcomes import Claim, Settlement, Snoozed
from kurabito.runtime.worker.slots import Slots

SECONDS_APART: Final = 1.0
"""For how long a suspect that came together with another is put back."""


class Suspects:
    """The suspect that a worker holds, and how the others stay away from it.

    While it is held a claim passes over all others: one that is claimed and then given back would be lost with the worker in
    between. Of those that one claim brings together, the first waits until the others are given back.
    """

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._held: Claim | None = None
        self._waiting: Claim | None = None

    def may_be_claimed(self, settling: Sequence[Settlement]) -> bool:
        """Whether we hold none, once these are settled."""
        if self._held is not None and self._held not in self._slots.held:
            self._held = None
        return self._held is None or any(claim is self._held for claim, _ in settling)

    def keep_apart(self, claims: Sequence[Claim]) -> tuple[AbstractSet[Claim], list[Settlement]]:
        """The claims that must not be started now, and how those of them that are not kept are settled."""
        suspects = [claim for claim in claims if claim.lost_leases and claim.is_suspect]
        if not suspects:
            return frozenset(), []
        self._held, *others = suspects
        if not others:
            return frozenset(), []
        self._waiting = self._held
        return frozenset(suspects), [(claim, Snoozed(SECONDS_APART)) for claim in others]

    def start_waiting(self) -> None:
        """Start the one that waited, now that the others are given back."""
        for claim in self.take_waiting():
            self._slots.start(claim)

    def take_waiting(self) -> list[Claim]:
        """The one that waited and was not started, if there is one."""
        waiting, self._waiting = self._waiting, None
        return [] if waiting is None else [waiting]

"""How fast a worker starts tasks."""

from __future__ import annotations

import math
from typing import Final

from kurabito.clock import Clock

_MEMORY: Final = 0.1


class StartRate:
    """How many tasks a second are being started, lately: so many may be claimed ahead as will start in a moment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rate = 0.0
        self._started = 0
        self._at = clock.monotonic()

    def update(self, started: int) -> float:
        """The rate, given how many were started since the beginning."""
        now = self._clock.monotonic()
        elapsed = now - self._at
        if elapsed > 0:
            kept = math.exp(-elapsed / _MEMORY)
            self._rate = self._rate * kept + (started - self._started) / elapsed * (1 - kept)
            self._started, self._at = started, now
        return self._rate

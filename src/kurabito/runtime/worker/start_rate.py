"""How fast a worker is, so that it claims ahead no more than it will start in a moment."""

from __future__ import annotations

import math
import time
from typing import Final

_RATE_MEMORY: Final = 0.1


class StartRate:
    """How many tasks a second are being started, lately."""

    def __init__(self) -> None:
        self._rate = 0.0
        self._started = 0
        self._at = time.monotonic()

    def update(self, started: int) -> float:
        """The pace, given how many were started since the beginning."""
        now = time.monotonic()
        elapsed = now - self._at
        if elapsed > 0:
            kept = math.exp(-elapsed / _RATE_MEMORY)
            self._rate = self._rate * kept + (started - self._started) / elapsed * (1 - kept)
            self._started, self._at = started, now
        return self._rate

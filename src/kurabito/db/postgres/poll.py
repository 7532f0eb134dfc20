"""Notices what other programs commit where notifications cannot be heard: behind a pooler no session is ours to listen on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from kurabito.logs import get_logger

_log = get_logger("kurabito.db")

_BUSY: Final = 0.05
_IDLE: Final = 0.2
_STAYS_BUSY: Final = 1.0
_LONGEST_WAIT: Final = 5.0


class Poller:
    """A thread that asks for a number that grows with every commit, and calls `hear` when it has grown."""

    def __init__(self, ask: Callable[[], int], hear: Callable[[str], None]) -> None:
        self._ask = ask
        self._hear = hear
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postgres-poller", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        seen: int | None = None
        changed_at, wait = float("-inf"), _IDLE
        while not self._stopping.wait(wait):
            try:
                number = self._ask()
            except Exception as problem:  # noqa: BLE001 - whatever it was: a thread that ends hears nothing for good
                wait = min(wait * 2, _LONGEST_WAIT)
                _log.warning("polling_failed", problem=str(problem), again_in=wait)
                # What is committed until it answers again is not seen to be new.
                seen = None
                continue
            if number != seen:
                seen, changed_at = number, time.monotonic()
                self._hear("")
            wait = _BUSY if time.monotonic() - changed_at < _STAYS_BUSY else _IDLE

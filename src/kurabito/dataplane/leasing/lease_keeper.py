"""A thread that keeps a lease while another works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

Beat = Callable[[], bool]
"""Renews a lease; false when there is none any more."""


class LeaseKeeper:
    """Beats for one row after another; use it as a context."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._beat: Beat | None = None
        # Held during each beat: whoever lets go knows that none is under way.
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread: threading.Thread

    def __enter__(self) -> Self:
        self._ending.clear()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()

    def keep(self, beat: Beat) -> None:
        """Beat for this row from now on."""
        with self._lock:
            self._beat = beat

    def let_go(self) -> None:
        """Beat for nobody any more."""
        with self._lock:
            self._beat = None

    def _run(self) -> None:
        while not self._ending.wait(self._every):
            with self._lock:
                if self._beat is not None and not self._beat():
                    self._beat = None

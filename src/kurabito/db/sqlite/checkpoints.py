"""Moves what was written from SQLite's log into its file, beside the writer and not in its way.

SQLite would do it inside every thousandth commit or so, and the caller of that commit would wait for the whole log.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import Final

from kurabito.logs import get_logger

_log = get_logger("kurabito.db")

_EVERY: Final = 0.25


class Checkpoints:
    """A thread that checkpoints a few times a second while there are commits."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._written = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sqlite-checkpoints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._written.set()
        self._thread.join()

    def note_commit(self) -> None:
        """Say that something was written."""
        self._written.set()

    def _run(self) -> None:
        raw = self._connect()
        try:
            while not self._stopping.is_set():
                self._written.wait()
                self._written.clear()
                # Passive: it moves what it can and waits for no reader or writer.
                try:
                    raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                except sqlite3.Error as problem:
                    _log.warning("checkpoint_failed", problem=str(problem))
                self._stopping.wait(_EVERY)
        finally:
            raw.close()

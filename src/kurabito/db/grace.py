"""A clock that jumps takes no lease away: on its own machine the owner's lock is asked first.

On SQLite all times come from the machine's clock. When that jumps forward (NTP, a machine that was suspended), every lease
looks ended although its owner is at work. A living worker holds a lock (see `kurabito.runtime.worker.locks`), so the next
heartbeat is waited for once. Not for ever: one that stands still holds its lock too.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

_MICROSECONDS: Final = 1_000_000
_GIVEN_UP_FOR: Final = 10.0


class Stale(NamedTuple):
    """A row whose lease has ended."""

    key: Any
    owner: str | None
    expired_at: int | None
    heartbeat_at: int | None


def workers_folder(database: Path, schema: str | None = None) -> Path:
    """Where the workers on a SQLite file hold their locks; those of another schema have a folder of their own."""
    return Path(f"{database}.workers" if schema is None else f"{database}.{schema}.workers")


def planes_folder(workers: Path) -> Path:
    """Where data planes hold theirs. Not among those of workers: who sees to a dead worker knows nothing of a plane's rows."""
    return workers / "planes"


class Grace:
    """Remembers since when the leases of living owners have looked ended."""

    def __init__(self, folder: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._folders = (folder, planes_folder(folder))
        self._monotonic = monotonic
        self._since: dict[str, dict[Stale, float]] = {}
        self._given_up: dict[str, float] = {}
        self._lock = threading.Lock()

    def give_up(self, worker: str) -> None:
        """Wait for this worker no longer: it was said to be dead. One of its name that comes later is waited for again."""
        now = self._monotonic()
        with self._lock:
            recent = {name: at for name, at in self._given_up.items() if now - at < _GIVEN_UP_FOR}
            self._given_up = {**recent, worker: now}

    def taken(self, table: str, stale: Sequence[Stale]) -> list[Stale]:
        """The rows that may be taken from their owners now."""
        now = self._monotonic()
        with self._lock:
            before = self._since.get(table, {})
            # An owner that renewed in between has another row here, and is waited for from the beginning.
            since = self._since[table] = {row: before.get(row, now) for row in stale}
        periods: dict[str, float] = {}
        return [row for row in stale if now - since[row] >= self._period(row, now, periods)]

    def _period(self, row: Stale, now: float, periods: dict[str, float]) -> float:
        """How many seconds its owner is waited for; 0 when no living worker has it."""
        if row.owner is None or row.expired_at is None or row.heartbeat_at is None:
            return 0.0
        name = row.owner.partition("#")[0]
        if now - self._given_up.get(name, -_GIVEN_UP_FOR) < _GIVEN_UP_FOR:
            return 0.0
        if name not in periods:
            # One that does not say how often it renews does so at least twice in a lease.
            half = (row.expired_at - row.heartbeat_at) / 2 / _MICROSECONDS
            heartbeat = max(heartbeat_of(folder / f"{name}.lock", unsaid=half) for folder in self._folders)
            # The heartbeat, and some time to write it down.
            periods[name] = 1.5 * heartbeat
        return periods[name]


def heartbeat_of(path: Path, *, unsaid: float) -> float:
    """How often the living worker with this lock renews its leases, in seconds; 0 when no process holds the lock.

    A file that is not there, or cannot be locked, proves nothing.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return 0.0
    try:
        # Shared, so that two who ask at once do not take one another for the worker.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.read(fd, 32).decode("ascii", "replace")
        return _seconds(said) or unsaid
    except OSError:
        return 0.0
    finally:
        os.close(fd)
    return 0.0


def _seconds(said: str) -> float:
    try:
        return max(0.0, float(said))
    except ValueError:
        return 0.0

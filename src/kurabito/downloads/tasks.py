"""The tasks of downloads, each enqueued in the transaction that is the reason for it.

take ─► downloads.dispatch ─► a downloader                cancel ─► downloads.clear ─► the downloader that has it
every minute ─► downloads.poll ─► every downloader        wait   ─► downloads.choose ─► downloads.dispatch
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection
from kurabito.downloads.reasons import DispatchCause
from kurabito.runtime import Priority, TaskState
from kurabito.runtime.delegation import DelegatedTasks

DISPATCH: Final = "downloads.dispatch"
CLEAR: Final = "downloads.clear"
CHOOSE: Final = "downloads.choose"
POLL: Final = "downloads.poll"
_AT_ONCE: Final = 5_000
_PAGE: Final = 100
# A task moves in this order, so one that moves between two questions is seen by the first or by the second.
_TO_DO: Final = (
    TaskState.RETRY_SCHEDULED,
    TaskState.QUEUED,
    TaskState.RUNNING,
    TaskState.RETRY_SCHEDULED,
    TaskState.QUEUED,
)


@dataclass(frozen=True, slots=True)
class DispatchTask:
    """Downloads to be sent, and why. No two tasks have the same ones, so they can run side by side."""

    download_ids: tuple[int, ...]
    why: str
    """A `DispatchCause`; what an earlier version asked for has a sentence."""


@dataclass(frozen=True, slots=True)
class CleanupTask:
    """A downloader at which something is left that is no longer wanted."""

    module_id: int


@dataclass(frozen=True, slots=True)
class ChooseTask:
    """A conflict whose wait is over."""

    conflict_id: int


class DownloadTasks:
    """Enqueues them."""

    def __init__(self, queue: DelegatedTasks) -> None:
        self._queue = queue

    def dispatch(self, conn: Connection, download_ids: Sequence[int], why: DispatchCause) -> None:
        """Have these sent."""
        for begin in range(0, len(download_ids), _AT_ONCE):
            part = tuple(download_ids[begin : begin + _AT_ONCE])
            self._ask(conn, DISPATCH, DispatchTask(part, why), priority=Priority.HIGH)

    async def under_way(self) -> set[int]:
        """The downloads of the dispatch tasks that are still to run, or are running."""
        found: set[int] = set()
        for state in _TO_DO:
            cursor: str | None = None
            while True:
                page = await self._queue.list(task_type=DISPATCH, state=state, limit=_PAGE, cursor=cursor)
                found.update(*(task.payload_as(DispatchTask).download_ids for task in page.items))
                if (cursor := page.next_cursor) is None:
                    break
        return found

    def clear(self, conn: Connection, module_ids: Iterable[int]) -> None:
        """Have what is left at these downloaders removed."""
        for module_id in sorted(module_ids):
            self._ask(conn, CLEAR, CleanupTask(module_id))

    def choose(self, conn: Connection, conflict_id: int, minutes: int) -> None:
        """Have a release chosen when the wait is over."""
        self._ask(conn, CHOOSE, ChooseTask(conflict_id), delay=minutes * 60.0)

    def _ask(self, conn: Connection, task_type: str, payload: object, **options: Any) -> None:
        conn.with_raw(lambda raw: self._queue.enqueue_in(raw, task_type, payload, **options))

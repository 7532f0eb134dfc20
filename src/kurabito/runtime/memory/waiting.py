"""Where tasks wait: heaps of sort keys and ids, never of tasks.

The rows are the truth. An entry whose row has moved on (cancelled, claimed, of another priority by now) is not looked
for: it is dropped when it comes to the top, or when such entries outnumber the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Final

from kurabito.runtime.memory.rows import QUEUED, RETRY_SCHEDULED, Row

Entry = tuple[int, int, str]
"""What decides first (the negated priority, or the due time), then the row's key, then its id."""

_FEW: Final = 64


class WaitingHeap(ABC):
    """Ids in the order in which they leave."""

    __slots__ = ("_records", "_stale", "entries")

    def __init__(self, records: Mapping[str, Row]) -> None:
        self._records = records
        self._stale = 0
        self.entries: list[Entry] = []

    @abstractmethod
    def rank(self, row: Row) -> int | None:
        """The row's present place in this heap; None when it does not belong here."""

    def push(self, rank: int, row: Row) -> None:
        heappush(self.entries, (rank, row.key, row.hex))

    def head(self) -> Entry | None:
        """The entry that leaves next."""
        entries, records = self.entries, self._records
        while entries:
            entry = entries[0]
            row = records.get(entry[2])
            if row is not None and self.rank(row) == entry[0]:
                return entry
            heappop(entries)
            self._stale -= 1
        return None

    def abandon(self) -> None:
        """Say that one entry is no longer true."""
        self._stale += 1
        if self._stale > _FEW and self._stale * 2 > len(self.entries):
            records = self._records
            kept = {entry for entry in self.entries if (row := records.get(entry[2])) and self.rank(row) == entry[0]}
            # In place, because a claim may hold the list; and a sorted list is a heap.
            self.entries[:] = sorted(kept)
            self._stale = 0


class ReadyHeap(WaitingHeap):
    """The queued tasks of one type: the larger priority first, then the older task."""

    __slots__ = ()

    def rank(self, row: Row) -> int | None:
        return -row.priority if row.state is QUEUED else None

    def head(self) -> Entry | None:
        # The usual case first: nothing happened to the task since it came here.
        if self.entries:
            entry = self.entries[0]
            row = self._records.get(entry[2])
            if row is not None and row.state is QUEUED and row.priority == -entry[0]:
                return entry
        return super().head()


class ScheduledHeap(WaitingHeap):
    """The tasks that wait for their time, the earliest first."""

    __slots__ = ()

    def rank(self, row: Row) -> int | None:
        return row.next_run_at if row.state is RETRY_SCHEDULED else None

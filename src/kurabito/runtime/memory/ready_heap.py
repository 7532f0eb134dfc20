"""Where tasks wait: lines and heaps of ids, never of tasks.

The rows are the truth. An entry whose row has moved on (cancelled, claimed, of another priority by now) is not looked
for: it is dropped when it comes to the front, or when such entries outnumber the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import Final

from kurabito.runtime.memory.rows import QUEUED, RETRY_SCHEDULED, TaskRow

Entry = tuple[int, int, str]
"""What decides first (the negated priority, or the due time), then the row's key, then its id."""

_FEW: Final = 64


class ReadyHeap(ABC):
    """Ids in the order in which they leave."""

    __slots__ = ("_records", "_stale")

    def __init__(self, records: Mapping[str, TaskRow]) -> None:
        self._records = records
        self._stale = 0

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def push(self, rank: int, row: TaskRow) -> None:
        """Let a row wait with this rank."""

    @abstractmethod
    def head(self) -> Entry | None:
        """The entry that leaves next."""

    @abstractmethod
    def pop(self) -> None:
        """Let the entry go that `head` has just given."""

    def abandon(self) -> None:
        """Say that one entry is no longer true."""
        self._stale += 1
        if self._stale > _FEW and self._stale * 2 > len(self):
            self._keep({entry for entry in self._entries() if self._is_true(entry)})
            self._stale = 0

    @abstractmethod
    def _is_true(self, entry: Entry) -> bool: ...

    @abstractmethod
    def _entries(self) -> Iterable[Entry]: ...

    @abstractmethod
    def _keep(self, entries: set[Entry]) -> None: ...


class ReadyTasks(ReadyHeap):
    """The queued tasks of one type: a line for each priority, first in, first out.

    A task that comes back, or is raised, may belong before the end of its line; those few are in a heap beside the lines.
    """

    __slots__ = ("_first", "_lines", "_returned")

    def __init__(self, records: Mapping[str, TaskRow]) -> None:
        super().__init__(records)
        self._lines: dict[int, deque[Entry]] = {}
        self._first: deque[Entry] = deque()
        """The line of the largest priority, once `head` has looked for it."""
        self._returned: list[Entry] = []

    def __len__(self) -> int:
        return sum(map(len, self._lines.values())) + len(self._returned)

    def push(self, rank: int, row: TaskRow) -> None:
        entry = (rank, row.key, row.hex)
        line = self._lines.get(rank)
        if line is None:
            line = self._lines[rank] = deque()
            self._lines = dict(sorted(self._lines.items()))
        if not line or line[-1] < entry:
            line.append(entry)
        else:
            heappush(self._returned, entry)

    def head(self) -> Entry | None:
        returned, records = self._returned, self._records
        while returned and not self._is_true(returned[0]):
            heappop(returned)
            self._stale -= 1
        while self._lines:
            rank, line = next(iter(self._lines.items()))
            self._first = line
            while line:
                entry = line[0]
                row = records.get(entry[2])
                # Spelled out, because nearly every task passes here.
                if row is not None and row.state is QUEUED and row.priority == -entry[0]:
                    return entry if not returned or entry < returned[0] else returned[0]
                line.popleft()
                self._stale -= 1
            del self._lines[rank]
        return returned[0] if returned else None

    def pop(self) -> None:
        if self._returned and not (self._lines and self._first[0] < self._returned[0]):
            heappop(self._returned)
        else:
            self._first.popleft()

    def _is_true(self, entry: Entry) -> bool:
        row = self._records.get(entry[2])
        return row is not None and row.state is QUEUED and row.priority == -entry[0]

    def _entries(self) -> Iterable[Entry]:
        return (*self._returned, *(entry for line in self._lines.values() for entry in line))

    def _keep(self, entries: set[Entry]) -> None:
        self._returned, self._lines = [], {}
        for entry in sorted(entries):
            self._lines.setdefault(entry[0], deque()).append(entry)


class ScheduledTasks(ReadyHeap):
    """The tasks that wait for their time, the earliest first."""

    __slots__ = ("_heap",)

    def __init__(self, records: Mapping[str, TaskRow]) -> None:
        super().__init__(records)
        self._heap: list[Entry] = []

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, rank: int, row: TaskRow) -> None:
        heappush(self._heap, (rank, row.key, row.hex))

    def head(self) -> Entry | None:
        while self._heap and not self._is_true(self._heap[0]):
            heappop(self._heap)
            self._stale -= 1
        return self._heap[0] if self._heap else None

    def pop(self) -> None:
        heappop(self._heap)

    def _is_true(self, entry: Entry) -> bool:
        row = self._records.get(entry[2])
        return row is not None and row.state is RETRY_SCHEDULED and row.next_run_at == entry[0]

    def _entries(self) -> Iterable[Entry]:
        return self._heap

    def _keep(self, entries: set[Entry]) -> None:
        # A sorted list is a heap.
        self._heap = sorted(entries)

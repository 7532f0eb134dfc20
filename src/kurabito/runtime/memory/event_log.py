"""The events of an in-memory queue: a ring of batches, each numbered."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, overload

from kurabito.clock import SECOND
from kurabito.errors import InvalidInput
from kurabito.runtime.events import FACTS, Fact

KEPT_FACTS: Final = 100_000
KEPT_FOR: Final = 3600 * SECOND
_BATCH: Final = 1000


class Facts(Sequence[Fact]):
    """The facts of one move, value after value in one list: a tuple for each would be one more thing to collect."""

    __slots__ = ("_width", "values")

    def __init__(self, name: str, values: list[Any] | None = None) -> None:
        self._width = 2 + len(FACTS[name])
        self.values: list[Any] = [] if values is None else values

    def __len__(self) -> int:
        return len(self.values) // self._width

    @overload
    def __getitem__(self, place: int) -> Fact: ...
    @overload
    def __getitem__(self, place: slice) -> list[Fact]: ...
    def __getitem__(self, place: int | slice) -> Fact | list[Fact]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = range(len(self))[place] * self._width
        return self.values[at : at + self._width]


class EventBatch(NamedTuple):
    """One move of many tasks."""

    number: int
    name: str
    at: int
    facts: Sequence[Fact]


class LogPosition(NamedTuple):
    """A place in the log: so many facts of the batch with that number were read, and all batches before it."""

    number: int
    place: int


class EventLog:
    """What happened lately. A reader that is too slow loses the oldest events, never the order."""

    def __init__(self) -> None:
        self._batches: deque[EventBatch] = deque()
        self._facts = 0
        self._last = 0

    def add(self, name: str, at: int, facts: Sequence[Fact]) -> None:
        """Write down a move."""
        count = len(facts)
        if not count:
            return
        batches = self._batches
        # In pieces, so that one huge enqueue can be forgotten bit by bit.
        for piece in [facts] if count <= _BATCH else [facts[at : at + _BATCH] for at in range(0, count, _BATCH)]:
            self._last += 1
            batches.append(EventBatch(self._last, name, at, piece))
        self._facts += count
        while self._facts > KEPT_FACTS or batches[0].at < at - KEPT_FOR:
            self._facts -= len(batches.popleft().facts)

    def end(self) -> LogPosition:
        """The place after everything that happened so far."""
        return LogPosition(self._last + 1, 0)

    def after(self, cursor: str) -> LogPosition:
        """The place after the event that has this cursor."""
        number, dot, place = str(cursor).partition(".")
        if not (dot and _is_number(number) and _is_number(place)) or int(number) > self._last:
            raise InvalidInput("after", f"is not the cursor of an event ({cursor!r}); begin again without it")
        return LogPosition(int(number), int(place))

    def since(self, position: LogPosition) -> list[EventBatch]:
        """The batches from this place on."""
        found = []
        for batch in reversed(self._batches):
            if batch.number < position.number:
                break
            found.append(batch)
        return found[::-1]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20

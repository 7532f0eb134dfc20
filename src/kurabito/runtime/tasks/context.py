"""What a handler knows about the task it runs, and what it may say meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, Literal, Unpack
from uuid import UUID

from kurabito.errors import InvalidInput, LeaseLost
from kurabito.logs import get_logger
from kurabito.runtime.model import Progress, TaskOptions
from kurabito.runtime.outcomes import Claim, Success
from kurabito.runtime.tasks.intake import MAX_PAYLOAD, PreparedTask, prepare

_log = get_logger("kurabito.runtime.task")


_LARGEST: Final = 2**63 - 1
"""What the databases hold."""

StopReason = Literal["lost", "shutdown", "time"]


class Accepted:
    """What `report` and `enqueue` return: done already, so an async handler may await it and need not.

    Awaiting it gives the follow-up's id, or None after a report.
    """

    __slots__ = ("id",)

    def __init__(self, task_id: UUID | None = None) -> None:
        self.id = task_id

    def __await__(self) -> Generator[None, None, UUID | None]:
        return self.id
        yield


_SAID = Accepted()
_NOTHING = Success()


class TaskContext:
    """Given to a handler that asks for it. Every method is quick and safe in any thread."""

    __slots__ = ("_follow_ups", "_max_payload", "_news", "_tell_news", "claim", "heeded", "told_to_stop")

    def __init__(
        self, claim: Claim, max_payload: int = MAX_PAYLOAD, tell_news: Callable[[], object] = lambda: None
    ) -> None:
        self.claim = claim
        self._max_payload = max_payload
        self._follow_ups: list[PreparedTask] | None = None
        self._news: Progress | None = None
        self._tell_news = tell_news
        self.told_to_stop: StopReason | None = None
        self.heeded = False
        """The handler was told to stop and saw it, so what it returned may not be its whole work."""

    @property
    def task_id(self) -> UUID:
        return self.claim.id

    @property
    def task_type(self) -> str:
        return self.claim.task_type

    @property
    def attempt(self) -> int:
        """1 on the first execution."""
        return self.claim.attempt

    @property
    def progress(self) -> Progress | None:
        """What was reported last, also by an execution before this one: a handler resumes from it."""
        return self.claim.progress

    @property
    def cancelled(self) -> bool:
        """True once the task was cancelled, ran out of time or lost its lease: a plain `def` looks at it and returns."""
        self.heeded = self.told_to_stop is not None
        return self.heeded

    def raise_if_cancelled(self) -> None:
        """Raise LeaseLost once `cancelled` is true: the short way out of a plain `def`."""
        if self.cancelled:
            raise LeaseLost(f"task {self.task_id} is no longer this worker's: it was cancelled, or its time is over")

    @property
    def logger(self) -> Any:
        """A logger that names the task in every line."""
        return _log.bind(task_id=str(self.task_id), task_type=self.task_type, attempt=self.attempt)

    def report(self, done: int, total: int | None = None) -> Accepted:
        """Say how far the work is. Call it as often as you like: it is written a few times a second."""
        progress_now = Progress(_whole("done", done), None if total is None else _whole("total", total, ", or None"))
        first = self._news is None
        self.claim.progress = self._news = progress_now
        if first:
            self._tell_news()
        return _SAID

    def enqueue(self, task_type: str, payload: Any = None, **options: Unpack[TaskOptions]) -> Accepted:
        """Ask for a follow-up task. It is stored together with this task's success, or not at all."""
        prepared = prepare(task_type, payload, self._max_payload, **options)
        if self._follow_ups is None:
            self._follow_ups = []
        self._follow_ups.append(prepared)
        return Accepted(prepared.id)

    def take_progress(self) -> Progress | None:
        """The progress reported since this was last asked."""
        news, self._news = self._news, None
        return news

    def success(self, result: bytes | None) -> Success:
        """The outcome of a handler that returned."""
        if self._follow_ups:
            return Success(result, tuple(self._follow_ups))
        return _NOTHING if result is None else Success(result)


def _whole(field: str, value: Any, otherwise: str = "") -> int:
    """The number as a plain int, which is what a database knows; a class of the user's own may say anything of itself."""
    plain = int.__int__(value) if isinstance(value, int) else -1
    if not 0 <= plain <= _LARGEST:
        raise InvalidInput(field, f"must be an int from 0 to {_LARGEST}{otherwise}, got {_shown(value)}")
    return plain


def _shown(value: Any) -> str:
    """A value in an error; Python refuses to write out an int of thousands of digits."""
    return f"one of {value.bit_length()} bits" if isinstance(value, int) and value > _LARGEST else repr(value)

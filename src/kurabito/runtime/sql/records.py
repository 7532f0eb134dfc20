"""From rows to what the port speaks of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple, overload
from uuid import UUID

from kurabito.clock import optional_datetime, to_datetime
from kurabito.runtime.model import DEFAULT_ATTEMPTS, AttemptError, Progress, TaskEnvelope, TaskRecord, WorkerRecord
from kurabito.runtime.outcomes import Claim, worker_name
from kurabito.runtime.states import WAITING, TaskState, state_of
from kurabito.runtime.tasks import payloads
from kurabito.runtime.tasks.intake import PreparedTask, due_at


class StoredTask(NamedTuple):
    """A row of `tasks`, in the columns that a record is made of."""

    seq: int
    id: Any
    task_type: str
    payload: bytes
    content_type: str
    state: str
    priority: int
    unique_key: str | None
    attempts: int
    max_attempts: int | None
    lost_leases: int
    progress_done: int | None
    progress_total: int | None
    result: bytes | None
    last_error: str | None
    errors: Any
    next_run_at: int | None
    created_at: int
    updated_at: int
    started_at: int | None
    finished_at: int | None
    lease_expires_at: int | None
    worker_id: str | None


class LeasedTask(NamedTuple):
    """A row of `tasks`, in the columns that the lease engine returns."""

    seq: int
    id: Any
    task_type: str
    payload: bytes
    content_type: str
    attempts: int
    max_attempts: int | None
    lease_expires_at: int
    priority: int
    progress_done: int | None
    progress_total: int | None
    lost_leases: int
    state: str
    last_error: str | None


RECORD: Final = ", ".join(StoredTask._fields)


def record_of(row: StoredTask) -> TaskRecord:
    """A row as a record; what is not understood is named in it and breaks no list."""
    try:
        return _understood(row)
    except Exception:  # noqa: BLE001 - whatever another version or a person wrote there
        return _salvaged(row)


def _understood(row: StoredTask) -> TaskRecord:
    stored, result_type = (None, payloads.JSON) if row.result is None else payloads.split_result(row.result)
    return TaskRecord(
        id=_uuid(row.id),
        envelope=TaskEnvelope(row.task_type, bytes(row.payload), row.content_type),
        state=TaskState(row.state),
        priority=row.priority,
        unique_key=row.unique_key,
        attempts=row.attempts,
        max_attempts=row.max_attempts or DEFAULT_ATTEMPTS,
        lost_leases=row.lost_leases,
        progress=_progress(row.progress_done, row.progress_total),
        result=payloads.plain(stored, result_type),
        stored_result=stored,
        result_content_type=result_type,
        last_error=row.last_error,
        next_run_at=optional_datetime(row.next_run_at),
        created_at=to_datetime(row.created_at),
        updated_at=to_datetime(row.updated_at),
        started_at=optional_datetime(row.started_at),
        finished_at=optional_datetime(row.finished_at),
        lease_expires_at=optional_datetime(row.lease_expires_at),
        worker=worker_name(row.worker_id),
        errors=_errors(row.errors),
    )


def _salvaged(row: StoredTask) -> TaskRecord:
    """The record of a row with columns that make no sense here."""
    values = row._asdict()
    broken = [name for name, (read, _) in _DOUBTFUL.items() if not _can(read, values[name])]
    harmless = row._replace(**{name: _DOUBTFUL[name][1] for name in broken})
    record = replace(_understood(harmless), unreadable=tuple(broken))
    if "state" in broken:
        record = replace(record, state=state_of(str(values["state"])))
    if "result" in broken:
        kept = values["result"]
        record = replace(record, result=kept, stored_result=kept, result_content_type=payloads.BYTES)
    return record


def _can(read: Callable[[Any], object], value: Any) -> bool:
    try:
        read(value)
    except Exception:  # noqa: BLE001 - that it cannot be read is the answer
        return False
    return True


def claim_of(row: LeasedTask, owner: str) -> Claim:
    """A row that the lease engine returned, as a claim."""
    return Claim(
        row.seq,
        hex_of(row.id),
        row.task_type,
        row.payload,
        row.content_type,
        row.attempts,
        row.max_attempts,
        owner,
        row.lease_expires_at,
        _progress(row.progress_done, row.progress_total),
        row.lost_leases,
    )


def marked(record: TaskRecord, living_types: frozenset[str]) -> TaskRecord:
    """The record, marked when it waits for a type that no living worker runs."""
    if record.state in WAITING and record.envelope.task_type not in living_types:
        return replace(record, no_worker=True)
    return record


def types_among(listed: Iterable[str]) -> frozenset[str]:
    """All the types in the lists that workers wrote about themselves."""
    return frozenset(name for types in listed for name in json.loads(types))


def record_of_new(task: PreparedTask, now: int) -> TaskRecord:
    """A task as it was stored at this moment."""
    due = due_at(task, now)
    return TaskRecord(
        id=task.id,
        envelope=TaskEnvelope(task.task_type, task.payload, task.content_type),
        state=TaskState.QUEUED if due is None else TaskState.RETRY_SCHEDULED,
        priority=task.priority,
        unique_key=task.unique_key,
        attempts=0,
        max_attempts=task.max_attempts or DEFAULT_ATTEMPTS,
        lost_leases=0,
        progress=None,
        result=None,
        last_error=None,
        next_run_at=optional_datetime(due),
        created_at=to_datetime(now),
        updated_at=to_datetime(now),
    )


def worker_of(name: str, task_types: str, concurrency: int, started: int, heard: int) -> WorkerRecord:
    """A row of `task_workers` as a record."""
    return WorkerRecord(name, tuple(json.loads(task_types)), concurrency, to_datetime(started), to_datetime(heard))


class StoredRecords(Sequence[TaskRecord]):
    """The records of many tasks that were stored, each made when it is looked at: most are not."""

    def __init__(self, tasks: Sequence[PreparedTask]) -> None:
        self._tasks = tasks
        self._moments = [0] * len(tasks)
        self._found: dict[str, TaskRecord] = {}
        self.living_types: frozenset[str] = frozenset()

    def note(self, start: int, count: int, moment: int, found: Mapping[str, TaskRecord]) -> None:
        """Say when these were stored, and what the unique keys among them led to."""
        self._moments[start : start + count] = [moment] * count
        self._found.update(found)

    def __len__(self) -> int:
        return len(self._tasks)

    @overload
    def __getitem__(self, place: int) -> TaskRecord: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[TaskRecord]: ...
    def __getitem__(self, place: int | slice) -> TaskRecord | Sequence[TaskRecord]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        task = self._tasks[place]
        if task.unique_key is not None:
            return marked(self._found[task.unique_key], self.living_types)
        return marked(record_of_new(task, self._moments[place]), self.living_types)

    def __iter__(self) -> Iterator[TaskRecord]:
        return (self[place] for place in range(len(self)))


def hex_of(task_id: Any) -> str:
    """An id as stored (bytes in SQLite, a UUID from PostgreSQL) in hex."""
    found: str = task_id.hex() if isinstance(task_id, bytes) else task_id.hex
    return found


def _uuid(task_id: Any) -> UUID:
    return UUID(bytes=task_id) if isinstance(task_id, bytes) else task_id


def _progress(done: int | None, total: int | None) -> Progress | None:
    return None if done is None else Progress(done, total)


def moment_of(moment: int) -> datetime:
    """A stored moment; one that no calendar has is shown as the beginning of time."""
    try:
        return to_datetime(moment)
    except (ValueError, OverflowError):
        return to_datetime(0)


def _errors(stored: str | list[dict[str, Any]] | None) -> tuple[AttemptError, ...]:
    if stored is None:
        return ()
    listed = json.loads(stored) if isinstance(stored, str) else stored
    return tuple(
        AttemptError(entry["attempt"], to_datetime(entry["at"]), entry["error"], entry.get("traceback"))
        for entry in listed
    )


_DOUBTFUL: Final[dict[str, tuple[Callable[[Any], object], Any]]] = {
    "payload": (bytes, b""),
    "state": (TaskState, TaskState.DEAD.value),
    "result": (lambda stored: stored is None or payloads.plain(*payloads.split_result(stored)), None),
    "errors": (_errors, None),
    "next_run_at": (optional_datetime, None),
    "created_at": (to_datetime, 0),
    "updated_at": (to_datetime, 0),
    "started_at": (optional_datetime, None),
    "finished_at": (optional_datetime, None),
    "lease_expires_at": (optional_datetime, None),
}
"""The columns that may hold what is not understood: how each is read, and what stands in for it."""

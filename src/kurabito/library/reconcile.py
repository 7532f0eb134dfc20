"""Keeps tasks and jobs consistent.

A task is what the control plane was asked for, a job is the disk work for it, and the job alone holds a lease. Whatever
happens to either, this brings the other along, in this order:

1. a task whose job is finished is finished; a job whose task is over is cancelled; a scan whose job is over has ended
2. a hash makes way for a requested scan
3. a job that lost its worker goes back to pending, if no other has the slot
4. if the slot is free, the first task that waits gets a job

Each step is a transaction that looks first, so that it may be done at any time, twice, and in several processes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from kurabito.clock import from_datetime
from kurabito.db import leases
from kurabito.library import hashes, jobs, libraries
from kurabito.library.jobs import Job
from kurabito.library.scans import sessions
from kurabito.library.scans.sessions import ScanSession
from kurabito.library.tasks import HASH, SCAN, TASK_TYPES, library_of
from kurabito.protocol.enums import SLOT_KINDS, JobKind, JobStatus
from kurabito.protocol.leased.jobs import JOBS
from kurabito.runtime import Priority, TaskRecord
from kurabito.runtime.delegation import TaskSnapshot, TaskTransaction
from kurabito.runtime.model import Progress
from kurabito.runtime.outcomes import Failure, Outcome, Released, Success
from kurabito.runtime.tasks.followups import FollowUp
from kurabito.runtime.tasks.intake import PreparedTask, prepare

OWNER: Final = "library"
"""Under this name the tasks run."""
_KINDS: Final = {SCAN: JobKind.SCAN, HASH: JobKind.HASH}


class FolderMatcher(Protocol):
    """Matches new folders with shows, offline."""

    async def match(self, library_id: int, job_id: str) -> int:
        """Match what this scan added; how many folders are left without a match. Safe to do twice."""
        ...


class NoMatcher:
    """Matches nothing, and leaves nothing behind."""

    async def match(self, library_id: int, job_id: str) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class Situation:
    """What there is to bring together at one moment."""

    running: Mapping[UUID, TaskRecord]
    active: Sequence[Job]
    waiting: Sequence[TaskRecord]
    has_abandoned_scan: bool
    """Whether the session of some scan runs on although its job is over."""
    now: int

    @property
    def slot_is_free(self) -> bool:
        return not any(job.has_slot for job in self.active)

    @property
    def without_job(self) -> list[TaskRecord]:
        """Running tasks whose job is finished, or gone."""
        at_work = {job.task_id for job in self.active}
        return [task for task_id, task in self.running.items() if task_id not in at_work]

    @property
    def without_task(self) -> list[Job]:
        """Scans and hashes whose task is over: cancelled, or forgotten. Jobs of other kinds are others' to see to."""
        ours = [job for job in self.active if job.kind in SLOT_KINDS and job.task_id is not None]
        return [job for job in ours if job.task_id not in self.running]

    @property
    def to_take_out(self) -> list[Job]:
        """Jobs that lost their worker and may go on: one for the slot, and all that need none."""
        lost = [job for job in self.active if job.status is JobStatus.RETRYABLE and job.may_run]
        for_slot = [job for job in lost if job.kind in SLOT_KINDS]
        return [job for job in lost if job not in for_slot] + (for_slot[:1] if self.slot_is_free else [])

    @property
    def in_the_way(self) -> Job | None:
        """The hash that has the slot while a requested scan waits."""
        first = self.waiting[0] if self.waiting else None
        if first is None or first.task_type != SCAN or first.priority < Priority.HIGH:
            return None
        # A scan requested as a job counts as requested, too.
        hashing = (job for job in self.active if job.has_slot and job.kind is JobKind.HASH)
        return next((job for job in hashing if job.task_id in self.running), None)

    @property
    def is_stale(self) -> bool:
        """Whether the lease of some running job is over."""
        leased = [job.lease_expires_at for job in self.active if job.status is JobStatus.RUNNING]
        return any(expires is None or from_datetime(expires) <= self.now for expires in leased)

    @property
    def is_in_order(self) -> bool:
        """Whether there is nothing to do."""
        moves = (
            self.without_job,
            self.without_task,
            self.in_the_way,
            self.to_take_out,
            self.slot_is_free and self.waiting,
        )
        return not self.is_stale and not self.has_abandoned_scan and not any(moves)


def observe(overview: TaskSnapshot) -> Situation:
    """Read the current situation."""
    return Situation(
        running={task.id: task for task in overview.running(TASK_TYPES)},
        active=jobs.active(overview.conn),
        waiting=overview.waiting(TASK_TYPES),
        has_abandoned_scan=sessions.has_abandoned(overview.conn),
        now=overview.conn.now(),
    )


def unmatched(overview: TaskSnapshot, situation: Situation) -> list[tuple[int, str]]:
    """The finished scans whose folders need matching: library and job of each."""
    done = [jobs.of_task(overview.conn, task.id) for task in situation.without_job if task.task_type == SCAN]
    return [
        (job.library_id, job.id)
        for job in done
        if job is not None and job.library_id is not None and job.status is JobStatus.COMPLETED
    ]


def reconcile(tasks: TaskTransaction, unmatched_folders: Mapping[str, int], follow_ups: Sequence[FollowUp]) -> bool:
    """Do the work that is due; whether something changed. A scan is finished only once its folders were matched."""
    conn = tasks.conn
    jobs.lock_jobs(conn)
    moved = bool(leases.recover(conn, JOBS))
    situation = observe(tasks)
    for task in situation.without_job:
        job = jobs.of_task(conn, task.id)
        moved |= _finish(tasks, task, job, unmatched_folders, follow_ups)
    for job in situation.without_task:
        moved |= jobs.cancel(conn, job.id)
    moved |= sessions.end_abandoned(conn)
    situation = observe(tasks)
    if (hashing := situation.in_the_way) is not None:
        moved |= _give_way(tasks, hashing)
        situation = observe(tasks)
    for job in situation.to_take_out:
        jobs.requeue_or_fail(conn, job)
        tasks.wake()
        moved = True
    situation = observe(tasks)
    if situation.slot_is_free and situation.waiting:
        moved |= admit(tasks, situation.waiting[0])
    return moved


def _give_way(tasks: TaskTransaction, hashing: Job) -> bool:
    """Stop a hash, and queue its task behind the others. Its worker keeps what it read of a large file."""
    assert hashing.task_id is not None
    if not jobs.give_way(tasks.conn, hashing.id, "a requested scan goes first"):
        return False
    tasks.settle(hashing.task_id, Released())
    return True


def admit(tasks: TaskTransaction, task: TaskRecord) -> bool:
    """Give a waiting task its job; false when it waits no longer."""
    if not tasks.start(task.id, OWNER):
        return False
    library_id = library_of(task)
    if library_id is None:
        reason = 'its payload does not say which library: it must be like {"library_id": 1}'
        tasks.settle(task.id, Failure(reason, permanent=True))
    elif libraries.is_leaving(tasks.conn, library_id):
        tasks.settle(task.id, Failure(f"library {library_id} is being removed", permanent=True))
    else:
        jobs.insert(tasks.conn, _KINDS[task.task_type], library_id, task.id)
    return True


def report_progress(tasks: TaskTransaction) -> None:
    """Report the progress of the scans to their tasks."""
    for task in tasks.running((SCAN,)):
        progress = progress_of(sessions.of_task(tasks.conn, task.id))
        if progress is not None:
            tasks.report(task.id, progress)


def has_progress(overview: TaskSnapshot) -> bool:
    """Whether a scan has made more progress than its task tells."""
    scans = [(task, progress_of(sessions.of_task(overview.conn, task.id))) for task in overview.running((SCAN,))]
    return any(progress is not None and progress != task.progress for task, progress in scans)


def progress_of(session: ScanSession | None) -> Progress | None:
    """The progress of a scan; None while the total is unknown."""
    if session is None or session.total_paths is None:
        return None
    return Progress(session.scanned_paths, session.total_paths)


def _finish(
    tasks: TaskTransaction,
    task: TaskRecord,
    job: Job | None,
    unmatched_folders: Mapping[str, int],
    follow_ups: Sequence[FollowUp],
) -> bool:
    """Write on a task how its job ended; false when that has to wait."""
    if job is not None and job.status is JobStatus.CANCELLED:
        tasks.cancel(task.id)
        return True
    if job is None:
        outcome: Outcome = Failure("its job is gone: it was removed or reset", permanent=True)
    elif job.status is not JobStatus.COMPLETED:
        outcome = Failure(f"{job.error_code}: {job.error_message}", permanent=True)
    elif job.kind is JobKind.HASH:
        outcome = hashes.outcome_of(tasks.conn, job)
    elif job.id in unmatched_folders:
        outcome = _scanned(tasks, task, job, unmatched_folders[job.id], follow_ups)
    else:
        return False
    tasks.settle(task.id, outcome)
    return True


def _scanned(
    tasks: TaskTransaction, task: TaskRecord, job: Job, failed_scrapes: int, follow_ups: Sequence[FollowUp]
) -> Outcome:
    assert job.library_id is not None
    libraries.note_scan(tasks.conn, job.library_id)
    session = sessions.of_job(tasks.conn, job.id)
    if (progress := progress_of(session)) is not None:
        tasks.report(task.id, progress)
    result: dict[str, Any] = {
        "library_id": job.library_id,
        "added_count": session.added_count if session else 0,
        "removed_count": session.removed_count if session else 0,
        "failed_scrape_count": failed_scrapes,
    }
    if session is not None and session.error_count:
        result["left_out"] = {"count": session.error_count, "message": session.error_message}
    return Success(_encoded(result), tuple(_following(SCAN, result, follow_ups)))


def _following(task_type: str, result: Mapping[str, Any], follow_ups: Sequence[FollowUp]) -> list[PreparedTask]:
    return [
        prepare(
            link.then,
            payload,
            priority=link.priority,
            unique_key=None if link.unique_key is None else link.unique_key(payload),
        )
        for link in follow_ups
        if link.after == task_type
        for payload in link.payloads(result)
    ]


def _encoded(result: Mapping[str, Any]) -> bytes:
    return json.dumps(result).encode()

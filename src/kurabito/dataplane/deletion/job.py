"""`delete` jobs: each step of a plan is checked against the disk, written down, taken, and written down again.

    check    both files opened, compared to the last byte      (nothing stored)
    intent   in a transaction that holds only with the lease   (what is about to be done, and under which name in the trash)
    act      one removal, which puts back what should have stayed
    outcome  done, or refused and why                          (with what it means for the file)

A crash after the intent is found by the worker that takes the job next, or by any other delete job. It looks at the disk, puts
back what was half done, and begins the step again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kurabito.dataplane.deletion import log
from kurabito.dataplane.deletion.discards import discard
from kurabito.dataplane.deletion.steps import StepExecution
from kurabito.dataplane.deletion.trash import purge, restore, settle_abandoned
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.removal.file_refs import RemovalRefused
from kurabito.protocol.error_codes import ErrorCode

Leave = Callable[[LeasedJob, int, str], RemovalRefused | None]
"""Has an entry leave the trash; why it did not, if it did not."""


def delete(job: LeasedJob) -> None:
    """Do a `delete` job."""
    settle_abandoned(job)
    match job.payload:
        case {"plan": int(plan_id)}:
            _take_steps(job, plan_id)
        case {"discard": [*files]}:
            _discard_all(job, files)
        case {"restore": [*entries]}:
            refusals = _each(job, entries, restore)
            if refusals:
                # The keeper who asked for it looks at the job.
                raise JobFailed(refusals[0].error_code, str(refusals[0]))
        case {"purge": [*entries]}:
            _refuse_unless_allowed(job)
            _each(job, entries, purge)
        case _:
            raise JobFailed(
                ErrorCode.WORKER_FAILURE, "the job's payload names neither a plan nor files nor entries of the trash"
            )


def _each(job: LeasedJob, entries: list[str], act: Leave) -> list[RemovalRefused]:
    refusals = []
    for position, entry_id in enumerate(entries, start=1):
        job.check()
        if (refused := act(job, position, entry_id)) is not None:
            refusals.append(refused)
        job.report(position, position / len(entries))
    return refusals


def _discard_all(job: LeasedJob, files: list[Any]) -> None:
    for position, file in enumerate(files, start=1):
        _refuse_unless_allowed(job)
        job.check()
        discard(job, position, file)
        job.report(position, position / len(files))


def _take_steps(job: LeasedJob, plan_id: int) -> None:
    plan = job.read(lambda conn: log.plan_of(conn, plan_id))
    if plan is None:
        raise JobFailed(ErrorCode.WORKER_FAILURE, f"there is no plan {plan_id}")
    mode, total = plan
    processed, after = job.read(lambda conn: log.count_settled(conn, job.id)), 0
    while (step := job.read(lambda conn: log.next_step(conn, job.id, plan_id, after))) is not None:  # noqa: B023
        if not job.dry_run:
            _refuse_unless_allowed(job)
        job.check()
        StepExecution(job, plan_id, mode, step).take()
        processed, after = processed + 1, step.position
        job.report(processed, processed / total)


def _refuse_unless_allowed(job: LeasedJob) -> None:
    """Stop at once when the keeper switched removing off, also in the middle of a plan."""
    if not job.read(log.may_remove):
        raise JobFailed(
            ErrorCode.DELETION_NOT_ALLOWED,
            "nothing is removed while allow_delete is off; switch it on, then reset this job or make another plan",
        )

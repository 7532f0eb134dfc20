"""What a task waits for, and errors that are ours."""

from __future__ import annotations

from kurabito.clock import ManualClock
from kurabito.reasons import Reason
from kurabito.runtime import TaskRecord, open_queue
from kurabito.runtime.outcomes import Failure, lost_lease_error, worker_lost_error
from kurabito.runtime.port import Presence
from kurabito.runtime.reasons import LostReason, WaitReason, lost_worker, waits_for


async def _task(*, worker: bool = True, delay: float | None = None, failed: bool = False) -> TaskRecord:
    async with open_queue("memory://", clock=ManualClock()) as queue:
        if worker:
            queue.work.heartbeat([], presence=Presence("w", ("mail",), 1))
        task = await queue.enqueue("mail", delay=delay)
        if failed:
            claimed = await queue.work.claim("w", {"mail": 1}, 1)
            await queue.work.settle([(claimed.tasks[0], Failure("boom", retry_in=60.0, max_attempts=3))])
        return await queue.get(task.id)


async def test_a_queued_task_is_in_line_or_has_nobody_to_run_it() -> None:
    assert waits_for(await _task()) == [Reason(WaitReason.IN_LINE)]
    assert waits_for(await _task(worker=False)) == [Reason(WaitReason.NO_WORKER)]


async def test_a_scheduled_task_is_due_and_a_failed_one_is_tried_again() -> None:
    task = await _task(delay=180)
    assert waits_for(task) == [Reason(WaitReason.DUE, {"when": task.next_run_at})]
    task = await _task(failed=True)
    assert waits_for(task) == [Reason(WaitReason.RETRY, {"attempt": 2, "most": 3, "when": task.next_run_at})]
    task = await _task(delay=180, worker=False)
    assert [reason.code for reason in waits_for(task)] == [WaitReason.NO_WORKER, WaitReason.DUE]


def test_the_runtime_s_own_errors_are_known_and_a_handler_s_are_not() -> None:
    worker = {"worker": "nas-1"}
    assert lost_worker(lost_lease_error("nas-1#secret")) == Reason(LostReason.LEASE_EXPIRED, worker)
    assert lost_worker(worker_lost_error("nas-1#secret")) == Reason(LostReason.WORKER_LOST, worker)
    for text in ("ValueError: LEASE_EXPIRED: worker x stopped renewing", "LEASE_EXPIRED: worker", "", "boom"):
        assert lost_worker(text) is None

"""What becomes of a task, by what its handler does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import (
    Fixed,
    PermanentError,
    Queue,
    Registry,
    Snooze,
    TaskContext,
    TaskRecord,
    TaskState,
    Worker,
    open_queue,
)


@dataclass(frozen=True)
class Email:
    to: str
    copies: int = 1


@dataclass(frozen=True)
class Receipt:
    to: str
    sent: int


async def finished(queue: Queue, registry: Registry, task: TaskRecord, **options: Any) -> TaskRecord:
    async with Worker(queue, registry, **options):
        return await queue.wait(task.id, timeout=PATIENCE)


async def test_a_handler_gets_its_payload_typed_and_its_result_is_kept(queue: Queue) -> None:
    registry = Registry()
    seen = []

    @registry.task("send")
    async def send(email: Email, ctx: TaskContext) -> Receipt:
        seen.append((email, ctx.task_id, ctx.task_type, ctx.attempt))
        return Receipt(email.to, email.copies)

    task = await queue.enqueue("send", Email("a@b", 3))
    done = await finished(queue, registry, task)
    assert seen == [(Email("a@b", 3), task.id, "send", 1)]
    assert done.state is TaskState.SUCCEEDED
    assert done.result_as(Receipt) == Receipt("a@b", 3)
    assert done.result == {"to": "a@b", "sent": 3}


async def test_a_handler_that_returns_nothing_has_no_result(queue: Queue) -> None:
    registry = Registry()

    @registry.task
    async def nothing() -> None:
        """Takes neither payload nor context."""

    assert (await finished(queue, registry, await queue.enqueue("nothing", {"ignored": True}))).result is None


async def test_a_failed_attempt_is_tried_again_after_what_the_policy_says(queue: Queue) -> None:
    registry = Registry()
    asked: list[tuple[int, str]] = []

    def policy(attempt: int, error: BaseException) -> float:
        asked.append((attempt, str(error)))
        return 0.01

    @registry.task("shaky", retry=policy, max_attempts=3)
    async def shaky(ctx: TaskContext) -> str:
        if ctx.attempt < 3:
            raise ValueError(f"attempt {ctx.attempt}")
        return "at last"

    done = await finished(queue, registry, await queue.enqueue("shaky"))
    assert (done.result, done.attempts, done.max_attempts) == ("at last", 3, 3)
    assert asked == [(1, "attempt 1"), (2, "attempt 2")]
    assert [error.error for error in done.errors] == ["ValueError: attempt 1", "ValueError: attempt 2"]


async def test_the_last_attempt_that_fails_makes_the_task_dead(queue: Queue) -> None:
    registry = Registry()

    @registry.task("hopeless", retry=Fixed(0.0), max_attempts=5)
    async def hopeless() -> None:
        raise ValueError("no")

    done = await finished(queue, registry, await queue.enqueue("hopeless", max_attempts=2))
    assert (done.state, done.attempts, done.last_error) == (TaskState.DEAD, 2, "ValueError: no")


async def test_a_permanent_error_is_not_tried_again(queue: Queue) -> None:
    registry = Registry()

    @registry.task("wrong")
    def wrong() -> None:
        raise PermanentError("there is no such address")

    done = await finished(queue, registry, await queue.enqueue("wrong"))
    assert (done.state, done.attempts) == (TaskState.DEAD, 1)
    assert "there is no such address" in (done.last_error or "")


@pytest.mark.parametrize("raised", [True, False])
async def test_a_snoozed_task_runs_again_and_the_attempt_is_not_counted(queue: Queue, raised: bool) -> None:
    registry = Registry()
    attempts = []

    @registry.task("patient", max_attempts=1)
    async def patient(ctx: TaskContext) -> Snooze | str:
        attempts.append(ctx.attempt)
        if len(attempts) == 3:
            return "now"
        if raised:
            raise Snooze(0.01)
        return Snooze(0.01)

    done = await finished(queue, registry, await queue.enqueue("patient"))
    assert (done.state, done.result, done.attempts, done.errors) == (TaskState.SUCCEEDED, "now", 1, ())
    assert attempts == [1, 1, 1]


async def test_a_payload_that_does_not_decode_makes_the_task_dead_at_once(queue: Queue) -> None:
    registry = Registry()

    @registry.task("send")
    async def send(_email: Email) -> None:
        raise AssertionError("must not run")

    done = await finished(queue, registry, await queue.enqueue("send", {"to": "a@b", "copies": "many"}))
    assert (done.state, done.attempts) == (TaskState.DEAD, 1)
    assert "copies" in (done.last_error or "")


async def test_a_type_that_is_claimed_without_a_handler_is_dead_at_once_and_says_so(queue: Queue) -> None:
    done = await finished(queue, Registry(), await queue.enqueue("unknown"), task_types=["unknown"])
    assert (done.state, done.attempts) == (TaskState.DEAD, 1)
    assert done.last_error == "no handler is registered for 'unknown' in the worker that claimed it"


async def test_a_type_that_no_worker_runs_waits(queue: Queue) -> None:
    registry = Registry()

    @registry.task
    async def known() -> None:
        """Runs."""

    waiting = await queue.enqueue("unknown")
    await finished(queue, registry, await queue.enqueue("known"))
    assert (await queue.get(waiting.id)).state is TaskState.QUEUED


async def test_a_result_that_cannot_be_kept_makes_the_task_dead_and_says_that_the_work_was_done(queue: Queue) -> None:
    registry = Registry()

    @registry.task
    async def odd() -> object:
        return object()

    done = await finished(queue, registry, await queue.enqueue("odd"))
    assert (done.state, done.attempts) == (TaskState.DEAD, 1)
    assert "did its work, but its result cannot be kept" in (done.last_error or "")


async def test_a_result_over_the_limit_makes_the_task_dead(url: str) -> None:
    registry = Registry()

    @registry.task
    async def chatty() -> str:
        return "x" * 2000

    async with open_queue(url, max_payload=1000) as queue:
        done = await finished(queue, registry, await queue.enqueue("chatty"))
    assert done.state is TaskState.DEAD
    assert "2,002 bytes, over the limit of 1,000" in (done.last_error or "")


@pytest.mark.parametrize("threaded", [True, False])
async def test_a_handler_that_wants_to_end_the_program_fails_and_the_worker_goes_on(
    queue: Queue, threaded: bool
) -> None:
    registry = Registry()

    async def leave() -> None:
        raise SystemExit(3)

    def leave_in_thread() -> None:
        raise SystemExit(3)

    registry.task("leave", max_attempts=2, retry=Fixed(0.0))(leave_in_thread if threaded else leave)

    @registry.task
    async def stay() -> str:
        return "here"

    task = await queue.enqueue("leave")
    async with Worker(queue, registry):
        done = await queue.wait(task.id, timeout=PATIENCE)
        after = await queue.wait((await queue.enqueue("stay")).id, timeout=PATIENCE)
    assert (done.state, done.attempts, done.last_error) == (TaskState.DEAD, 2, "SystemExit: 3")
    assert after.result == "here"


async def test_a_retry_policy_that_fails_makes_the_task_dead_with_both_errors(queue: Queue) -> None:
    registry = Registry()

    def policy(_attempt: int, _error: BaseException) -> float:
        raise ZeroDivisionError("policy")

    @registry.task("bad", retry=policy)
    async def bad() -> None:
        raise ValueError("handler")

    done = await finished(queue, registry, await queue.enqueue("bad"))
    assert done.state is TaskState.DEAD
    assert done.last_error == "ValueError: handler; and its retry policy raised ZeroDivisionError: policy"


async def test_follow_ups_are_stored_with_the_success_of_the_task_that_asked_for_them(queue: Queue) -> None:
    registry = Registry()

    @registry.task("parent")
    async def parent(ctx: TaskContext) -> None:
        _ = ctx.enqueue("child", {"n": 1})
        await ctx.enqueue("child", {"n": 2}, priority=5)

    @registry.task("child")
    async def child(wanted: dict[str, int]) -> int:
        return wanted["n"]

    async with Worker(queue, registry):
        await queue.wait((await queue.enqueue("parent")).id, timeout=PATIENCE)
        children = (await queue.list(task_type="child")).items
        results = {(await queue.wait(task.id, timeout=PATIENCE)).result for task in children}
    assert results == {1, 2}


async def test_follow_ups_of_a_failed_or_snoozed_attempt_are_not_stored(queue: Queue) -> None:
    registry = Registry()

    @registry.task("parent", max_attempts=1)
    async def parent(how: str, ctx: TaskContext) -> None:
        await ctx.enqueue("child")
        if how == "fails":
            raise ValueError("no")
        if how == "snoozes":
            raise Snooze(3600.0)

    failing, snoozing = await queue.enqueue("parent", "fails"), await queue.enqueue("parent", "snoozes")
    async with Worker(queue, registry):
        await queue.wait(failing.id, timeout=PATIENCE)
    assert (await queue.get(snoozing.id)).state in (TaskState.RETRY_SCHEDULED, TaskState.QUEUED)
    assert len(await queue.list(task_type="child")) == 0

"""What is accepted, what is refused, and how a new task looks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from kurabito.clock import ManualClock, to_datetime
from kurabito.errors import InvalidInput, PayloadTooLarge
from kurabito.runtime.model import DEFAULT_ATTEMPTS, NewTask
from kurabito.runtime.outcomes import Success
from kurabito.runtime.port import Queue
from kurabito.runtime.states import Priority, TaskState
from kurabito.runtime.tasks import payloads
from kurabito.runtime.tasks.context import TaskContext

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands


@dataclass(frozen=True)
class Email:
    to: str
    copies: tuple[int, ...] = ()
    sent: datetime | None = None


class Invoice(BaseModel):
    number: int
    note: str | None = None


async def test_a_new_task_waits_in_the_queue_and_nothing_has_happened_to_it(queue: Queue, clock: ManualClock) -> None:
    task = await queue.enqueue("work", {"n": 1}, priority=Priority.HIGH, max_attempts=7)
    assert task == await queue.get(task.id)
    assert isinstance(task.id, UUID)
    assert (task.state, task.priority, task.unique_key) == (TaskState.QUEUED, 1, None)
    assert (task.attempts, task.max_attempts, task.lost_leases) == (0, 7, 0)
    assert task.created_at == task.updated_at == to_datetime(clock.now())
    assert (task.started_at, task.finished_at, task.next_run_at, task.lease_expires_at) == (None, None, None, None)
    assert (task.progress, task.result, task.last_error, task.worker, task.errors) == (None, None, None, None, ())
    assert not task.finished


async def test_a_task_has_five_attempts_unless_it_says_otherwise(queue: Queue) -> None:
    assert (await queue.enqueue("work")).max_attempts == DEFAULT_ATTEMPTS == 5


async def test_a_task_is_found_by_its_id_as_uuid_or_text(queue: Queue) -> None:
    task = await queue.enqueue("work")
    assert (await queue.get(task.id)).id == (await queue.get(str(task.id))).id == task.id


async def test_any_type_is_accepted_also_one_that_nobody_runs(queue: Queue) -> None:
    task = await queue.enqueue("nobody.runs/this ☃")
    assert (await queue.get(task.id)).task_type == "nobody.runs/this ☃"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Email("a@b", (1, 2), datetime(2026, 1, 2, tzinfo=UTC)), Email),
        (Invoice(number=7, note="ü"), Invoice),
        ({"deep": [1, 2.5, None, True, {"x": "☃"}]}, dict[str, Any]),
        ([1, 2], list[int]),
        ("text", str),
        (None, type(None)),
    ],
)
async def test_payloads_and_results_come_back_with_their_type(
    queue: Queue, hands: Hands, value: Any, wanted: Any
) -> None:
    task = await queue.enqueue("work", value)
    assert task.payload_as(wanted) == value
    assert task.content_type == payloads.JSON
    claim = await hands.claim_one()
    assert payloads.decode(claim.payload, claim.content_type, wanted) == value
    await hands.settle(claim, Success(payloads.encode(value)[0]))
    done = await queue.get(task.id)
    assert done.payload_as(wanted) == done.result_as(wanted) == value


async def test_a_result_is_also_shown_as_plain_values(queue: Queue, hands: Hands) -> None:
    task = await queue.enqueue("work")
    await hands.settle(await hands.claim_one(), Success(payloads.encode(Email("a@b"))[0]))
    assert (await queue.get(task.id)).result == {"to": "a@b", "copies": [], "sent": None}


async def test_bytes_stay_bytes_under_their_content_type(queue: Queue, hands: Hands) -> None:
    data = bytes(range(256))
    task = await queue.enqueue("work", data, content_type="image/png")
    plain = await queue.enqueue("work", data)
    assert (task.payload_as(bytes), task.content_type) == (data, "image/png")
    assert plain.content_type == payloads.BYTES
    claim = await hands.claim_one()
    assert (claim.payload, claim.content_type) == (data, "image/png")


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("task_type", {"task_type": ""}),
        ("task_type", {"task_type": "   "}),
        ("task_type", {"task_type": "x" * 201}),
        ("task_type", {"task_type": "a\x00b"}),
        ("task_type", {"task_type": "\ud800"}),
        ("task_type", {"task_type": 7}),
        ("task_type", {"task_type": ["work"]}),
        ("unique_key", {"unique_key": ""}),
        ("unique_key", {"unique_key": "x" * 201}),
        ("priority", {"priority": "high"}),
        ("priority", {"priority": 2**31}),
        ("priority", {"priority": 1.5}),
        ("max_attempts", {"max_attempts": 0}),
        ("max_attempts", {"max_attempts": 2.5}),
        ("max_attempts", {"max_attempts": 2**31}),
        ("max_attempts", {"max_attempts": 2**63}),
        ("content_type", {"payload": b"", "content_type": ""}),
        ("content_type", {"payload": b"", "content_type": 7}),
        ("content_type", {"payload": b"", "content_type": "image/\x00png"}),
        ("content_type", {"payload": b"", "content_type": "\ud800"}),
        ("delay", {"delay": -0.001}),
        ("delay", {"delay": timedelta(seconds=-1)}),
        ("delay", {"delay": float("nan")}),
        ("delay", {"delay": float("inf")}),
        ("delay", {"delay": "soon"}),
        ("delay", {"delay": 1.0, "run_at": datetime(2030, 1, 1, tzinfo=UTC)}),
        ("run_at", {"run_at": datetime(2030, 1, 1)}),  # noqa: DTZ001 - naive on purpose
        ("run_at", {"run_at": "tomorrow"}),
        ("payload", {"payload": object()}),
        ("payload", {"payload": {"x": 1}, "content_type": "image/png"}),
        ("payload", {"payload": bytes(10_000_000)}),
        ("payload", {"payload": "x" * 10_000_000}),
    ],
)
async def test_bad_input_is_refused_by_the_name_of_its_field_and_nothing_is_stored(
    queue: Queue, field: str, options: dict[str, Any]
) -> None:
    given = {"task_type": "work", **options}
    with pytest.raises(InvalidInput) as refused:
        await queue.enqueue(**given)
    assert refused.value.field == field
    with pytest.raises(InvalidInput) as refused:
        await queue.enqueue_many([("work", 1), NewTask(**given)])
    assert refused.value.field == f"tasks[1].{field}"
    with pytest.raises(InvalidInput):
        await queue.transact(lambda conn: (queue.enqueue_in(conn, "work"), queue.enqueue_in(conn, **given)))
    assert sum((await queue.counts_by_state()).values()) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"task_type": ""},
        {"unique_key": "\ud800"},
        {"priority": 2**31},
        {"max_attempts": 2**31},
        {"delay": -1},
        {"run_at": "tomorrow"},
        {"payload": object},
        {"payload": b"", "content_type": "\x00"},
        {"payload": "x" * 10_000_000},
    ],
)
async def test_a_follow_up_is_refused_as_a_task_is(queue: Queue, hands: Hands, options: dict[str, Any]) -> None:
    """Before it is stored: a store that refused it would refuse what else ended together with it."""
    given = {"task_type": "work", **options}
    with pytest.raises(InvalidInput) as refused:
        await queue.enqueue(**given)
    await queue.enqueue("work")
    ctx = TaskContext(await hands.claim_one(), queue.max_payload)
    with pytest.raises(InvalidInput) as refused_there:
        _ = ctx.enqueue(**given)
    assert (type(refused_there.value), str(refused_there.value)) == (type(refused.value), str(refused.value))
    with pytest.raises(TypeError, match="hex_id"):
        _ = ctx.enqueue("work", hex_id="0" * 32)  # type: ignore[call-arg]


async def test_a_payload_that_is_too_large_is_told_from_other_bad_input(queue: Queue) -> None:
    await queue.enqueue("work", bytes(queue.max_payload))
    with pytest.raises(PayloadTooLarge):
        await queue.enqueue("work", bytes(queue.max_payload + 1))


@pytest.mark.parametrize("task", [(), ("work", 1, 2), "work", None])
async def test_enqueue_many_takes_only_new_tasks_and_pairs(queue: Queue, task: Any) -> None:
    with pytest.raises(InvalidInput):
        await queue.enqueue_many([task])
    assert sum((await queue.counts_by_state()).values()) == 0


async def test_enqueue_many_answers_in_the_order_it_was_asked(queue: Queue, hands: Hands) -> None:
    tasks = await queue.enqueue_many(
        [("work", 0), NewTask("work", 1, priority=5, max_attempts=2), ("work",), ("work", 3)]
    )
    assert len(tasks) == 4
    payload: Any = Any
    assert [task.payload_as(payload) for task in tasks] == [0, 1, None, 3]
    assert (tasks[1].priority, tasks[1].max_attempts) == (5, 2)
    assert [task.id for task in tasks] == [(await queue.get(task.id)).id for task in tasks]
    assert [task.payload_as(payload) for task in tasks[1:3]] == [1, None]
    assert tasks[-1].payload_as(int) == 3
    assert await hands.order("work") == [1, 0, None, 3]


async def test_enqueue_many_of_nothing_stores_nothing(queue: Queue) -> None:
    assert list(await queue.enqueue_many([])) == []


async def test_thousands_are_stored_at_once_in_their_order(queue: Queue, hands: Hands) -> None:
    tasks = await queue.enqueue_many([("work", place) for place in range(3500)])
    assert len({task.id for task in tasks}) == 3500
    claims = await hands.claim(limit=3500)
    assert [payloads.decode(claim.payload, claim.content_type, int) for claim in claims] == list(range(3500))


async def test_tasks_enqueued_at_the_same_time_are_all_stored(queue: Queue) -> None:
    tasks = await asyncio.gather(*(queue.enqueue("work", place) for place in range(50)))
    assert len({task.id for task in tasks}) == 50
    assert (await queue.counts_by_state())[TaskState.QUEUED] == 50


async def test_a_transaction_stores_its_tasks_when_it_returns(queue: Queue) -> None:
    def ask(conn: Any) -> list[UUID]:
        return [queue.enqueue_in(conn, "work", 1).id, queue.enqueue_in(conn, "work", 2, priority=1, delay=5.0).id]

    first, second = await queue.transact(ask)
    assert (await queue.get(first)).payload_as(int) == 1
    stored = await queue.get(second)
    assert (stored.payload_as(int), stored.priority, stored.state) == (2, 1, TaskState.RETRY_SCHEDULED)


async def test_a_transaction_that_raises_stores_nothing_and_tells_of_nothing(queue: Queue, hands: Hands) -> None:
    stream = queue.events()

    def fail(conn: Any) -> None:
        queue.enqueue_in(conn, "work", unique_key="key")
        raise LookupError("changed my mind")

    with pytest.raises(LookupError, match="changed my mind"):
        await queue.transact(fail)
    assert sum((await queue.counts_by_state()).values()) == 0
    assert await hands.hear_all(stream) == []
    assert (await queue.enqueue("work", unique_key="key")).state is TaskState.QUEUED


async def test_in_a_transaction_a_unique_key_means_the_same(queue: Queue) -> None:
    old = await queue.enqueue("work", "old", unique_key="old")

    def ask(conn: Any) -> list[UUID]:
        again = queue.enqueue_in(conn, "work", "newer", unique_key="old", priority=3)
        new = queue.enqueue_in(conn, "work", "new", unique_key="new")
        twin = queue.enqueue_in(conn, "work", "twin", unique_key="new", priority=2)
        assert (again.priority, twin.priority) == (3, 2)
        return [again.id, new.id, twin.id]

    again, new, twin = await queue.transact(ask)
    assert again == old.id
    assert new == twin
    assert ((await queue.get(old.id)).priority, (await queue.get(new)).priority) == (3, 2)
    assert sum((await queue.counts_by_state()).values()) == 2


async def test_a_large_load_stores_everything_as_it_was_given(queue: Queue, clock: ManualClock) -> None:
    odd = ["tab\tbed", "back\\slash", "new\nline", "\\N", "return\r", "蔵人", "plain"]
    given = [
        NewTask(name, {"place": place, "name": name}, priority=place, delay=place or None, max_attempts=place + 1)
        for place, name in enumerate(odd * 40)
    ]
    given += [NewTask("bytes", bytes(range(256)), content_type="application/x-odd\t\\")]
    answers = await queue.enqueue_many(given)
    for task, answer in zip(given, answers, strict=True):
        record = await queue.get(answer.id)
        assert record == answer
        assert (record.task_type, record.priority) == (task.task_type, task.priority)
        assert record.max_attempts == (task.max_attempts or 5)
        if task.task_type != "bytes":
            assert record.payload_as(dict) == task.payload
            assert (record.next_run_at is not None) == bool(task.delay)
    last = await queue.get(answers[-1].id)
    assert (last.payload, last.content_type) == (bytes(range(256)), "application/x-odd\t\\")

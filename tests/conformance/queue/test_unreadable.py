"""What handlers returned and how they failed is shown as it was, and what cannot be understood breaks no list."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import psycopg
import pytest

from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import Failure, Success
from kurabito.runtime.port import Queue
from kurabito.runtime.states import TaskState
from kurabito.runtime.tasks import payloads

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands


async def ended(hands: Hands, outcome: Success | Failure) -> TaskRecord:
    task = await hands.queue.enqueue("work")
    await hands.settle(await hands.claim_one(), outcome)
    return await hands.queue.get(task.id)


@pytest.mark.parametrize("value", [b"\xff\x00", b"123", b"", b'{"a": 1}'])
async def test_bytes_that_a_handler_returned_stay_bytes(hands: Hands, value: bytes) -> None:
    task = await ended(hands, Success(payloads.encode_result(value)))
    assert (task.result, task.result_content_type, task.unreadable) == (value, payloads.BYTES, ())
    assert task.result_as(bytes) == value
    assert [found.result for found in await hands.rows()] == [value]
    assert (await hands.queue.wait(task.id, timeout=5)).result == value


@pytest.mark.parametrize("stored", [b"{broken", b"\x80", b"[" * 100_000, b"9" * 5000])
async def test_a_result_that_is_no_json_is_shown_as_bytes_and_named(hands: Hands, stored: bytes) -> None:
    task = await ended(hands, Success(stored))
    assert (task.state, task.result, task.unreadable) == (TaskState.SUCCEEDED, stored, ("result",))
    good = await ended(hands, Success(b"1"))
    assert {found.id for found in await hands.rows()} == {task.id, good.id}
    assert good.unreadable == ()


@pytest.mark.parametrize("queue_url", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize(
    ("column", "value"),
    [("state", "paused"), ("errors", '{"none": 1}'), ("created_at", 2**62), ("finished_at", -(2**62))],
)
async def test_a_row_that_another_version_wrote_is_listed_and_named(
    hands: Hands, queue: Queue, queue_url: str, column: str, value: object
) -> None:
    odd = await ended(hands, Success(b"1"))
    good = await ended(hands, Success(b"2"))
    overwrite(queue_url, odd.id.hex, column, value)
    found = {task.id: task for task in await hands.rows()}
    assert (found[odd.id].unreadable, found[good.id].unreadable) == ((column,), ())
    assert (await queue.get(odd.id)).result == 1
    assert str(found[odd.id].state) == ("paused" if column == "state" else "succeeded")
    assert found[odd.id].finished is (column != "state")
    assert [depth.count for depth in await queue.depths() if depth.state == "paused"] == [1] * (column == "state")
    await queue.history(odd.id)


async def test_a_traceback_is_kept_with_its_attempt_and_cut(hands: Hands) -> None:
    task = await ended(hands, Failure("broken", 0.0, max_attempts=3, traceback="first\n" + "x" * 100_000 + "\nlast"))
    assert [(error.attempt, error.error) for error in task.errors] == [(1, "broken")]
    kept = task.errors[0].traceback or ""
    assert len(kept) < 9_000
    assert kept.startswith("first\n")
    assert kept.endswith("\nlast")


async def test_texts_of_any_kind_are_kept_as_far_as_they_are_unicode(hands: Hands) -> None:
    task = await ended(hands, Failure("caf\udce9 \x00", permanent=True, traceback="\udce9\x00"))
    assert task.last_error == "caf\\udce9 \N{REPLACEMENT CHARACTER}"
    assert task.errors[0].traceback == "\\udce9\N{REPLACEMENT CHARACTER}"


def overwrite(url: str, task: str, column: str, value: object) -> None:
    """Write what this version would not."""
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as file:
            file.execute("PRAGMA ignore_check_constraints = ON")
            file.execute(f"UPDATE tasks SET {column} = ? WHERE id = ?", (value, bytes.fromhex(task)))
        file.close()
        return
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("ALTER TABLE tasks DROP CONSTRAINT IF EXISTS tasks_state_check")
        server.execute(f"UPDATE tasks SET {column} = %s WHERE id = %s", (value, task))

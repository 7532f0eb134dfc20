"""`MOVES` is what a queue goes by: a move that is taken out of it is refused, and the task stays as it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import pytest

from kurabito.runtime.errors import TaskError
from kurabito.runtime.model import TaskRecord
from kurabito.runtime.outcomes import Claim, Failure, Outcome, Released, Success
from kurabito.runtime.port import Queue
from kurabito.runtime.states import MOVES, TaskState

if TYPE_CHECKING:
    from tests.conformance.queue.conftest import Hands

Way = Callable[["Mover"], Awaitable[object]]


class Mover:
    """A task in the state from which it is to move."""

    def __init__(self, hands: Hands, task: TaskRecord, claim: Claim | None) -> None:
        self.hands = hands
        self.queue = hands.queue
        self.id = task.id
        self.claim = claim

    async def settle(self, outcome: Outcome) -> None:
        assert self.claim is not None
        await self.queue.work.settle([(self.claim, outcome)])

    async def lose_its_lease(self) -> None:
        self.hands.clock.advance(3600)
        await self.queue.work.recover()

    async def come_due(self) -> None:
        self.hands.clock.advance(3600)
        await self.queue.work.promote()


QUEUED, RUNNING, SCHEDULED = TaskState.QUEUED, TaskState.RUNNING, TaskState.RETRY_SCHEDULED
SUCCEEDED, DEAD, CANCELLED = TaskState.SUCCEEDED, TaskState.DEAD, TaskState.CANCELLED
WAYS: Final[list[tuple[TaskState, TaskState, Way]]] = [
    (QUEUED, RUNNING, lambda mover: mover.hands.claim()),
    (QUEUED, CANCELLED, lambda mover: mover.queue.cancel(mover.id)),
    (RUNNING, QUEUED, lambda mover: mover.settle(Released())),
    (RUNNING, QUEUED, lambda mover: mover.lose_its_lease()),
    (RUNNING, SCHEDULED, lambda mover: mover.settle(Failure("broken", retry_in=5.0))),
    (RUNNING, SUCCEEDED, lambda mover: mover.settle(Success())),
    (RUNNING, DEAD, lambda mover: mover.settle(Failure("broken", permanent=True))),
    (RUNNING, CANCELLED, lambda mover: mover.queue.cancel(mover.id)),
    (SCHEDULED, QUEUED, lambda mover: mover.come_due()),
    (SCHEDULED, CANCELLED, lambda mover: mover.queue.cancel(mover.id)),
    (DEAD, QUEUED, lambda mover: mover.queue.retry(mover.id)),
    (CANCELLED, QUEUED, lambda mover: mover.queue.retry(mover.id)),
]


async def bring(hands: Hands, state: TaskState) -> Mover:
    if state is RUNNING:
        task = await hands.queue.enqueue("work")
        return Mover(hands, task, await hands.claim_one())
    return Mover(hands, await hands.bring(state), None)


def test_every_move_of_the_table_has_a_way() -> None:
    assert {(before, after) for before, after, _ in WAYS} == {
        (before, after) for before, moves in MOVES.items() for after in moves
    }


@pytest.mark.parametrize(("before", "after", "way"), WAYS)
async def test_a_move_of_the_table_is_made(
    queue: Queue, hands: Hands, before: TaskState, after: TaskState, way: Way
) -> None:
    mover = await bring(hands, before)
    await way(mover)
    assert (await queue.get(mover.id)).state is after


@pytest.mark.parametrize(("before", "after", "way"), WAYS)
async def test_a_move_that_the_table_lacks_is_refused(
    queue: Queue,
    hands: Hands,
    monkeypatch: pytest.MonkeyPatch,
    before: TaskState,
    after: TaskState,
    way: Way,
) -> None:
    mover = await bring(hands, before)
    seen = await queue.get(mover.id)
    monkeypatch.setitem(MOVES, before, MOVES[before] - {after})
    with pytest.raises(TaskError):
        await way(mover)
    assert await queue.get(mover.id) == seen

"""A task that takes its worker down is found out, and does not drag the others along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.waiting import PATIENCE

from kurabito.runtime import Fixed, Queue, TaskState
from kurabito.runtime.worker.supervisor import Supervisor

if TYPE_CHECKING:
    from tests.crash.conftest import Fleet


async def test_a_task_that_takes_its_workers_down_is_dead_after_three_and_the_others_are_done(
    queue: Queue, fleet: Fleet
) -> None:
    before = [await queue.enqueue("work", 0.01) for _ in range(3)]
    poison = await queue.enqueue("poison")
    after = [await queue.enqueue("work", 0.01) for _ in range(10)]
    # They are claimed together with it, so they lose their worker as often as it does.
    async with Supervisor(queue.work, fleet.command(concurrency=4), count=2, backoff=Fixed(0.05), stop_limit=10.0):
        dead = await queue.wait(poison.id, timeout=PATIENCE)
        others = [await queue.wait(task.id, timeout=PATIENCE) for task in before + after]
    assert dead.state is TaskState.DEAD
    assert dead.lost_leases == 3
    assert (dead.last_error or "").startswith("WORKER_LOST: 3 workers were lost while they ran it")
    assert len(dead.errors) == 3
    assert len(fleet.lines("start", task=str(poison.id))) == 3
    assert [other.state for other in others] == [TaskState.SUCCEEDED] * len(others)

"""Several processes keep one schedule: each tick is fired once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from kurabito.runtime import Queue

if TYPE_CHECKING:
    from tests.crash.conftest import Fleet

PERIOD = 0.2
TICKS = 12


async def test_a_tick_is_fired_once_however_many_processes_keep_the_schedule(queue: Queue, fleet: Fleet) -> None:
    for _ in range(3):
        fleet.start(every=PERIOD)
    await fleet.until("ready", count=3)
    first_tick, first_count = await _seen(queue)
    async with asyncio.timeout(30):
        while True:
            tick, count = await _seen(queue)
            passed, fired = (tick - first_tick) / PERIOD / 1e6, count - first_count
            if passed >= TICKS:
                break
            await asyncio.sleep(0.02)
    assert passed == int(passed), "every process counts the same ticks"
    assert fired <= passed, "a tick was fired twice"
    # A busy machine may let all three processes sleep through a tick, which is then left out.
    assert fired >= passed * 0.8
    fleet.leave()
    done = fleet.lines("tick")
    assert len({line.task for line in done}) == len(done)


async def _seen(queue: Queue) -> tuple[int, int]:
    """The last tick that was fired and how many there were, at one moment."""

    def look(conn: Any) -> tuple[int, int]:
        row = conn.execute(
            "SELECT coalesce((SELECT last_tick FROM task_schedules), 0), "
            "(SELECT count(*) FROM tasks WHERE task_type = 'tick')"
        ).fetchone()
        return int(row[0]), int(row[1])

    return await queue.transact(look)

"""Several processes keep one schedule: each tick is fired once."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue

if TYPE_CHECKING:
    from tests.crash.conftest import Fleet, MachineClock

PERIOD = 0.2
TICKS = 12


async def test_a_tick_is_fired_once_however_many_processes_keep_the_schedule(queue: Queue, fleet: Fleet) -> None:
    for _ in range(3):
        fleet.start(every=PERIOD)
    await fleet.until("ready", count=3)
    # Before the first tick there is none to count from.
    await fleet.until("tick", count=1)
    first_tick, first_count = await _seen(queue)
    async with asyncio.timeout(PATIENCE):
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


async def test_a_clock_that_was_an_hour_ahead_silences_no_schedule(
    queue: Queue, fleet: Fleet, machine_clock: MachineClock
) -> None:
    """On PostgreSQL the machine's clock is not asked; on SQLite it is, and is set right again."""
    machine_clock.jump(3600)
    ahead = fleet.start(every=PERIOD, clock=machine_clock.path)
    await fleet.until("tick", worker=ahead, count=2)
    fleet.kill(ahead)
    machine_clock.jump(-3600)
    right = fleet.start(every=PERIOD, clock=machine_clock.path)
    await fleet.until("tick", worker=right, count=3)
    # Nor does the other silence it while both keep it.
    if fleet.url.startswith("postgres"):
        machine_clock.jump(3600)
        before = len(fleet.lines("tick"))
        await fleet.until("tick", count=before + 5)
        assert (await _seen(queue))[0] <= time.time_ns() // 1000
    fleet.leave()

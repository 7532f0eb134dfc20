"""What may be forgotten, and what may not."""

from __future__ import annotations

from pathlib import Path

from tests.support.waiting import PATIENCE

from kurabito.access import Sessions
from kurabito.app.tasks import product_registry
from kurabito.clock import SECOND, ManualClock
from kurabito.db import migrate
from kurabito.db.migrate import PRODUCT
from kurabito.library.deletion.trash import PURGE, Trash
from kurabito.maintenance.backups import KEPT, back_up, copies_in, fresh_name
from kurabito.maintenance.retention import TIDY, Retention, Tidied
from kurabito.runtime import Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue


async def test_it_forgets_what_is_over_and_keeps_the_rest(tmp_path: Path) -> None:
    clock = ManualClock()
    file, backups = tmp_path / "tasks.db", tmp_path / "backups"
    async with open_queue(f"sqlite:///{file}", clock=clock) as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        sessions = Sessions(queue.database)
        over = await queue.enqueue("over")
        await queue.cancel(over.id)
        await queue.enqueue("waits")
        await sessions.open()
        await sessions.new_link()
        for age in range(KEPT + 2):
            back_up(file, fresh_name(backups, clock.now() + age * SECOND))
        youngest = copies_in(backups)[-KEPT:]
        retention = Retention(queue, sessions, backups)
        assert await retention.tidy() == Tidied(tasks=0, sessions=0, backups=2)
        clock.advance(31 * 86_400)
        lasting = await sessions.open()
        # Opening a session forgets those that are over, so only the link is left to be forgotten.
        assert await retention.tidy() == Tidied(tasks=1, sessions=1, backups=0)
        assert [task.task_type for task in await queue.list()] == ["waits"]
        assert await sessions.holder(lasting) is not None
    assert copies_in(backups) == youngest


async def test_it_is_a_task_of_the_product_like_any_other(tmp_path: Path) -> None:
    async with open_queue(f"sqlite:///{tmp_path / 'tasks.db'}") as queue:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        registry = product_registry(
            queue,
            Sessions(queue.database),
            tmp_path / "backups",
            Trash(queue.database, days=30, may_purge=False),
        )
        assert [schedule.task_type for schedule in registry.schedules] == [TIDY, PURGE]
        async with Worker(queue, registry):
            task = await queue.enqueue(TIDY)
            done = await queue.wait(task.id, timeout=PATIENCE)
    assert done.result == {"tasks": 0, "sessions": 0, "backups": 0}

"""Waiting for a task to end: it may take for ever only where the task does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest
from tests.support.waiting import PATIENCE

from kurabito.errors import DatabaseUnavailable
from kurabito.runtime import open_queue
from kurabito.runtime.sql.streams import Waiters
from kurabito.wakeup import Bell


async def test_everybody_who_waits_is_told_when_the_end_cannot_be_known_any_more() -> None:
    ended: set[UUID] = set()
    fails = True

    async def finished_among(_ids: Sequence[UUID]) -> set[UUID]:
        if fails:
            raise RuntimeError("a fault")
        return ended

    waiters = Waiters(Bell(), finished_among)
    async with asyncio.timeout(PATIENCE):
        told = await asyncio.gather(*(waiters.wait(uuid4(), None) for _ in range(3)), return_exceptions=True)
        assert [str(problem) for problem in told] == ["a fault"] * 3
        # The next one is waited for as if nothing had happened.
        fails = False
        ended.add(one := uuid4())
        await waiters.wait(one, None)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_who_waits_is_told_when_the_queue_is_closed(kind: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("fresh_postgres") if kind == "postgres" else None
    url = url or f"sqlite:///{request.getfixturevalue('tmp_path') / 'tasks.db'}"
    async with open_queue(url) as queue:
        task = await queue.enqueue("work")
        waiting = asyncio.create_task(queue.wait(task.id))
        # Time in which it begins to wait.
        await asyncio.sleep(0.1)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(DatabaseUnavailable, match="closed"):
            await waiting

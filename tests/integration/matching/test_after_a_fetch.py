"""What a feed brought is matched when the fetch is done, and not hours later."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.waiting import PATIENCE

from kurabito.app.tasks import FOLLOW_UPS
from kurabito.catalog.matching.service import MATCH
from kurabito.feeds.tasks import FETCH, FetchResult
from kurabito.runtime import Registry, Worker, open_queue
from kurabito.runtime.tasks.followups import declare


@pytest.mark.parametrize("new", [0, 2])
async def test_a_fetch_that_brought_something_is_followed_by_a_round_of_matching(tmp_path: Path, new: int) -> None:
    registry = Registry()

    @registry.task(FETCH)
    async def fetch() -> FetchResult:
        return FetchResult(items=2, new=new)

    declare(registry, (link for link in FOLLOW_UPS if link.after == FETCH))
    async with open_queue(f"sqlite:///{tmp_path / 'tasks.db'}") as queue, Worker(queue, registry):
        task = await queue.enqueue(FETCH)
        assert (await queue.wait(task.id, timeout=PATIENCE)).state == "succeeded"
        assert len((await queue.list(task_type=MATCH)).items) == (1 if new else 0)

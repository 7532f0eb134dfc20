"""A scan that is over stays over, whoever retries it."""

from __future__ import annotations

from tests.support.commands import KURABITO, run
from tests.support.waiting import PATIENCE

from kurabito.app.compose.library import LibraryParts
from kurabito.library.scans.queue import TaskPriority, TaskStatus


async def test_the_command_line_asks_for_a_new_scan(parts: LibraryParts, url: str) -> None:
    task_id = await parts.scans.submit_task(1, TaskPriority.HIGH)
    await parts.scans.cancel_task(task_id)
    retried = run([*KURABITO, "tasks", "retry", "--queue", url, str(task_id)], timeout=PATIENCE)
    assert retried.returncode == 0, retried.stderr
    before = await parts.scans.get_task(task_id)
    assert before is not None
    assert before.status is TaskStatus.CANCELLED
    (again,) = await parts.scans.list_pending()
    assert (again.id != task_id, again.priority) == (True, TaskPriority.HIGH)

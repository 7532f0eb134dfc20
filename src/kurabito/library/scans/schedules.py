"""Automatic scans, each library at its own interval.

When the next one is due stands with the library, so a restart goes on where it was, and what became due meanwhile is done
once. Several processes may look: the database gives each firing to one of them.
"""

from __future__ import annotations

from kurabito.library import libraries
from kurabito.library.tasks import scan_of
from kurabito.runtime import Priority
from kurabito.runtime.delegation import DelegatedTasks, TaskTransaction


async def submit_due(queue: DelegatedTasks) -> int:
    """Ask for a scan of each library whose interval is over; how many were due."""
    if not await queue.database.read(libraries.is_scan_due):
        return 0
    return await queue.delegate_write(_submit)


def _submit(tasks: TaskTransaction) -> int:
    due = libraries.take_due(tasks.conn)
    for library_id in due:
        tasks.enqueue(scan_of(library_id, Priority.NORMAL))
    return len(due)

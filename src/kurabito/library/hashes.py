"""Automatic hashing: whenever files of a library wait to be read, however they came to wait.

A scan or a hash of one library may call for files of another, which have the same size. And a file that could not be read is
tried again when its time has come. Neither is followed by a scan of the library that they are in.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from kurabito.clock import to_datetime
from kurabito.library import libraries
from kurabito.library.tasks import HASH, hash_key, hash_of, library_of, scan_key
from kurabito.runtime import TaskState
from kurabito.runtime.delegation import DelegatedTasks, TaskSnapshot, TaskTransaction

REST: Final = timedelta(hours=1)
"""After a hash that failed or was cancelled: to begin again at once would do neither its disk nor its keeper a favour."""
_LOOKED_AT: Final = 1000


async def submit_due(queue: DelegatedTasks) -> int:
    """Enqueue a hash for each library that has files to read and no such task; returns how many."""
    if not await queue.delegate_read(_due):
        return 0
    return await queue.delegate_write(_submit)


def _submit(tasks: TaskTransaction) -> int:
    due = _due(tasks)
    for library_id in due:
        tasks.enqueue(hash_of(library_id))
    return len(due)


def _due(overview: TaskSnapshot) -> list[int]:
    waiting = [one for one in libraries.with_files_to_hash(overview.conn) if not _is_seen_to(overview, one)]
    if not waiting:
        return []
    resting = _resting(overview)
    return [library_id for library_id in waiting if library_id not in resting]


def _is_seen_to(overview: TaskSnapshot, library_id: int) -> bool:
    """Whether a hash waits or runs, or a scan, which a hash follows."""
    keys = (hash_key({"library_id": library_id}), scan_key(library_id))
    return any(overview.active(key) is not None for key in keys)


def _resting(overview: TaskSnapshot) -> set[int | None]:
    since = to_datetime(overview.conn.now()) - REST
    over = overview.newest(HASH, (TaskState.DEAD, TaskState.CANCELLED), _LOOKED_AT)
    return {library_of(task) for task in over if task.finished_at is not None and task.finished_at > since}

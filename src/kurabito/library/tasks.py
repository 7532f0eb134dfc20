"""The tasks that are asked for about a library. No worker runs them: data planes do the work, as jobs."""

from __future__ import annotations

import json
from typing import Any, Final

from kurabito.runtime import Priority, TaskRecord
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.runtime.tasks.intake import PreparedTask, prepare

SCAN: Final = "library.scan"
HASH: Final = "library.hash"
TASK_TYPES: Final = (SCAN, HASH)


def scan_of(library_id: int, priority: Priority) -> PreparedTask:
    """A scan of a library. A failed scan is not retried automatically: a user has to see what is wrong."""
    return prepare(
        SCAN,
        {"library_id": library_id},
        priority=priority,
        unique_key=scan_key(library_id),
        max_attempts=1,
    )


def scan_key(library_id: int) -> str:
    """What two requests to scan the same library have in common."""
    return f"{SCAN}:{library_id}"


def hash_of(library_id: int) -> PreparedTask:
    """A hash of whatever in a library waits to be read."""
    payload = {"library_id": library_id}
    return prepare(HASH, payload, unique_key=hash_key(payload))


def hash_key(payload: Any) -> str:
    """What two requests to hash the same library have in common."""
    return f"{HASH}:{payload['library_id']}"


def library_of(task: TaskRecord) -> int | None:
    """The library that a task is about; None when its payload does not say."""
    try:
        library_id = json.loads(task.payload)["library_id"]
    except (ValueError, LookupError, TypeError):
        return None
    return library_id if type(library_id) is int and 0 <= library_id <= BIGGEST_ID else None

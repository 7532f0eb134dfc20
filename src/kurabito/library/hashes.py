"""Automatic hashing: whenever files of a library wait to be read, however they came to wait.

A scan or a hash of one library may call for files of another, which have the same size. And a file that could not be read is
tried again when its time has come. Neither is followed by a scan of the library that they are in.

A data plane may be any program, so what it says is checked: a job that calls itself completed and settled nothing is noted, and
the second one ends the task; files that were hashed with another algorithm than their library's are read again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from kurabito.clock import from_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.library import jobs, libraries
from kurabito.library.jobs import Job
from kurabito.library.tasks import HASH, hash_key, hash_of, library_of, scan_key
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode
from kurabito.runtime import TaskState
from kurabito.runtime.delegation import DelegatedTasks, TaskSnapshot, TaskTransaction
from kurabito.runtime.outcomes import Failure, Outcome, Released, Success

_SQL: Final = Queries("kurabito.library", "hashes.sql")

REST: Final = timedelta(hours=1)
"""After a hash that failed or was cancelled: to begin again at once would do neither its disk nor its keeper a favour."""
_LOOKED_AT: Final = 1000
_SHORT: Final = timedelta(seconds=10)
"""A job that ends sooner, with files left, was not ended by the time that a job may take: it had no reason to stop."""
_AT_ONCE: Final = 1000
"""Files in one transaction, so that no other writer waits long."""


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


def outcome_of(conn: Connection, job: Job) -> Outcome:
    """What becomes of the task of a hash that its data plane calls completed.

    While files are left the task waits for its next job: a job ends after a while so that others get their turn. But two jobs
    in a row that settle nothing would be followed by a third, and so on for ever.
    """
    library_id = job.library_id
    if library_id is None or not libraries.has_files_to_hash(conn, library_id):
        return Success(json.dumps({"library_id": library_id, "hashed_count": job.processed_items}).encode())
    if not _is_in_vain(conn, job, library_id):
        return Released()
    reason = "files wait to be read, and the data plane ended its job without settling any of them"
    if jobs.code_before(conn, job) == ErrorCode.NO_PROGRESS:
        return Failure(f"{ErrorCode.NO_PROGRESS}: {reason}, twice; look at its log, or stop it", permanent=True)
    jobs.note_code(conn, job.id, ErrorCode.NO_PROGRESS, reason)
    return Released()


def _is_in_vain(conn: Connection, job: Job, library_id: int) -> bool:
    began = job.started_at or job.created_at
    if job.finished_at is not None and job.finished_at - began >= _SHORT:
        # It may have read a part of a very large file, which no row tells.
        return False
    return conn.one(_SQL.settled_since, {"library_id": library_id, "since": from_datetime(began)}) is None


async def rehash_foreign(queue: DelegatedTasks) -> int:
    """Have files read again whose hash is of another algorithm than their library's, and so is compared with none of it.

    The library's setting was changed, or a data plane wrote what was not asked for. Returns how many files they are.
    """
    files = 0
    while found := await queue.delegate_read(lambda overview: _foreign(overview.conn)):
        await queue.delegate_write(lambda tasks, found=found: tasks.conn.run(_SQL.read_again, {"files": found}))  # type: ignore[misc]
        files += len(found)
    return files


def _foreign(conn: Connection) -> Sequence[int]:
    known = libraries.everything(conn)
    for algorithm in HashAlgorithm:
        # Where every library has the same algorithm this costs nothing, or finds at once what is wrong.
        if others := [library.id for library in known if library.settings.algorithm is not algorithm]:
            values = {"algorithm": algorithm.value, "libraries": others, "most": _AT_ONCE}
            if found := [file for (file,) in conn.all(_SQL.foreign, values)]:
                return found
    return []

"""Removing a library: its rows are deleted, its files stay.

A library may have millions of files, so this is a task. It forgets some rows at a time, each in a short transaction, so that
others write meanwhile; whatever dies, the next attempt goes on with what is left. The library itself goes last: there are never
files of no library.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from kurabito.db import Connection, Queries, Query
from kurabito.library import jobs, libraries, obstacles
from kurabito.library.errors import LibraryInUse, LibraryNotFound
from kurabito.library.obstacles import Obstacles
from kurabito.library.tasks import TASK_TYPES, library_of
from kurabito.runtime import Priority, Registry, Snooze, TaskContext, TaskRecord
from kurabito.runtime.delegation import DelegatedTasks, TaskSnapshot, TaskTransaction
from kurabito.runtime.errors import PermanentError
from kurabito.runtime.tasks.intake import prepare
from kurabito.wakeup import Bell

REMOVE: Final = "library.remove"
_LONGEST: Final = 0.020
_BREATH: Final = 0.001
_FEWEST, _MOST = 100, 5000
_WAIT: Final = 2.0
"""Seconds between two looks whether files of the library are still being deleted."""

_SQL: Final = Queries("kurabito.library", "removal.sql")
_AFTERWARDS: Final = (_SQL.forget_findings, _SQL.forget_matches, _SQL.forget_trash, _SQL.forget_sessions)
"""What else is known of a library, and may be much."""


@dataclass(frozen=True, slots=True)
class RemovalOrder:
    """Which library to remove."""

    library_id: int


@dataclass(frozen=True, slots=True)
class LibraryRemoved:
    """What was deleted."""

    library_id: int
    file_count: int


def removal_key(library_id: int) -> str:
    """What two requests to remove the same library have in common."""
    return f"{REMOVE}:{library_id}"


class LibraryRemoval:
    """Removes libraries; `changed` is rung when one is gone."""

    def __init__(self, queue: DelegatedTasks, changed: Bell | None = None) -> None:
        self._queue = queue
        self._database = queue.database
        self._changed = changed or Bell()

    def join(self, registry: Registry) -> None:
        """Have libraries removed by a worker."""
        registry.task(REMOVE)(self.run)

    async def obstacles(self, library_id: int) -> Obstacles:
        """What a user should know before a removal; raises LibraryNotFound."""
        return await self._database.read(lambda conn: obstacles.of(conn, libraries.find(conn, library_id)))

    async def under_way(self, library_id: int) -> TaskRecord | None:
        """The task that removes a library; None when there is none, or it was given up."""
        return await self._queue.delegate_read(lambda overview: overview.active(removal_key(library_id)))

    async def begin(self, library_id: int, *, confirmed: bool = False) -> TaskRecord:
        """Have a library removed; the task that does it. Raises LibraryInUse unless it is confirmed or nothing is in the way."""

        def work(tasks: TaskTransaction) -> TaskRecord:
            conn = tasks.conn
            jobs.lock_jobs(conn)
            library = libraries.find(conn, library_id)
            found = obstacles.of(conn, library)
            # Once it was begun there is nothing left to ask.
            if found and not confirmed and library.removing_since is None:
                raise LibraryInUse(
                    f"{found.sentence(library.settings.name)}; to remove it all the same, ask with confirm=true"
                )
            _cancel_work(tasks, library_id)
            conn.run(_SQL.begin, {"id": library_id})
            _give_back_placements(conn, library_id)
            order = prepare(
                REMOVE, RemovalOrder(library_id), priority=Priority.HIGH, unique_key=removal_key(library_id)
            )
            return tasks.enqueue(order)

        record = await self._queue.delegate_write(work)
        self._changed.ring()
        return record

    async def run(self, order: RemovalOrder, ctx: TaskContext) -> LibraryRemoved:
        """Forget a library whose removal was begun."""
        library_id = order.library_id
        if not await self._database.read(lambda conn: _is_leaving(conn, library_id)):
            return LibraryRemoved(library_id, 0)
        if await self._database.read(lambda conn: obstacles.deletes_under_way(conn, library_id)):
            # What they do is written about files that are known.
            raise Snooze(_WAIT)
        forgotten = 0
        while True:
            forgotten += await self._forget_files(library_id, ctx)
            for statement in _AFTERWARDS:
                await self._forget_some(statement, library_id)
            if await self._queue.delegate_write(lambda tasks: _finish(tasks, library_id)):
                break
        self._changed.ring()
        return LibraryRemoved(library_id, forgotten)

    async def _forget_files(self, library_id: int, ctx: TaskContext) -> int:
        total = await self._database.read(lambda conn: _count_files(conn, library_id))
        done, after, limit = 0, "", _FEWEST
        while done < total:
            await ctx.report(done, total)
            values = {"id": library_id, "after": after, "limit": limit}
            paths, took = await self._database.write(lambda conn, values=values: _forget_part(conn, values))  # type: ignore[misc]
            if not paths:
                break
            done, after = done + len(paths), max(paths)
            limit = _next_limit(limit, took)
            await asyncio.sleep(_BREATH)
        await ctx.report(done, max(done, total))
        return done

    async def _forget_some(self, statement: Query, library_id: int) -> None:
        values = {"id": library_id, "limit": _FEWEST}
        forgotten = _FEWEST
        while forgotten == _FEWEST:
            forgotten = await self._database.write(lambda conn: conn.run(statement, values))
            await asyncio.sleep(_BREATH)


def _next_limit(limit: int, took: float) -> int:
    """How many rows the next transaction should take, so that it is short."""
    if took > _LONGEST:
        return max(_FEWEST, limit // 2)
    return min(_MOST, limit * 2) if took < _LONGEST / 2 else limit


def _cancel_work(tasks: TaskTransaction, library_id: int) -> None:
    """End what waits or runs for a library; its worker finds out at its next step, and writes nothing more."""
    for job in jobs.active(tasks.conn):
        if job.library_id == library_id:
            jobs.cancel(tasks.conn, job.id)
    for task in _tasks(tasks):
        if library_of(task) == library_id:
            tasks.cancel(task.id)


def _tasks(overview: TaskSnapshot) -> list[TaskRecord]:
    return [*overview.waiting(TASK_TYPES), *overview.running(TASK_TYPES)]


def _is_leaving(conn: Connection, library_id: int) -> bool:
    try:
        library = libraries.find(conn, library_id)
    except LibraryNotFound:
        return False
    if library.removing_since is None:
        raise PermanentError(
            f"no removal of the library {library.settings.name!r} was requested; use DELETE /api/v1/libraries/{library_id}"
        )
    return True


def _count_files(conn: Connection, library_id: int) -> int:
    return int(conn.value(_SQL.count_files, {"id": library_id}))


def _forget_part(conn: Connection, values: dict[str, object]) -> tuple[list[str], float]:
    began = time.perf_counter()
    paths = [path for (path,) in conn.all(_SQL.forget_files, values)]
    return paths, time.perf_counter() - began


def _finish(tasks: TaskTransaction, library_id: int) -> bool:
    """Delete the library itself; false when new rows came in between, which are deleted first."""
    conn = tasks.conn
    jobs.lock_jobs(conn)
    _cancel_work(tasks, library_id)
    if _count_files(conn, library_id):
        return False
    # Those that a data plane had in hand when the removal began.
    _give_back_placements(conn, library_id)
    conn.run(_SQL.forget, {"id": library_id})
    return True


def _give_back_placements(conn: Connection, library_id: int) -> None:
    """Have files that were on their way into a library go elsewhere, or be asked about."""
    conn.run(_SQL.plan_again, {"id": library_id})
    conn.run(_SQL.forget_placements, {"id": library_id})
    conn.notify()

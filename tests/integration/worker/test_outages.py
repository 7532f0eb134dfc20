"""A worker goes on when its database went away for a while and came back."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import Queue, Registry, TaskState, Worker, open_queue

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]


def registry_of_short_tasks() -> Registry:
    registry = Registry()

    @registry.task
    async def short() -> None:
        await asyncio.sleep(0)

    return registry


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_every_task_is_done_while_connections_are_cut_again_and_again(queue: Queue, url: str) -> None:
    tasks = list(await queue.enqueue_many([("short",)] * 400))
    async with Worker(queue, registry_of_short_tasks(), concurrency=4, heartbeat=0.2, lease=5.0):
        for place in range(5):
            await asyncio.to_thread(cut, url)
            # Between two cuts it gets on.
            await queue.wait(tasks[place * 80].id, timeout=PATIENCE)
        done = [await queue.wait(task.id, timeout=PATIENCE) for task in tasks]
    assert {task.state for task in done} == {TaskState.SUCCEEDED}


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_worker_is_woken_again_after_its_listener_was_cut(
    queue: Queue, url: str, eventually: Eventually
) -> None:
    async with Worker(queue, registry_of_short_tasks(), lease=60.0, heartbeat=30.0):
        first = _listener(url)
        await asyncio.to_thread(cut, url, "kurabito listener")
        await eventually(lambda: _listener(url) not in (first, None))
        # Another program's task: nothing but the notification tells of it before the next heartbeat.
        async with open_queue(url) as elsewhere:
            task = await elsewhere.enqueue("short")
        assert (await queue.wait(task.id, timeout=10)).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_worker_waits_out_a_lock_that_another_program_holds(queue: Queue, url: str) -> None:
    file = sqlite3.connect(Path(url.removeprefix("sqlite:///")), isolation_level=None)
    try:
        async with Worker(queue, registry_of_short_tasks(), heartbeat=0.1, lease=60.0):
            await queue.wait((await queue.enqueue("short")).id, timeout=PATIENCE)
            file.execute("BEGIN IMMEDIATE")
            asked = asyncio.create_task(queue.enqueue("short"))
            done, _ = await asyncio.wait({asked}, timeout=0.5)
            assert not done
            file.execute("ROLLBACK")
            task = await asked
            assert (await queue.wait(task.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED
    finally:
        file.close()


def cut(url: str, application: str = "kurabito%") -> None:
    """End our own connections to this database, as an administrator or a restart would."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name LIKE %s AND pid <> pg_backend_pid()",
            (application,),
        )


def _listener(url: str) -> int | None:
    """The server's process that serves our listener, once it has nothing left to do but wait."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'kurabito listener' AND query NOT LIKE 'SET%' AND state = 'idle'"
        ).fetchone()
    return None if found is None else int(found[0])

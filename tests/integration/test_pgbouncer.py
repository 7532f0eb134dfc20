"""PgBouncer in transaction mode: the queue works through it, leaves nothing on the sessions that it shares, and the data
plane refuses it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.support.commands import KURABITO, Command, run
from tests.support.pgbouncer import Bouncer
from tests.support.waiting import PATIENCE

from kurabito.db import open_database
from kurabito.errors import ConfigError
from kurabito.runtime import Queue, Registry, TaskContext, TaskState, Worker, open_queue


@pytest.fixture(params=["said", "found out"])
def pooled_url(request: pytest.FixtureRequest, fresh_postgres: str, bouncer: Bouncer) -> str:
    url = bouncer(fresh_postgres)
    return f"{url}?pooled=true" if request.param == "said" else url


def registry() -> Registry:
    registry = Registry()

    @registry.task
    async def double(number: int) -> int:
        return 2 * number

    @registry.task
    async def hang(ctx: TaskContext) -> None:
        await asyncio.sleep(3600)

    @registry.task
    async def then(ctx: TaskContext) -> None:
        await ctx.enqueue("double", 21)

    return registry


async def test_tasks_are_done_through_a_pooler(pooled_url: str) -> None:
    async with open_queue(pooled_url) as asking, open_queue(pooled_url) as working:
        async with Worker(working, registry()):
            one = await asking.enqueue("double", 4)
            many = await asking.enqueue_many([("double", number) for number in range(300)])
            keyed = await asking.enqueue("double", 5, unique_key="five", delay=0.1)
            assert (await asking.wait(one.id, timeout=PATIENCE)).result == 8
            assert [(await asking.wait(task.id, timeout=PATIENCE)).result for task in many] == [
                2 * n for n in range(300)
            ]
            assert (await asking.wait(keyed.id, timeout=PATIENCE)).result == 10
            await asking.wait((await asking.enqueue("then")).id, timeout=PATIENCE)
            hanging = await asking.enqueue("hang")
            await _until_running(asking, hanging.id)
            assert (await asking.cancel(hanging.id)).state is TaskState.CANCELLED
        assert (await asking.counts_by_state())[TaskState.RUNNING] == 0


async def test_a_task_of_another_program_is_noticed_without_a_notification(pooled_url: str) -> None:
    async with open_queue(pooled_url) as working, Worker(working, registry(), heartbeat=20.0, lease=60.0):
        # Long after the worker looked for itself for the last time.
        await asyncio.sleep(1.5)
        async with open_queue(pooled_url) as asking:
            task = await asking.enqueue("double", 1)
            assert (await asking.wait(task.id, timeout=10)).result == 2


async def test_events_are_heard_through_a_pooler(pooled_url: str) -> None:
    async with open_queue(pooled_url) as asking, open_queue(pooled_url) as other:
        stream = asking.events()
        tasks = [await asking.enqueue("double", 1), await other.enqueue("double", 2)]
        async with asyncio.timeout(PATIENCE):
            assert [(await anext(stream)).task_id for _ in tasks] == [task.id for task in tasks]


async def test_nothing_of_ours_stays_on_the_sessions_that_a_pooler_shares(
    pooled_url: str, fresh_postgres: str, bouncer: Bouncer
) -> None:
    async with open_queue(pooled_url) as queue, Worker(queue, registry()):
        for number in range(30):
            await queue.wait((await queue.enqueue("double", number)).id, timeout=PATIENCE)
        await queue.transact(lambda conn: conn.execute("SELECT 1"))
        # Another program that comes to every one of those sessions, one after the other.
        found: set[tuple[Any, ...]] = set()
        with psycopg.connect(bouncer(fresh_postgres), autocommit=True, prepare_threshold=None) as theirs:
            for _ in range(100):
                row = theirs.execute(
                    "SELECT array(SELECT name || '=' || setting FROM pg_settings WHERE source = 'session' "
                    "AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', "
                    "'standard_conforming_strings')), "
                    "array(SELECT name FROM pg_prepared_statements), array(SELECT pg_listening_channels())"
                ).fetchone()
                assert row is not None
                found.add(tuple(map(tuple, row)))
                await asyncio.sleep(0.005)
    assert found == {((), (), ())}


def test_a_data_plane_refuses_a_pooler_with_the_reason(
    migrated_postgres: str, bouncer: Bouncer, tmp_path: Path
) -> None:
    environment = {**os.environ, "KURABITO_DATABASE": bouncer(migrated_postgres), "KURABITO_STATE": str(tmp_path)}
    ended = run([*KURABITO, "dataplane", "--once"], env=environment, timeout=PATIENCE)
    assert ended.returncode != 0
    assert "pooler" in ended.stderr
    assert "URL of the server itself" in ended.stderr


@pytest.mark.parametrize(("options", "serves"), [([], False), (["--no-dataplane"], True)])
def test_the_product_serves_through_a_pooler_without_a_data_plane_of_its_own(
    options: list[str], serves: bool, migrated_postgres: str, bouncer: Bouncer, tmp_path: Path
) -> None:
    environment = {**os.environ, "KURABITO_DATABASE": bouncer(migrated_postgres), "KURABITO_STATE": str(tmp_path)}
    command = [*KURABITO, "serve", "--port", "0", "--no-downloader", *options]
    with Command(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as started:
        assert started.stdout is not None
        told = ""
        while (line := started.stdout.readline()) and "/login?token=" not in line:
            told += line
        started.terminate()
        started.wait(PATIENCE)
    assert bool(line) is serves, told
    assert serves or "--no-dataplane" in told


def test_a_role_is_refused_behind_a_pooler(migrated_postgres: str, bouncer: Bouncer) -> None:
    database = open_database(bouncer(migrated_postgres), role="kurabito_dataplane")
    with pytest.raises(ConfigError, match="a setting of a session"):
        database.open()


async def _until_running(queue: Queue, task_id: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await queue.get(task_id)).state is not TaskState.RUNNING:
            await asyncio.sleep(0.02)

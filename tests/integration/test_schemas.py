"""A queue in a database that has tables of others: in a schema of its own, or refused with the way out."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.db import open_database
from kurabito.db.errors import ForeignTables
from kurabito.db.table_names import RESERVED
from kurabito.errors import ConfigError, DatabaseUnavailable, InvalidInput
from kurabito.runtime import Fixed, Registry, TaskContext, TaskState, Worker, open_queue


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'app.db'}"
    return str(request.getfixturevalue("fresh_postgres"))


def of_schema(url: str, schema: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}schema={schema}"


def run_sql(url: str, statement: str) -> list[Any]:
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
            return raw.execute(statement).fetchall()
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def handlers() -> Registry:
    registry = Registry()

    @registry.task(retry=Fixed(0.01))
    async def twice(number: int, ctx: TaskContext) -> int:
        await ctx.report(1, 2)
        if ctx.attempt == 1:
            raise RuntimeError("not yet")
        await ctx.enqueue("after", number)
        return 2 * number

    @registry.task
    def after(number: int) -> int:
        return number

    registry.every(0.2, "after", 7, name="often")
    return registry


async def test_everything_works_in_a_schema_beside_tables_of_the_same_names(url: str) -> None:
    run_sql(url, "CREATE TABLE tasks (mine text)")
    run_sql(url, "INSERT INTO tasks VALUES ('untouched')")
    async with open_queue(url, schema="jobs") as queue, Worker(queue, handlers()):
        stream = queue.events()
        one = await queue.enqueue("twice", 1, unique_key="one", delay=0.05)
        assert (await queue.enqueue("twice", 1, unique_key="one")).id == one.id
        many = await queue.enqueue_many([("twice", number) for number in range(250)])
        assert (await queue.wait(one.id, timeout=PATIENCE)).result == 2
        assert [(await queue.wait(task.id, timeout=PATIENCE)).result for task in many] == [2 * n for n in range(250)]
        waiting = await queue.enqueue("nobody runs it")
        assert waiting.no_worker
        await queue.cancel(waiting.id)
        await queue.retry(waiting.id)
        assert [task.id for task in await queue.list(state=TaskState.QUEUED, task_type="nobody runs it")] == [
            waiting.id
        ]
        await queue.transact(lambda conn: queue.enqueue_in(conn, "nobody runs it"))
        assert (await queue.counts_by_state())[TaskState.QUEUED] >= 2
        assert {depth.task_type for depth in await queue.depths()} >= {"twice", "after", "nobody runs it"}
        assert [worker.name for worker in await queue.workers()]
        async with asyncio.timeout(PATIENCE):
            await anext(stream)
            while (await queue.list(task_type="after", state="succeeded", limit=500)).__len__() < 252:
                await asyncio.sleep(0.05)
        assert await queue.purge(older_than=0) > 250
    assert run_sql(url, "SELECT * FROM tasks") == [("untouched",)]


async def test_a_lost_task_comes_back_in_a_schema(url: str) -> None:
    clock = ManualClock()
    async with open_queue(of_schema(url, "jobs"), clock=clock) as queue:
        task = await queue.enqueue("work")
        (claim,) = (await queue.work.claim("worker", {"work": 1}, 1)).tasks
        clock.advance(31)
        assert await queue.work.recover() == 1
        assert await queue.work.settle([]) == []
        found = await queue.get(task.id)
        assert (found.state, found.lost_leases) == (TaskState.QUEUED, 1)
        assert claim.id == task.id
        await queue.work.expire_worker("worker")


async def test_two_schemas_know_nothing_of_one_another(url: str) -> None:
    async with open_queue(url, schema="one") as one, open_queue(of_schema(url, "two")) as two, open_queue(url) as plain:
        await one.enqueue("work")
        assert (await one.counts_by_state())[TaskState.QUEUED] == 1
        assert (await two.counts_by_state())[TaskState.QUEUED] == 0
        assert (await plain.counts_by_state())[TaskState.QUEUED] == 0
    async with open_queue(of_schema(url, "one"), create=False) as again:
        assert (await again.counts_by_state())[TaskState.QUEUED] == 1
    with pytest.raises(DatabaseUnavailable):
        async with open_queue(of_schema(url, "three"), create=False):
            pass


async def test_tables_of_others_with_our_names_are_refused_and_left_alone(url: str) -> None:
    run_sql(url, "CREATE TABLE tasks (mine text)")
    with pytest.raises(ForeignTables, match=r'has tasks already, which Kurabito did not make.*schema="jobs"'):
        async with open_queue(url):
            pass
    assert run_sql(url, "SELECT * FROM tasks") == []


async def test_programs_that_start_together_do_not_take_one_another_for_strangers(url: str) -> None:
    async def start() -> None:
        async with open_queue(url, schema="jobs"):
            pass

    problems: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(start())
        except BaseException as problem:  # noqa: BLE001 - shown below
            problems.append(problem)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert problems == []


@pytest.mark.parametrize("schema", ["", "Jobs", "a b", "x" * 41, 'a"; DROP TABLE tasks', "1st"])
def test_a_schema_that_is_no_name_is_refused(schema: str) -> None:
    with pytest.raises(InvalidInput, match="schema"):
        open_queue("sqlite:///some.db", schema=schema)


@pytest.mark.parametrize("schema", ["select", "user", "pg_x", "pg_catalog", "information_schema", "sqlite", "sqlite_x"])
async def test_a_schema_whose_name_a_database_reserves_is_refused_before_it_is_asked(url: str, schema: str) -> None:
    with pytest.raises(InvalidInput, match=f"schema: '{schema}' is reserved by the database"):
        open_queue(url, schema=schema)


def test_every_word_that_postgresql_reserves_is_known(fresh_postgres: str) -> None:
    words = run_sql(fresh_postgres, "SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')")
    assert {word for (word,) in words} <= RESERVED


def test_the_product_has_no_schema(url: str) -> None:
    with pytest.raises(ConfigError, match="only a queue"):
        open_database(of_schema(url, "jobs"))

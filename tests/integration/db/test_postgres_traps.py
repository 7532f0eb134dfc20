"""What goes wrong on PostgreSQL when two programs work at once, and does not here."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg

from kurabito.db import Connection, LeaseSpec, leases
from kurabito.db.migrate import RUNTIME, migrate
from kurabito.db.postgres.database import PostgresDatabase
from kurabito.errors import DatabaseUnavailable
from kurabito.runtime import Queue, open_queue
from kurabito.runtime.events import PendingEvents
from kurabito.runtime.sql.postgres import PostgresTables
from kurabito.runtime.sql.store import TaskStore
from kurabito.runtime.sql.work import ClaimStore

ROWS = 200
_LEASE_COLUMNS = frozenset({"worker_heartbeat_at", "lease_expires_at", "updated_at"})
PARCELS = LeaseSpec(
    table="parcels",
    key="id",
    running="running",
    claimable="status = 'pending'",
    order="id",
    stale_becomes="'pending'",
    writes={leases.HEARTBEAT: _LEASE_COLUMNS, "deliver": _LEASE_COLUMNS | {"status"}},
)


@pytest.fixture
def database(fresh_postgres: str) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(fresh_postgres)
    database.open()
    database.write_blocking(
        lambda conn: conn.script(
            "CREATE TABLE parcels (id bigint PRIMARY KEY, status text, worker_id text, worker_heartbeat_at bigint, "
            "lease_expires_at bigint, updated_at bigint, touched bigint DEFAULT 0);"
            f"INSERT INTO parcels SELECT n, 'running', 'w#1' FROM generate_series(1, {ROWS}) AS n"
        )
    )
    yield database
    database.close()


def connect(database: PostgresDatabase) -> psycopg.Connection[Any]:
    raw = psycopg.connect(database.dsn)
    # A deadlock is looked for after this long.
    raw.execute("SET deadlock_timeout = '20ms'")
    raw.commit()
    return raw


def touch(conn: Connection, number: int) -> None:
    conn.run("UPDATE parcels SET touched = touched + 1 WHERE id = :id", {"id": number})


def test_rows_updated_in_opposite_order_deadlock_when_nobody_takes_care(database: PostgresDatabase) -> None:
    both_have_one = threading.Barrier(2)

    def naive(first: int, second: int) -> bool:
        with connect(database) as raw:
            conn = database.wrap(raw)
            touch(conn, first)
            both_have_one.wait(20)
            try:
                touch(conn, second)
            except pg.DeadlockDetected:
                raw.rollback()
                return True
        return False

    with ThreadPoolExecutor(2) as threads:
        deadlocked = [threads.submit(naive, 1, 2), threads.submit(naive, 2, 1)]
    assert sorted(future.result() for future in deadlocked) == [False, True]


@pytest.mark.parametrize("order", ["opposite", "random"])
def test_batches_in_any_order_never_deadlock_through_the_lease_engine(database: PostgresDatabase, order: str) -> None:
    def beat(seed: int) -> None:
        chance = random.Random(seed)
        keys = list(range(1, ROWS + 1))
        if seed % 2:
            keys.reverse()
        # Adopted connections: a conflict would not be retried but raised here.
        with connect(database) as raw:
            for _ in range(60):
                if order == "random":
                    chance.shuffle(keys)
                rows = [(key, "w#1") for key in keys]
                assert leases.heartbeat(database.wrap(raw), PARCELS, rows, lease=1) == set()
                raw.commit()

    with ThreadPoolExecutor(3) as threads:
        for future in [threads.submit(beat, seed) for seed in range(3)]:
            future.result()


def test_rows_are_locked_in_the_order_of_their_keys(database: PostgresDatabase) -> None:
    """With row 100 taken by another, a batch given backwards has locked the rows before it and none after it."""
    with connect(database) as holder, connect(database) as raw, connect(database) as looker:
        holder.execute("SELECT 1 FROM parcels WHERE id = 100 FOR UPDATE")
        rows = [(key, "w#1") for key in range(ROWS, 0, -1)]
        raw.execute("SET lock_timeout = '10s'")
        with ThreadPoolExecutor(1) as threads:
            beating = threads.submit(leases.heartbeat, database.wrap(raw), PARCELS, rows, lease=1)
            until_blocked(looker, raw.info.backend_pid)
            free = looker.execute("SELECT id FROM parcels ORDER BY id FOR UPDATE SKIP LOCKED").fetchall()
            looker.rollback()
            holder.rollback()
            assert beating.result(20) == set()
    assert [number for (number,) in free] == list(range(101, ROWS + 1))


def until_blocked(looker: psycopg.Connection[Any], pid: int) -> None:
    for _ in range(2000):
        waiting = looker.execute("SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone()
        looker.rollback()
        if waiting == ("Lock",):
            return
        threading.Event().wait(0.005)
    raise AssertionError("it never came to wait for the lock")


async def test_a_transaction_that_lost_a_deadlock_is_done_again(database: PostgresDatabase) -> None:
    met = threading.Barrier(2)
    tries = 0

    def crossing(first: int, second: int) -> Callable[[Connection], None]:
        def work(conn: Connection) -> None:
            nonlocal tries
            tries += 1
            conn.run("SET LOCAL deadlock_timeout = '20ms'")
            touch(conn, first)
            try:
                met.wait(1)
            except threading.BrokenBarrierError:
                # The other one is done, and this is our second try.
                pass
            touch(conn, second)

        return work

    await asyncio.gather(database.write(crossing(1, 2)), database.write(crossing(2, 1)))
    assert tries > 2
    rows = await database.read(lambda conn: conn.all("SELECT touched FROM parcels WHERE id IN (1, 2)"))
    assert rows == [(2,), (2,)]


def test_a_conflict_that_does_not_end_is_told(database: PostgresDatabase) -> None:
    tries = []

    def unlucky(_conn: Connection) -> None:
        tries.append(1)
        raise pg.SerializationFailure("again and again")

    with pytest.raises(pg.SerializationFailure):
        database.write_blocking(unlucky)
    assert len(tries) == 6


def test_a_connection_that_was_cut_in_the_pool_is_replaced_unseen(database: PostgresDatabase) -> None:
    cut_all(database)
    database.write_blocking(lambda conn: touch(conn, 1))
    cut_all(database)
    assert database.read_blocking(lambda conn: conn.one("SELECT touched FROM parcels WHERE id = 1")) == (1,)


def test_a_transaction_that_was_cut_before_its_commit_is_done_again_and_counts_once(
    database: PostgresDatabase,
) -> None:
    tries = []

    def work(conn: Connection) -> None:
        touch(conn, 1)
        tries.append(1)
        if len(tries) == 1:
            conn.one("SELECT pg_terminate_backend(pg_backend_pid())")

    database.write_blocking(work)
    assert len(tries) == 2
    assert database.read_blocking(lambda conn: conn.one("SELECT touched FROM parcels WHERE id = 1")) == (1,)


def test_a_transaction_that_was_cut_at_its_commit_is_not_done_again(database: PostgresDatabase) -> None:
    """Whether it was committed is unknown, so whoever asked has to look."""
    tries = []

    def work(conn: Connection) -> None:
        touch(conn, 1)
        tries.append(1)
        cut_all(database)

    with pytest.raises(DatabaseUnavailable, match="lost PostgreSQL"):
        database.write_blocking(work)
    assert len(tries) == 1


def test_a_statement_that_is_a_transaction_of_its_own_needs_no_other_to_be_committed(
    database: PostgresDatabase,
) -> None:
    def work(conn: Connection) -> None:
        conn.autocommit("UPDATE parcels SET touched = touched + 1 WHERE id = 1 RETURNING id")
        raise RuntimeError("too late to undo it")

    with pytest.raises(RuntimeError):
        database.write_blocking(work)
    assert database.read_blocking(lambda conn: conn.one("SELECT touched FROM parcels WHERE id = 1")) == (1,)


def test_a_statement_that_could_stand_alone_is_undone_with_the_transaction_it_came_into(
    database: PostgresDatabase,
) -> None:
    def work(conn: Connection) -> None:
        touch(conn, 2)
        conn.autocommit("UPDATE parcels SET touched = touched + 1 WHERE id = 1 RETURNING id")
        raise RuntimeError("undo both")

    with pytest.raises(RuntimeError):
        database.write_blocking(work)
    assert database.read_blocking(lambda conn: conn.one("SELECT sum(touched) FROM parcels")) == (0,)


def test_a_statement_alone_is_not_done_again_when_it_was_cut(database: PostgresDatabase) -> None:
    """It may have been committed, so whoever asked has to look."""
    tries = []

    def work(conn: Connection) -> None:
        tries.append(1)
        conn.autocommit("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(DatabaseUnavailable, match="lost PostgreSQL"):
        database.write_blocking(work)
    assert len(tries) == 1


async def test_a_thread_whose_connection_was_cut_gets_another(database: PostgresDatabase) -> None:
    for _ in range(3):
        await database.write(lambda conn: touch(conn, 1))
        cut_all(database)
    assert await database.read(lambda conn: conn.one("SELECT touched FROM parcels WHERE id = 1")) == (3,)


async def test_nothing_stays_connected_when_the_database_is_closed(fresh_postgres: str) -> None:
    database = PostgresDatabase(fresh_postgres)
    database.open()
    await asyncio.gather(*(database.read(lambda conn: conn.one("SELECT pg_sleep(0.05)")) for _ in range(4)))
    database.close()
    with psycopg.connect(fresh_postgres, autocommit=True) as raw:
        ours = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        # The server takes a moment to notice that we are gone.
        for _ in range(500):
            if raw.execute(ours).fetchone() == (0,):
                break
            await asyncio.sleep(0.02)
        assert raw.execute(ours).fetchone() == (0,)


def cut_all(database: PostgresDatabase) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as raw:
        # With a time to wait, so that the backends are gone when this returns.
        raw.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name = 'kurabito'"
        )


@pytest.mark.parametrize("types", [1, 3])
async def test_a_claim_that_was_planned_on_an_empty_table_goes_by_its_index_on_a_full_one(
    fresh_postgres: str, types: int
) -> None:
    """The listener's thread claims for workers at rest, and its connection keeps the plan."""
    database, claims = PostgresDatabase(fresh_postgres), ClaimStore(TaskStore(PostgresTables()))
    database.open()
    migrate(database, RUNTIME)
    plan: list[str] = []

    def claim(conn: Connection) -> None:
        claims.claim(conn, "worker", {f"type{number}": 5 for number in range(types)}, 5, 30.0, PendingEvents())

    def explain(conn: Connection) -> None:
        found = (
            "SELECT name, cardinality(parameter_types) FROM pg_prepared_statements WHERE statement LIKE 'WITH taken%'"
        )
        ((name, values),) = conn.all(found)
        plan.extend(line for (line,) in conn.all(f"EXPLAIN EXECUTE {name}({', '.join(['NULL'] * values)})"))

    def hear(_text: str) -> None:
        database.write_blocking(claim)
        with psycopg.connect(fresh_postgres) as loader:
            loader.execute(
                "INSERT INTO tasks (id, task_type, state, created_at, updated_at, content_type, payload) "
                "SELECT gen_random_uuid(), 'type' || n % 3, 'queued', 0, 0, '', '' FROM generate_series(1, 20000) AS n"
            )
        database.write_blocking(claim)
        database.write_blocking(explain)

    async with database.watching(hear):
        pass
    database.close()
    assert any("ix_tasks_ready" in line for line in plan)
    assert not [line for line in plan if "Seq Scan on tasks" in line or "ix_tasks_listing" in line]


@pytest.fixture
async def queue(fresh_postgres: str) -> Any:
    async with open_queue(fresh_postgres) as queue:
        yield queue


@pytest.mark.parametrize("opened", ["before the slow transaction", "while it goes on"])
async def test_an_event_that_commits_late_is_not_skipped(queue: Queue, fresh_postgres: str, opened: str) -> None:
    already = await queue.enqueue("already")
    events = queue.events() if opened.startswith("before") else None
    with psycopg.connect(fresh_postgres) as slow:
        late = queue.enqueue_in(slow, "late")
        before = await queue.enqueue("before") if events is None else None
        events = events or queue.events()
        early = [await queue.enqueue("early") for _ in range(3)]
        first = asyncio.ensure_future(anext(events))
        # Nothing after the slow transaction may be told while it might still tell of something before it.
        done, _ = await asyncio.wait({first}, timeout=0.2)
        assert not done
        slow.commit()
    seen = [(await asyncio.wait_for(first, 20)).task_id]
    seen += [(await asyncio.wait_for(anext(events), 20)).task_id for _ in range(3)]
    assert sorted(seen) == sorted([late.id, *[task.id for task in early]])
    assert already.id not in seen
    assert before is None or before.id not in seen

"""What our own connections to PostgreSQL are told, and that nobody else's are."""

from __future__ import annotations

import os
import resource
import threading
import time
import uuid
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from tests.support.waiting import PATIENCE

from kurabito.db import Connection
from kurabito.db.postgres.database import PostgresDatabase
from kurabito.db.postgres.listener import NotificationListener
from kurabito.db.postgres.poll import Poller
from kurabito.db.postgres.sessions import Address, direct, reachable, read_url
from kurabito.errors import ConfigError, DatabaseUnavailable
from kurabito.runtime import open_queue

IDLE = "SHOW idle_in_transaction_session_timeout"


@pytest.fixture
def database(fresh_postgres: str) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase(fresh_postgres)
    database.open()
    yield database
    database.close()


def test_our_own_transactions_are_ended_by_the_server_when_they_stand_still(database: PostgresDatabase) -> None:
    assert database.write_blocking(lambda conn: conn.one(IDLE)) == ("15s",)


async def test_a_function_of_the_caller_may_take_its_time(fresh_postgres: str) -> None:
    async with open_queue(fresh_postgres) as queue:
        assert await queue.transact(lambda conn: conn.execute(IDLE).fetchone()) == ("0",)


async def test_a_connection_of_the_caller_is_left_as_it_is(fresh_postgres: str) -> None:
    """No setting and no prepared statement of ours stays on it."""
    told = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"
    async with open_queue(fresh_postgres) as queue:
        with psycopg.connect(fresh_postgres) as theirs:
            before = theirs.execute(told).fetchall()
            for _ in range(3):
                queue.enqueue_in(theirs, "work")
            assert theirs.execute(told).fetchall() == before
            assert theirs.execute("SELECT name FROM pg_prepared_statements").fetchall() == []


def test_a_transaction_that_the_server_ended_for_standing_still_is_done_again(
    fresh_postgres: str,
) -> None:
    mark = "&" if "?" in fresh_postgres else "?"
    quick = f"{fresh_postgres}{mark}options={quote('-c idle_in_transaction_session_timeout=100')}"
    database = PostgresDatabase(quick)
    database.open()
    tries = []

    def work(conn: Connection) -> Any:
        conn.run("CREATE TABLE IF NOT EXISTS marks (n int)")
        conn.run("INSERT INTO marks VALUES (1)")
        tries.append(1)
        if len(tries) == 1:
            # Longer than the server lets a transaction idle.
            time.sleep(1)
        return conn.one("SELECT count(*) FROM marks")

    try:
        assert database.write_blocking(work) == (1,)
        assert len(tries) == 2
    finally:
        database.close()


def test_a_server_that_takes_no_writes_is_unavailable_and_says_so(database: PostgresDatabase) -> None:
    database.write_blocking(lambda conn: conn.run("CREATE TABLE marks (n int)"))
    name = database.read_blocking(lambda conn: conn.one("SELECT quote_ident(current_database())"))
    assert name is not None
    with psycopg.connect(database.dsn, autocommit=True) as owner:
        owner.execute(f"ALTER DATABASE {name[0]} SET default_transaction_read_only = on")
        database._pool.drop_idle()
        with pytest.raises(DatabaseUnavailable, match="read-only"):
            database.write_blocking(lambda conn: conn.run("INSERT INTO marks VALUES (1)"))
        assert database.read_blocking(lambda conn: conn.one("SELECT count(*) FROM marks")) == (0,)
        owner.execute("SET default_transaction_read_only = off")
        owner.execute(f"ALTER DATABASE {name[0]} RESET default_transaction_read_only")
    # No connection from that time is left.
    database.write_blocking(lambda conn: conn.run("INSERT INTO marks VALUES (1)"))


def test_no_more_than_ten_connections_are_made_however_many_threads_ask(database: PostgresDatabase) -> None:
    most = []
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kurabito' AND datname = current_database()"

    def ask() -> None:
        most.append(database.read_blocking(lambda conn: conn.one(f"{count} AND pg_sleep(0.02) IS NOT NULL")))

    threads = [threading.Thread(target=ask) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [row[0] for row in most if row is not None]
    assert len(found) == 40
    assert max(found) <= 10


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql://u@h/d", Address("postgresql://u@h/d", None)),
        ("postgresql://u@h/d?pooled=true", Address("postgresql://u@h/d", True)),
        ("postgresql://u@h/d?pooled=false&sslmode=require", Address("postgresql://u@h/d?sslmode=require", False)),
        ("postgresql://a,b:5433/d?a=1&pooled=1&b=2", Address("postgresql://a,b:5433/d?a=1&b=2", True)),
    ],
)
def test_what_is_for_us_in_a_url_is_not_for_libpq(url: str, address: Address) -> None:
    assert read_url(url) == address


def test_a_url_that_says_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(ConfigError, match="true or false"):
        read_url("postgresql://h/d?pooled=maybe")


def test_what_the_url_says_itself_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-c search_path=theirs")
    whole = direct("postgresql://h/d?connect_timeout=77", role="plane")
    assert "connect_timeout=77" in whole
    assert whole.index("tcp_user_timeout=8000") < whole.index("search_path=theirs") < whole.index("role=plane")


def test_of_several_hosts_the_one_that_takes_writes_is_wanted_unless_another_was_asked_for() -> None:
    assert "target_session_attrs=read-write" in reachable("postgresql://a,b/d")
    assert "target_session_attrs" not in reachable("postgresql://a/d")
    assert "target_session_attrs=any" in reachable("postgresql://a,b/d?target_session_attrs=any")


async def test_a_database_without_an_encoding_keeps_texts_as_texts(postgres_server: Any) -> None:
    """`initdb` makes such ones where the locale is C."""
    name = f"kurabito_{uuid.uuid4().hex}"
    create = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    postgres_server.connection.execute(sql.SQL(create).format(sql.Identifier(name)))
    try:
        async with open_queue(urlunsplit(urlsplit(postgres_server.dsn)._replace(path=f"/{name}"))) as queue:
            task = await queue.enqueue("取る", unique_key="蔵")
            found = await queue.get(task.id)
            assert (found.task_type, found.unique_key) == ("取る", "蔵")
    finally:
        postgres_server.connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_an_answer_that_psycopg_cannot_place_costs_the_connection_and_not_the_caller(
    database: PostgresDatabase,
) -> None:
    """PgBouncer tells that the server ended a session within the answer to the next statement."""
    used: list[object] = []

    def read(conn: Connection) -> object:
        used.append(conn.one("SELECT pg_backend_pid()"))
        if len(used) == 1:
            raise psycopg.InternalError("received 2 results from command 'BEGIN'")
        return used[-1]

    assert database.read_blocking(read) == used[1] != used[0]


@pytest.mark.parametrize("fault", [RuntimeError("a fault"), ValueError("a fault")], ids=["runtime", "value"])
def test_a_fault_while_it_is_told_something_does_not_make_a_listener_deaf(
    fresh_postgres: str, fault: Exception
) -> None:
    heard: SimpleQueue[str] = SimpleQueue()

    def hear(said: str) -> None:
        heard.put(said)
        if said == "bad":
            raise fault

    listener = NotificationListener(fresh_postgres, "news", hear, lambda _: None)
    listener.start()
    try:
        with psycopg.connect(fresh_postgres, autocommit=True) as other:
            assert heard.get(timeout=PATIENCE) == ""
            other.execute("SELECT pg_notify('news', 'bad')")
            assert heard.get(timeout=PATIENCE) == "bad"
            # It comes back on another connection, and says that it may have missed something.
            assert heard.get(timeout=PATIENCE) == ""
            other.execute("SELECT pg_notify('news', 'good')")
            assert heard.get(timeout=PATIENCE) == "good"
    finally:
        listener.stop()


def test_a_listener_hears_in_a_process_with_thousands_of_descriptors(fresh_postgres: str) -> None:
    _, hard = before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1_500:
        pytest.skip(f"a process may have only {hard} descriptors here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], 1_500), hard))
    heard: SimpleQueue[str] = SimpleQueue()
    listener = NotificationListener(fresh_postgres, "news", heard.put, lambda _: None)
    taken = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        with psycopg.connect(fresh_postgres, autocommit=True) as other:
            listener.start()
            assert heard.get(timeout=PATIENCE) == ""
            other.execute("SELECT pg_notify('news', 'good')")
            assert heard.get(timeout=PATIENCE) == "good"
            listener.stop()
    finally:
        for one in taken:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_poller_goes_on_whatever_it_was_told_once() -> None:
    heard: SimpleQueue[int] = SimpleQueue()

    def ask() -> int:
        heard.put(heard.qsize())
        if heard.qsize() < 3:
            raise RuntimeError("a fault")
        return heard.qsize()

    told = threading.Event()
    poller = Poller(ask, lambda _: told.set())
    poller.start()
    try:
        assert told.wait(PATIENCE)
    finally:
        poller.stop()

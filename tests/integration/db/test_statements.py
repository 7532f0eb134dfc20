"""What a store can ask of a connection without knowing which database it is."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.waiting import PATIENCE

from kurabito.db import AdvisoryLock, Connection, Database, Dialect, Query
from kurabito.db.errors import UniqueConflict
from kurabito.db.rows import Column

ADD = Query("INSERT INTO notes (id, book, text) SELECT id, :book, text FROM (<rows>) AS seen")
CHANGE = Query(
    "UPDATE notes SET text = {new}text, changed_at = :now {rows} WHERE notes.book = :book AND notes.id = {new}id"
)
AMONG = Query("SELECT id FROM notes WHERE id {among ids} AND text {among texts} ORDER BY id")


@pytest.fixture(autouse=True)
def _notes(database: Database) -> None:
    table = "CREATE TABLE notes (id bigint PRIMARY KEY, book bigint, text text UNIQUE, changed_at bigint)"
    database.write_blocking(lambda conn: conn.script(table))


def columns(ids: list[int], texts: list[str]) -> list[Column]:
    return [Column("id", "bigint", ids), Column("text", "text", texts)]


def add(conn: Connection, count: int) -> None:
    numbers = list(range(1, count + 1))
    conn.run_rows(ADD, columns(numbers, [f"note {number}" for number in numbers]), {"book": 7})


# One row, one statement full of them, and more than one statement takes.
@pytest.mark.parametrize("count", [1, 250, 251, 1_000])
def test_many_rows_are_added_with_what_they_share(database: Database, count: int) -> None:
    database.write_blocking(lambda conn: add(conn, count))
    found = database.read_blocking(lambda conn: conn.all("SELECT id, book, text FROM notes ORDER BY id"))
    assert found == [(number, 7, f"note {number}") for number in range(1, count + 1)]


def test_many_rows_are_changed_each_by_its_own_values(database: Database) -> None:
    def work(conn: Connection) -> int:
        add(conn, 5)
        conn.run_rows(CHANGE, columns([3, 1], ["three", "one"]), {"book": 7})
        conn.run_rows(CHANGE, columns([5], ["of another book"]), {"book": 8})
        return conn.now()

    now = database.write_blocking(work)
    found = database.read_blocking(lambda conn: conn.all("SELECT id, text, changed_at FROM notes ORDER BY id"))
    assert found == [(1, "one", now), (2, "note 2", None), (3, "three", now), (4, "note 4", None), (5, "note 5", None)]


@pytest.mark.parametrize(
    ("ids", "texts", "found"), [([1, 2, 9], ["note 2", "note 3"], [2]), ((3,), {"note 3"}, [3]), ([], [], [])]
)
def test_a_list_is_any_sequence_of_values(database: Database, ids: object, texts: object, found: list[int]) -> None:
    def work(conn: Connection) -> list[int]:
        add(conn, 3)
        return [number for (number,) in conn.all(AMONG, {"ids": ids, "texts": texts})]

    assert database.write_blocking(work) == found


def test_a_value_is_that_of_the_first_row_and_none_without_one(database: Database) -> None:
    def work(conn: Connection) -> list[object]:
        add(conn, 3)
        asked = "SELECT text FROM notes WHERE id >= :id ORDER BY id"
        return [conn.value(asked, {"id": 2}), conn.value(asked, {"id": 9}), conn.value("SELECT count(*) FROM notes")]

    assert database.write_blocking(work) == ["note 2", None, 3]


def test_a_value_of_two_columns_is_refused(database: Database) -> None:
    with pytest.raises(ValueError, match="too many values"):
        database.read_blocking(lambda conn: conn.value("SELECT 1 AS one, 2 AS two"))


def test_a_taken_key_is_a_conflict_however_the_row_is_written(database: Database) -> None:
    added = "INSERT INTO notes (id, text) VALUES (:id, 'taken') RETURNING id"
    assert database.write_blocking(lambda conn: conn.value(added, {"id": 1})) == 1
    with pytest.raises(UniqueConflict):
        database.write_blocking(lambda conn: conn.value(added, {"id": 2}))
    with pytest.raises(UniqueConflict):
        database.write_blocking(lambda conn: conn.run(added, {"id": 2}))


@pytest.mark.parametrize("lock", [AdvisoryLock.JOBS, AdvisoryLock.DELETION])
def test_a_lock_is_held_until_its_transaction_ends(database: Database, lock: AdvisoryLock) -> None:
    has_it, may_end, order = threading.Event(), threading.Event(), []

    def first(conn: Connection) -> None:
        conn.lock(lock)
        has_it.set()
        assert may_end.wait(20)
        order.append("first")

    def second(conn: Connection) -> None:
        conn.lock(lock)
        order.append("second")

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(database.write_blocking, first)
        assert has_it.wait(20)
        other = threads.submit(database.write_blocking, second)
        if database.dialect is Dialect.POSTGRES:
            wait_until_waited_for(database)
        may_end.set()
        one.result(20)
        other.result(20)
    assert order == ["first", "second"]


def wait_until_waited_for(database: Database) -> None:
    """Let time pass until a transaction stands before a lock that another has."""
    asked = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    give_up = time.monotonic() + PATIENCE
    while database.read_blocking(lambda conn: conn.one(asked)) is None:
        assert time.monotonic() < give_up

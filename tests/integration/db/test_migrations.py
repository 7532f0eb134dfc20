"""Migrations: numbered, applied once, in order, and never changed afterwards."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.support.waiting import PATIENCE

from kurabito.db import Connection, Database, Dialect, migrate, open_database
from kurabito.db.errors import DatabaseTooNew, ForeignTables, MigrationChanged, RowsWouldBeLost
from kurabito.db.ledger import Ledger
from kurabito.db.migrate import PRODUCT, RUNTIME, Migration, available
from kurabito.db.table_names import names_of

FIRST = Migration(1, "shelves", "sql", "CREATE TABLE shelves (id integer PRIMARY KEY);\n")
SECOND = Migration(2, "books", "sql", "CREATE TABLE books (id integer PRIMARY KEY);\nINSERT INTO books VALUES (1);\n")
IN_PYTHON = Migration(
    3,
    "shelf_for_each_book",
    "py",
    "def apply(conn):\n"
    "    for (number,) in conn.all('SELECT id FROM books'):\n"
    "        conn.run('INSERT INTO shelves (id) VALUES (:id)', {'id': number * 10})\n",
)
BROKEN = Migration(2, "broken", "sql", "CREATE TABLE half (id integer);\nCREATE TABLE nonsense (;\n")

OPEN_A_QUEUE = """
import asyncio, sys
from kurabito.runtime import open_queue

async def main():
    sys.stdin.readline()
    async with open_queue(sys.argv[1]) as queue:
        await queue.enqueue("mine")

asyncio.run(main())
"""


def tables(database: Database) -> set[str]:
    listed = {
        Dialect.SQLITE: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        Dialect.POSTGRES: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
    }
    return {name for (name,) in database.read_blocking(lambda conn: conn.all(listed[database.dialect]))}


def ids(database: Database, table: str) -> list[int]:
    return [
        number for (number,) in database.read_blocking(lambda conn: conn.all(f"SELECT id FROM {table} ORDER BY id"))
    ]


def test_missing_migrations_are_applied_in_order_and_once(database: Database) -> None:
    assert migrate(database, "demo", [FIRST]) == ["0001_shelves"]
    assert migrate(database, "demo", [FIRST, SECOND, IN_PYTHON]) == ["0002_books", "0003_shelf_for_each_book"]
    assert migrate(database, "demo", [FIRST, SECOND, IN_PYTHON]) == []
    assert tables(database) == {"kurabito_migrations", "shelves", "books"}
    assert ids(database, "shelves") == [10]


def test_what_was_applied_is_remembered_with_its_checksum(database: Database) -> None:
    migrate(database, "demo", [FIRST, SECOND])
    done = database.read_blocking(lambda conn: Ledger(names_of(conn.dialect, None)).applied(conn, "demo"))
    assert done == {1: ("shelves", FIRST.checksum), 2: ("books", SECOND.checksum)}


def test_a_migration_that_fails_leaves_nothing_behind(database: Database) -> None:
    migrate(database, "demo", [FIRST])
    with pytest.raises((sqlite3.Error, psycopg.Error)):
        migrate(database, "demo", [FIRST, BROKEN])
    assert tables(database) == {"kurabito_migrations", "shelves"}
    assert migrate(database, "demo", [FIRST, SECOND]) == ["0002_books"]


def test_a_database_of_a_newer_program_is_refused(database: Database) -> None:
    migrate(database, "demo", [FIRST, SECOND])
    with pytest.raises(DatabaseTooNew, match="0002_books, which this version does not know; install the version"):
        migrate(database, "demo", [FIRST])


def test_a_migration_that_changed_after_it_was_applied_is_refused(database: Database) -> None:
    migrate(database, "demo", [FIRST])
    changed = Migration(1, "shelves", "sql", FIRST.text + "-- a harmless comment\n")
    with pytest.raises(MigrationChanged, match="0001_shelves was applied with other contents"):
        migrate(database, "demo", [changed, SECOND])
    assert tables(database) == {"kurabito_migrations", "shelves"}


def test_sets_do_not_know_each_other(database: Database) -> None:
    migrate(database, "one", [FIRST])
    assert migrate(database, "two", [SECOND]) == ["0002_books"]
    assert migrate(database, "one", [FIRST]) == []


def test_the_runtime_brings_its_own_tables_and_no_others(database: Database) -> None:
    assert migrate(database, RUNTIME) == [
        f"{step.number:04}_{step.name}" for step in available(database.dialect, RUNTIME)
    ]
    assert tables(database) == {"kurabito_migrations", "tasks", "task_events", "task_workers", "task_schedules"}


def test_the_numbers_of_both_databases_go_up_one_by_one() -> None:
    names = {}
    for dialect in (Dialect.SQLITE, Dialect.POSTGRES):
        steps = available(dialect, RUNTIME)
        assert [step.number for step in steps] == list(range(1, len(steps) + 1))
        names[dialect] = [step.name for step in steps]
    assert names[Dialect.SQLITE] == names[Dialect.POSTGRES]


def test_an_up_to_date_database_is_opened_without_its_write_lock(database: Database, url: str) -> None:
    migrate(database, RUNTIME)
    other: Any
    if database.dialect is Dialect.SQLITE:
        other = sqlite3.connect(Path(url.removeprefix("sqlite:///")), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
    else:
        other = psycopg.connect(url)
        other.execute("LOCK TABLE kurabito_migrations, tasks IN EXCLUSIVE MODE")
    try:
        began = time.monotonic()
        assert migrate(database, RUNTIME) == []
        assert time.monotonic() - began < 5
    finally:
        other.close()


def test_programs_that_migrate_at_the_same_moment_take_turns(url: str) -> None:
    slow = Migration(2, "slow", "py", "import time\n\ndef apply(conn):\n    time.sleep(0.1)\n")
    ready = threading.Barrier(5)

    def program() -> list[str]:
        database = open_database(url)
        database.open()
        try:
            ready.wait(20)
            return migrate(database, "demo", [FIRST, slow])
        finally:
            database.close()

    with ThreadPoolExecutor(5) as threads:
        answers = [future.result() for future in [threads.submit(program) for _ in range(5)]]
    assert sorted(answers) == [[], [], [], [], ["0001_shelves", "0002_slow"]]


def test_processes_that_start_together_migrate_once(url: str, database: Database) -> None:
    command = [sys.executable, "-c", OPEN_A_QUEUE, url]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=PATIENCE)
    assert [process.returncode for process in processes] == [0] * 4

    def look(conn: Connection) -> tuple[int, object]:
        return len(Ledger(names_of(conn.dialect, None)).applied(conn, RUNTIME)), conn.one("SELECT count(*) FROM tasks")

    assert database.read_blocking(look) == (len(available(database.dialect, RUNTIME)), (4,))


def shelves_with_books(database: Database) -> None:
    database.write_blocking(
        lambda conn: conn.script(
            "CREATE TABLE shelves (id integer PRIMARY KEY);\n"
            "CREATE TABLE books (id integer PRIMARY KEY, shelf integer REFERENCES shelves (id) ON DELETE CASCADE);\n"
            "INSERT INTO shelves VALUES (1), (2);\n"
            "INSERT INTO books VALUES (10, 1), (11, 2), (12, 2);\n"
        )
    )


REBUILT = (
    "CREATE TABLE rebuilt (id integer PRIMARY KEY);\nINSERT INTO rebuilt SELECT id FROM shelves;\n"
    "DROP TABLE shelves;\nALTER TABLE rebuilt RENAME TO shelves;\n"
)


def test_a_table_that_others_refer_to_can_be_rebuilt(sqlite_database: Database) -> None:
    shelves_with_books(sqlite_database)
    migrate(sqlite_database, "demo", [Migration(1, "rebuild", "sql", REBUILT)])
    assert ids(sqlite_database, "books") == [10, 11, 12]
    # The references hold again for everything that is written afterwards.
    with pytest.raises(sqlite3.IntegrityError):
        sqlite_database.write_blocking(lambda conn: conn.run("INSERT INTO books VALUES (13, 99)"))
    sqlite_database.write_blocking(lambda conn: conn.run("DELETE FROM shelves WHERE id = 2"))
    assert ids(sqlite_database, "books") == [10]


def test_a_rebuilt_table_gets_its_indexes_under_their_names_again(database: Database) -> None:
    first = Migration(1, "first", "sql", FIRST.text + "CREATE INDEX ix_shelves ON shelves (id);\n")
    migrate(database, "demo", [first])
    database.write_blocking(lambda conn: conn.run("INSERT INTO shelves VALUES (1)"))
    rebuilt = Migration(2, "rebuilt", "sql", REBUILT + "CREATE INDEX ix_shelves ON shelves (id);\n")
    assert migrate(database, "demo", [first, rebuilt]) == ["0002_rebuilt"]
    assert ids(database, "shelves") == [1]


def test_a_table_of_ours_can_be_rebuilt_under_its_name(database: Database) -> None:
    steps = available(database.dialect, PRODUCT)
    migrate(database, PRODUCT, steps)
    text = "ALTER TABLE jobs RENAME TO jobs_old;\nCREATE TABLE jobs AS SELECT * FROM jobs_old;\nDROP TABLE jobs_old;\n"
    assert migrate(database, PRODUCT, [*steps, Migration(9999, "rebuilt", "sql", text)]) == ["9999_rebuilt"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("DELETE FROM books WHERE id > 10;\n", "books from 3 rows to 1"),
        ("DROP TABLE books;\n", "books from 3 rows to 0"),
        ("DELETE FROM shelves WHERE id = 2;\n-- removes rows of: shelves\n", "2 rows would refer to rows that are not"),
        ("CREATE TABLE half (id integer);\nINSERT INTO half VALUES (1);\nDELETE FROM books;\n", "from 3 rows to 0"),
    ],
)
def test_a_migration_that_would_lose_rows_is_undone(sqlite_database: Database, text: str, says: str) -> None:
    shelves_with_books(sqlite_database)
    with pytest.raises(RowsWouldBeLost, match=says):
        migrate(sqlite_database, "demo", [Migration(1, "lossy", "sql", text)])
    assert ids(sqlite_database, "shelves") == [1, 2]
    assert ids(sqlite_database, "books") == [10, 11, 12]
    assert tables(sqlite_database) == {"shelves", "books"}


def test_a_migration_may_remove_rows_when_it_says_so(sqlite_database: Database) -> None:
    shelves_with_books(sqlite_database)
    text = "-- Nobody reads them.\n-- removes rows of: books, shelves\nDELETE FROM books;\nDELETE FROM shelves;\n"
    migrate(sqlite_database, "demo", [Migration(1, "cleared", "sql", text)])
    assert ids(sqlite_database, "books") == []


def test_references_that_led_nowhere_before_are_no_reason_to_refuse(sqlite_database: Database) -> None:
    shelves_with_books(sqlite_database)
    sqlite_database.rebuild_blocking(lambda conn: conn.run("DELETE FROM shelves WHERE id = 2"))
    assert ids(sqlite_database, "books") == [10, 11, 12]
    migrate(sqlite_database, "demo", [Migration(1, "rebuild", "sql", REBUILT)])
    assert ids(sqlite_database, "books") == [10, 11, 12]


@pytest.mark.parametrize("set_name", [RUNTIME, PRODUCT])
def test_a_table_of_another_program_is_never_taken_for_ours(database: Database, set_name: str) -> None:
    """`tasks` and `jobs` are names that any program may have; neither of these is one of the earlier system's."""
    database.write_blocking(
        lambda conn: conn.script(
            "CREATE TABLE tasks (id integer PRIMARY KEY, title text);\nCREATE TABLE sessions (id integer);\n"
            "CREATE TABLE jobs (id integer PRIMARY KEY, kind text, status text);\n"
            "INSERT INTO tasks VALUES (7, 'mine');\nINSERT INTO jobs VALUES (8, 'send a letter', 'pending');\n"
        )
    )
    with pytest.raises(ForeignTables, match="tasks already" if set_name == RUNTIME else "jobs, sessions already"):
        migrate(database, set_name)
    assert tables(database) == {"tasks", "jobs", "sessions"}
    assert (ids(database, "tasks"), ids(database, "jobs")) == ([7], [8])

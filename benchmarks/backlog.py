"""A queue with a long past: many waiting and many finished tasks, written straight into the runtime's tables."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from typing import Final

import psycopg

WAITING_TYPE: Final = "backlog"
_COLUMNS: Final = (
    "id, task_type, state, content_type, payload, attempts, worker_id, created_at, updated_at, started_at, finished_at"
)


def fill(url: str, waiting: int, finished: int) -> None:
    """Add the rows to a database that has the runtime's tables; the finished ones are the older."""
    if url.startswith("postgresql://"):
        _fill_postgres(url, waiting, finished)
    else:
        _fill_sqlite(url.removeprefix("sqlite:///"), waiting, finished)


def _fill_sqlite(path: str, waiting: int, finished: int) -> None:
    now = time.time_ns() // 1000

    def rows() -> Iterator[tuple[object, ...]]:
        for number in range(finished):
            yield number.to_bytes(16, "big"), "succeeded", 1, "past#1", now, now
        for number in range(finished, finished + waiting):
            yield number.to_bytes(16, "big"), "queued", 0, None, None, None

    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN")
    connection.executemany(
        f"INSERT INTO tasks ({_COLUMNS}) "
        f"VALUES (?1, '{WAITING_TYPE}', ?2, 'application/json', X'30', ?3, ?4, {now}, {now}, ?5, ?6)",
        rows(),
    )
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _fill_postgres(url: str, waiting: int, finished: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for state, attempts, worker, moment, first, last in (
            ("succeeded", 1, "'past#1'", "%(now)s", 0, finished - 1),
            ("queued", 0, "NULL", "NULL", finished, finished + waiting - 1),
        ):
            connection.execute(
                f"INSERT INTO tasks ({_COLUMNS}) "
                f"SELECT lpad(to_hex(number), 32, '0')::uuid, '{WAITING_TYPE}', '{state}', 'application/json', '0', "
                f"{attempts}, {worker}, %(now)s, %(now)s, {moment}, {moment} "
                "FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS number",
                {"now": time.time_ns() // 1000, "first": first, "last": last},
            )

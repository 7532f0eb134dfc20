"""What is asked every second stays cheap, however many jobs there were."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from kurabito.db import Dialect, Queries, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import say_control_plane
from kurabito.library.jobs import _JOB

ADD = "INSERT INTO jobs (id, kind, status, created_at, updated_at) VALUES (?, 'delete', 'completed', ?, ?)"
SQL = Queries("kurabito.library", "jobs.sql", job=_JOB).texts(Dialect.SQLITE)
VALUES = dict.fromkeys(("status", "kind", "library_id", "limit", "created_at", "id", "task_id"))


@pytest.fixture(params=["fresh", "after ANALYZE"])
def raw(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    database = open_database(f"sqlite:///{tmp_path / 'jobs.db'}")
    database.open()
    migrate(database, PRODUCT)
    database.close()
    raw = sqlite3.connect(tmp_path / "jobs.db")
    say_control_plane(raw)
    raw.executemany(ADD, [(f"job-{number}", number, number) for number in range(20_000)])
    if request.param == "after ANALYZE":
        raw.execute("ANALYZE")
    yield raw
    raw.close()


@pytest.mark.parametrize(
    ("query", "indexes"),
    [
        ("active", ["ix_jobs_waiting", "ix_jobs_lease", "ix_jobs_retryable"]),
        ("first_page", ["ix_jobs_created_id"]),
        ("next_page", ["ix_jobs_created_id"]),
        ("of_task", ["ix_jobs_task"]),
    ],
)
def test_each_question_has_its_index(raw: sqlite3.Connection, query: str, indexes: list[str]) -> None:
    plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {getattr(SQL, query)}", VALUES)]
    reads = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
    assert [step.split("USING INDEX ")[1].split()[0] for step in reads] == indexes
    if query == "next_page":
        assert reads[0].startswith("SEARCH")

"""A million tasks in each database, made once, and the plans of the statements that a store runs on them."""

from __future__ import annotations

import re
import sqlite3
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from kurabito.clock import ManualClock
from kurabito.db import Connection, Database, migrate
from kurabito.db.migrate import RUNTIME
from kurabito.db.postgres.database import PostgresDatabase
from kurabito.db.sqlite.database import SqliteDatabase
from kurabito.runtime.sql.postgres import PostgresTables
from kurabito.runtime.sql.sqlite import SqliteTables
from kurabito.runtime.sql.store import TaskStore
from kurabito.runtime.sql.work import ClaimStore

ROWS = 1_000_000
TYPES = [f"type{number}" for number in range(20)]
MANY = 30_000
NOW = 1_700_000_000_000_000

# Half wait, most others are finished, a few run or are scheduled. Written so that both databases understand it.
_COLUMNS = (
    "id, task_type, state, priority, next_run_at, worker_id, lease_expires_at, created_at, updated_at, finished_at, "
    "unique_key, content_type, payload"
)
_ROW = f"""
    'type' || ((n * 7 + n / 1000) % 20), state, n % 3,
    CASE WHEN state = 'retry_scheduled' THEN {NOW} + (n % 100000 - 100) * 1000000 END,
    CASE WHEN state = 'running' THEN 'worker' || (n % 10) || '#token' END,
    CASE WHEN state = 'running' THEN {NOW} + (n / 500 % 300 - 10) * 100000 END,
    {NOW} - n, {NOW} - n,
    CASE WHEN state IN ('succeeded', 'dead', 'cancelled') THEN {NOW} - (n % 200000) * 1000000 END,
    CASE WHEN n % 50 = 0 THEN 'key' || n END, 'application/json'
"""
_STATE = """
    CASE WHEN n % 100 < 50 THEN 'queued' WHEN n % 100 < 90 THEN 'succeeded' WHEN n % 100 < 94 THEN 'dead'
         WHEN n % 100 < 97 THEN 'cancelled' WHEN n % 500 = 499 THEN 'running' ELSE 'retry_scheduled' END AS state
"""


@dataclass
class Plan:
    """How a database means to run one statement."""

    statement: str
    indexes: set[str] = field(default_factory=set)
    scans: list[str] = field(default_factory=list)
    """Reads of the whole table, or of a whole index."""
    sorts: list[str] = field(default_factory=list)
    """Sorts of rows straight from the table, or of very many."""


class Planner(ABC):
    """Runs a function of a connection, undoes it, and tells how its statements about tasks are planned."""

    store: TaskStore
    database: Database

    @property
    def claims(self) -> ClaimStore:
        return ClaimStore(self.store)

    @abstractmethod
    def plans(self, work: Callable[[Connection], object]) -> list[Plan]: ...


class SqlitePlanner(Planner):
    def __init__(self, path: Path) -> None:
        self.database = SqliteDatabase(path, _StandingClock())
        self.store = TaskStore(SqliteTables())

    def plans(self, work: Callable[[Connection], object]) -> list[Plan]:
        assert isinstance(self.database, SqliteDatabase)
        raw = self.database.connect()
        statements: list[str] = []
        try:
            raw.execute("BEGIN IMMEDIATE")
            # The text with its values put in, as SQLite runs it.
            raw.set_trace_callback(statements.append)
            work(self.database.wrap(raw))
            raw.set_trace_callback(None)
            raw.execute("ROLLBACK")
            return [self._plan(raw, text) for text in dict.fromkeys(statements) if re.search(r"\btasks\b", text)]
        finally:
            raw.close()

    def _plan(self, raw: sqlite3.Connection, statement: str) -> Plan:
        plan = Plan(statement)
        rows = raw.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        reads_table: set[int] = set()
        for _, parent, _, detail in rows:
            if found := re.match(
                r"(SEARCH|SCAN) (?:tasks|t)\b(?: USING (?:COVERING )?(?:INDEX (\w+)|(INTEGER PRIMARY KEY)))?", detail
            ):
                kind, index, key = found.groups()
                plan.indexes.add(index or ("primary key" if key else "none"))
                reads_table.add(parent)
                if kind == "SCAN":
                    plan.scans.append(detail)
        plan.sorts = [
            detail for _, parent, _, detail in rows if detail.startswith("USE TEMP") and parent in reads_table
        ]
        return plan


class PostgresPlanner(Planner):
    def __init__(self, dsn: str, *, generic: bool) -> None:
        self.database = PostgresDatabase(dsn, _StandingClock())
        self.store = TaskStore(PostgresTables())
        self._generic = generic

    def plans(self, work: Callable[[Connection], object]) -> list[Plan]:
        assert isinstance(self.database, PostgresDatabase)
        statements: dict[str, Any] = {}

        class Recording(psycopg.Cursor[Any]):
            def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
                statements[query] = params
                return super().execute(query, params, **options)

        with psycopg.connect(self.database.dsn, cursor_factory=Recording) as raw:
            work(self.database.wrap(raw))
            raw.rollback()
            asked = [(text, params) for text, params in statements.items() if re.search(r"\btasks\b", text)]
            with psycopg.Cursor(raw) as cursor:
                return [self._plan(cursor, text, params) for text, params in asked]

    def _plan(self, cursor: psycopg.Cursor[Any], statement: str, params: dict[str, Any]) -> Plan:
        if self._generic:
            tree = self._explain_prepared(cursor, statement, params)
        else:
            tree = cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}".encode(), params).fetchall()
        plan = Plan(statement)
        self._walk(tree[0][0][0]["Plan"], plan)
        return plan

    def _explain_prepared(self, cursor: psycopg.Cursor[Any], statement: str, params: dict[str, Any]) -> list[Any]:
        """Explain what a statement that was run often is planned like: once, without knowing its values."""
        places: dict[str, int] = {}
        numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${places.setdefault(found[1], len(places) + 1)}", statement)
        types = ["bigint" if isinstance(params[name], int) else "unknown" for name in places]
        declared = f"({', '.join(types)})" if types else ""
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE planned{declared} AS {numbered.replace('%%', '%')}".encode())
        given = f"({', '.join(['%s'] * len(types))})" if types else ""
        values = [params[name] for name in places]
        literal = psycopg.ClientCursor(cursor.connection).mogrify(f"EXECUTE planned{given}", values)
        tree = cursor.execute(f"EXPLAIN (FORMAT JSON) {literal}".encode()).fetchall()
        cursor.execute("DEALLOCATE planned")
        return tree

    def _walk(self, node: dict[str, Any], plan: Plan, *, limited: bool = False) -> None:
        kind = node["Node Type"]
        if node.get("Relation Name") == "tasks" and kind == "Seq Scan":
            plan.scans.append(kind)
        if index := node.get("Index Name"):
            plan.indexes.add("primary key" if index == "tasks_pkey" else index)
            if not node.get("Index Cond") and not limited and node["Plan Rows"] > MANY:
                plan.scans.append(f"{kind} of {index}")
        if kind in ("Sort", "Incremental Sort") and _reads_many(node["Plans"][0]):
            plan.sorts.append(f"{kind} of {node['Plans'][0]['Plan Rows']} rows")
        for child in node.get("Plans", []):
            self._walk(child, plan, limited=kind == "Limit")


def _reads_many(node: dict[str, Any]) -> bool:
    """Whether many rows come from the table to this node, without a limit on the way."""
    if node["Node Type"] == "Limit":
        return False
    if node.get("Relation Name") == "tasks":
        return bool(node["Plan Rows"] > MANY)
    return any(_reads_many(child) for child in node.get("Plans", []))


class _StandingClock(ManualClock):
    def __init__(self) -> None:
        super().__init__(NOW)

    async def wait(self, *_: object) -> bool:
        raise AssertionError("nothing waits here")


@pytest.fixture(scope="session")
def million_in_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "million.db"
    database = SqliteDatabase(path)
    database.open()
    migrate(database, RUNTIME)
    database.close()
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA synchronous = OFF")
    raw.execute("PRAGMA cache_size = -262144")
    raw.execute("BEGIN")
    indexes = raw.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'tasks' AND sql IS NOT NULL"
    ).fetchall()
    # Indexes are made faster over a full table than row by row.
    for name, _ in indexes:
        raw.execute(f"DROP INDEX {name}")
    raw.execute(
        f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {ROWS}) "
        f"INSERT INTO tasks ({_COLUMNS}) SELECT randomblob(16), {_ROW}, x'6e756c6c' FROM (SELECT n, {_STATE} FROM numbers)"
    )
    for _, text in indexes:
        raw.execute(text)
    raw.execute("COMMIT")
    raw.close()
    return path


@pytest.fixture(scope="session")
def million_in_postgres(postgres_dsn: str) -> Iterator[str]:
    name = f"kurabito_{uuid.uuid4().hex}"
    dsn = urlunsplit(urlsplit(postgres_dsn)._replace(path=f"/{name}"))
    with psycopg.connect(postgres_dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        try:
            _fill_postgres(dsn)
            yield dsn
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _fill_postgres(dsn: str) -> None:
    database = PostgresDatabase(dsn)
    database.open()
    migrate(database, RUNTIME)
    database.close()
    with psycopg.connect(dsn, autocommit=True) as raw:
        indexes = raw.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'tasks' AND indexname <> 'tasks_pkey'"
        ).fetchall()
        raw.execute("SET maintenance_work_mem = '256MB'")
        raw.execute("SET synchronous_commit = off")
        raw.execute("ALTER TABLE tasks SET UNLOGGED")
        for name, _ in indexes:
            raw.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
        raw.execute(
            f"INSERT INTO tasks ({_COLUMNS}) SELECT gen_random_uuid(), {_ROW}, convert_to(to_json(repeat('x', 200))::text, 'UTF8') "
            f"FROM (SELECT n, {_STATE} FROM generate_series(1::bigint, {ROWS}) AS n) AS numbers".encode()
        )
        for _, text in indexes:
            raw.execute(text.encode())
        raw.execute("VACUUM (ANALYZE) tasks")


@pytest.fixture(params=["sqlite", "sqlite after ANALYZE", "postgres", "postgres, prepared"])
def planner(request: pytest.FixtureRequest) -> Planner:
    chosen: str = request.param
    if chosen.startswith("postgres"):
        return PostgresPlanner(request.getfixturevalue("million_in_postgres"), generic="prepared" in chosen)
    path: Path = request.getfixturevalue("million_in_sqlite")
    raw = sqlite3.connect(path, isolation_level=None)
    known = raw.execute("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'").fetchone()[0]
    analyzed = known and raw.execute("SELECT count(*) FROM sqlite_stat1").fetchone()[0]
    if "ANALYZE" in chosen and not analyzed:
        raw.execute("ANALYZE")
    elif "ANALYZE" not in chosen and analyzed:
        raw.execute("DELETE FROM sqlite_stat1")
    raw.close()
    return SqlitePlanner(path)

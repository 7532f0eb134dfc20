"""However many files there are, a scan reads the stretch that it compares, and the rows that it writes."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from kurabito.dataplane.scan.queries import SQL
from kurabito.db import Dialect, Query, migrate, open_database
from kurabito.db.dialect import ROWS
from kurabito.db.migrate import PRODUCT
from kurabito.db.queries import for_postgres
from kurabito.db.rights import say_control_plane
from kurabito.db.rows import Column, row_source

FILES = 40_000
FILL = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, needs_hash, created_at, updated_at)
SELECT 1 + n / 20000, 'folder ' || (n / 20) || '/' || n, 1000 + n % 9000, n, 1, n, n % 2, 0, 0 FROM {numbers};
INSERT INTO library_roots (name, root_path, created_at, updated_at) VALUES ('films', '/films', 0, 0);
INSERT INTO scan_sessions (job_id, library_id, status, started_at) SELECT 'job ' || n, 1, 'succeeded', n FROM {sessions};
INSERT INTO scan_findings (session_id, finding, file_id) SELECT 1, 'unseen', n * 7 FROM {sessions};
"""
PATH, KEY, WHOLE = "ix_library_files_path", "primary key", "whole"
READS = {
    "find_library": {PATH},
    "forget_unseen_ahead": {KEY},
    "known_until": {PATH},
    "known_after": {PATH},
    "encoded_until": {PATH},
    "stored_among": {PATH},
    "add_files": set[str](),
    "change_files": {PATH},
    "bring_back": {PATH},
    "note_findings": {PATH},
    "moved_files": {KEY},
    "forget_files": {KEY},
    "move_files": {KEY},
    "mark_missing": {KEY},
    "other_files": {PATH},
    # Which sizes are shared is known only to whoever looked at all of them.
    "misjudged_files": {WHOLE},
    "want_hash": {KEY},
    "want_hash_at": {PATH},
    "want_no_hash": {KEY},
}
"""What each statement looks into when it reads files."""

VALUES = {
    "library": 1,
    "session": 1,
    "after": "folder 5/100",
    "until": "folder 5/119",
    "most": 100,
    "finding": "added",
    "now": 1,
}
GIVEN: dict[str, list[Any]] = {"paths": ["folder 5/100", "folder 5/101"], "files": [100, 101]}
COLUMNS = {
    "relative_path": "text",
    "size_bytes": "bigint",
    "mtime_ns": "bigint",
    "inode": "bigint",
    "device": "bigint",
    "needs_hash": "integer",
}


def query_of(name: str) -> Query:
    query: Query = getattr(SQL, name)
    return query


@pytest.mark.parametrize("dialect", [Dialect.SQLITE, Dialect.POSTGRES], ids=str)
def test_every_statement_about_files_is_looked_at(dialect: Dialect) -> None:
    assert {name for name in SQL if "library_files" in query_of(name).text(dialect)} == set(READS)


@pytest.fixture(scope="module")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scan") / "files.db"
    database = open_database(f"sqlite:///{path}")
    database.open()
    migrate(database, PRODUCT)
    database.close()
    raw = sqlite3.connect(path, isolation_level=None)
    say_control_plane(raw)
    numbers = "(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {}) SELECT n FROM c)"
    raw.executescript(f"BEGIN; {FILL.format(numbers=numbers.format(FILES), sessions=numbers.format(100))} COMMIT")
    raw.close()
    return path


@pytest.fixture(params=["as it is", "after ANALYZE"])
def raw(request: pytest.FixtureRequest, sqlite_file: Path) -> Iterator[sqlite3.Connection]:
    raw = sqlite3.connect(sqlite_file)
    if request.param == "after ANALYZE":
        raw.execute("ANALYZE")
    yield raw
    raw.rollback()
    raw.close()


def test_a_scan_reads_by_its_indexes_on_sqlite(raw: sqlite3.Connection) -> None:
    columns = {"id": 1, **dict.fromkeys(COLUMNS, 1)}
    values = {**VALUES, **columns, **{name: json.dumps(given) for name, given in GIVEN.items()}}
    source = f"SELECT {', '.join(f':{name} AS {name}' for name in COLUMNS)}"
    for query, expected in READS.items():
        statement = query_of(query).text(Dialect.SQLITE).replace(ROWS, source)
        steps = [detail for *_, detail in raw.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
        reads = [step for step in steps if re.match(r"(SCAN|SEARCH) (library_)?files\b", step)]
        assert {_read_of(step) for step in reads} == expected, (query, steps)
        if query in ("known_until", "encoded_until"):
            assert "(library_id=? AND relative_path>? AND relative_path<?)" in reads[0]
        if expected == {PATH}:
            assert not any("TEMP B-TREE" in step for step in steps), (query, steps)


def _read_of(step: str) -> str:
    if step.startswith("SCAN"):
        return WHOLE
    found = re.search(r"USING (?:COVERING )?(?:INDEX (\w+)|INTEGER (PRIMARY KEY))", step)
    assert found is not None, step
    return found[1] or KEY


@pytest.fixture
def postgres_file(fresh_postgres: str) -> Iterator[psycopg.Connection[Any]]:
    database = open_database(fresh_postgres)
    database.open()
    migrate(database, PRODUCT)
    database.close()
    with psycopg.connect(fresh_postgres, autocommit=True) as raw:
        numbers = "generate_series(1, {}) AS n"
        raw.execute(FILL.format(numbers=numbers.format(FILES), sessions=numbers.format(100)).encode())
        raw.execute("ANALYZE")
        yield raw


def test_a_scan_reads_by_its_indexes_on_postgres(postgres_file: psycopg.Connection[Any]) -> None:
    for query, expected in READS.items():
        statement = query_of(query).text(Dialect.POSTGRES)
        values: dict[str, Any] = {**VALUES, **GIVEN}
        if ROWS in statement:
            names = ["id", "relative_path"] if query == "move_files" else list(COLUMNS)
            source, arrays = row_source(*(Column(name, COLUMNS.get(name, "bigint"), _two(name)) for name in names))
            statement, values = statement.replace(ROWS, source), values | arrays
        text = f"EXPLAIN (FORMAT JSON) {for_postgres(statement, server_clock=True)}"
        ((tree,),) = postgres_file.execute(text.encode(), values).fetchall()
        assert set(_reads(tree[0]["Plan"])) == expected, (query, tree)


def _two(name: str) -> list[Any]:
    return GIVEN["paths"] if name == "relative_path" else GIVEN["files"]


def _reads(node: dict[str, Any]) -> Iterator[str]:
    is_of_files = node.get("Relation Name") == "library_files" or "library_files" in node.get("Index Name", "")
    if is_of_files and node["Node Type"] == "Seq Scan":
        yield WHOLE
    elif is_of_files and (index := node.get("Index Name")):
        yield KEY if index == "library_files_pkey" else index
    for child in node.get("Plans", []):
        yield from _reads(child)

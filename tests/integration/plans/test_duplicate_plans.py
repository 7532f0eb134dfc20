"""Among very many files a page of duplicate groups reads one stretch of its index, however late it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from kurabito.db import Dialect, Query, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.db.queries import for_postgres
from kurabito.library.duplicates.groups import EVERY, RECLAIMABLE
from kurabito.library.duplicates.reclaimable import SQL as WASTE

FILES = 100_000
FILL = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, is_missing, needs_hash,
                           hash_algorithm, content_hash, created_at, updated_at)
SELECT 1, 'folder/' || n, 1000 + (n / 3) % 3, n, 1, n, 0, 0, CASE WHEN (n / 3) % 2 = 0 THEN 'blake3' ELSE 'sha256' END,
       {digest}, 0, 0
FROM {numbers}
"""
SUMMARY = """
INSERT INTO duplicate_groups (hash_algorithm, content_hash, file_count, total_size_bytes, copies)
SELECT hash_algorithm, content_hash, count(*), sum(size_bytes), count(DISTINCT inode) FROM library_files
GROUP BY hash_algorithm, content_hash
"""
PLACE = {"file_count": 3, "total_size_bytes": 3003, "hash_algorithm": "blake3", "content_hash": b"0" * 32, "limit": 51}
WASTED = {"waste": 2002, "hash_algorithm": "blake3", "content_hash": b"0" * 32, "limit": 51}
GROUP = {"hash_algorithm": "blake3", "content_hash": b"0" * 32, "after": 7, "limit": 51}
PAGES = [
    ("first_groups", {"limit": 51}),
    ("groups_after", PLACE),
]


@pytest.fixture(scope="module")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("duplicates") / "files.db"
    database = open_database(f"sqlite:///{path}")
    database.open()
    migrate(database, PRODUCT)
    database.close()
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA synchronous = OFF")
    raw.execute("BEGIN")
    # Counted at once below, not one by one.
    for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    count = f"SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < {FILES}"
    text = FILL.format(digest="CAST(printf('%032d', n / 3) AS BLOB)", numbers="numbers")
    raw.execute(f"WITH RECURSIVE numbers (n) AS ({count}) {text}")
    raw.execute(SUMMARY)
    raw.execute("COMMIT")
    raw.close()
    return path


@pytest.fixture(scope="module")
def many_in_postgres(postgres_dsn: str) -> Iterator[str]:
    name = f"kurabito_{uuid4().hex}"
    dsn = urlunsplit(urlsplit(postgres_dsn)._replace(path=f"/{name}"))
    with psycopg.connect(postgres_dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        try:
            database = open_database(dsn)
            database.open()
            migrate(database, PRODUCT)
            database.close()
            with psycopg.connect(dsn, autocommit=True) as raw:
                raw.execute("ALTER TABLE library_files DISABLE TRIGGER USER")
                raw.execute("SET synchronous_commit = off")
                digest = "convert_to(lpad((n / 3)::text, 32, '0'), 'UTF8')"
                text = FILL.format(digest=digest, numbers=f"generate_series(1::bigint, {FILES}) AS n")
                raw.execute(text.encode())
                raw.execute(SUMMARY)
                raw.execute("VACUUM (ANALYZE) library_files, duplicate_groups")
            yield dsn
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def steps_on_sqlite(path: Path, query: Query, values: dict[str, Any]) -> list[str]:
    raw = sqlite3.connect(path)
    try:
        return [detail for *_, detail in raw.execute(f"EXPLAIN QUERY PLAN {query.text(Dialect.SQLITE)}", values)]
    finally:
        raw.close()


def nodes_on_postgres(dsn: str, query: Query, values: dict[str, Any]) -> list[dict[str, Any]]:
    with psycopg.connect(dsn) as raw:
        text = f"EXPLAIN (ANALYZE, FORMAT JSON) {for_postgres(query.text(Dialect.POSTGRES), server_clock=True)}"
        ((tree,),) = raw.execute(text.encode(), values).fetchall()

    def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield node
        for child in node.get("Plans", []):
            yield from walk(child)

    return list(walk(tree[0]["Plan"]))


@pytest.mark.parametrize("analyzed", [False, True], ids=["", "after ANALYZE"])
@pytest.mark.parametrize(("query", "values"), PAGES)
@pytest.mark.parametrize("index", ["ix_duplicate_groups_order", "ix_duplicate_groups_reclaimable"])
def test_a_page_reads_its_index_on_sqlite(
    many_files: Path, index: str, query: str, values: dict[str, Any], analyzed: bool
) -> None:
    raw = sqlite3.connect(many_files, isolation_level=None)
    raw.execute("ANALYZE")
    if not analyzed:
        raw.execute("DELETE FROM sqlite_stat1")
    raw.close()
    queries = EVERY if index.endswith("order") else RECLAIMABLE
    steps = steps_on_sqlite(many_files, getattr(queries, query), values)
    assert not any("TEMP B-TREE" in step for step in steps)
    reads = [step for step in steps if "duplicate_groups" in step]
    assert all(f"INDEX {index}" in step for step in reads)
    if query == "groups_after":
        same_size, same_count, smaller = reads
        assert "file_count=? AND total_size_bytes=? AND (hash_algorithm,content_hash)>(?,?)" in same_size
        assert "file_count=? AND total_size_bytes<?" in same_count
        assert "file_count<?" in smaller


@pytest.mark.parametrize(("query", "values"), PAGES)
@pytest.mark.parametrize("index", ["ix_duplicate_groups_order", "ix_duplicate_groups_reclaimable"])
def test_a_page_reads_its_index_on_postgres(
    many_in_postgres: str, index: str, query: str, values: dict[str, Any]
) -> None:
    queries = EVERY if index.endswith("order") else RECLAIMABLE
    nodes = nodes_on_postgres(many_in_postgres, getattr(queries, query), values)
    reads = [node for node in nodes if node.get("Relation Name") == "duplicate_groups"]
    assert {node.get("Index Name") for node in reads} == {index}
    # What is read is what is shown, and nothing that was shown before is passed by.
    assert sum(node["Actual Rows"] for node in reads) == 51
    assert not any(node.get("Rows Removed by Filter") for node in reads)
    assert not any("Sort" in node["Node Type"] for node in nodes)


def test_the_files_of_a_group_are_read_from_its_index(many_files: Path, many_in_postgres: str) -> None:
    (step,) = steps_on_sqlite(many_files, EVERY.files_of_group, GROUP)
    assert "INDEX ix_library_files_dedup_group (hash_algorithm=? AND content_hash=? AND id>?)" in step
    nodes = nodes_on_postgres(many_in_postgres, EVERY.files_of_group, GROUP)
    assert "Seq Scan" not in {node["Node Type"] for node in nodes}


@pytest.mark.parametrize(("query", "values"), [("first_groups", {"limit": 51}), ("groups_after", WASTED)])
def test_a_page_by_waste_reads_its_index(
    many_files: Path, many_in_postgres: str, query: str, values: dict[str, Any]
) -> None:
    statement = getattr(WASTE, query)
    steps = steps_on_sqlite(many_files, statement, values)
    assert not any("TEMP B-TREE" in step for step in steps)
    reads = [step for step in steps if "duplicate_groups" in step]
    assert all("INDEX ix_duplicate_groups_waste" in step for step in reads)
    nodes = nodes_on_postgres(many_in_postgres, statement, values)
    found = [node for node in nodes if node.get("Relation Name") == "duplicate_groups"]
    assert {node.get("Index Name") for node in found} == {"ix_duplicate_groups_waste"}
    assert not any("Sort" in node["Node Type"] for node in nodes)

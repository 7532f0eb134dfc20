"""However many files there are, a hash job finds its own by an index."""

from __future__ import annotations

import pytest

from kurabito.dataplane.hashing import store
from kurabito.dataplane.hashing.store import START
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol.enums import HashAlgorithm


def every_statement(conn: Connection) -> None:
    store.count_waiting(conn, 1)
    store.unsampled(conn, 1, START, 10)
    store.sampled(conn, 1, START, 10)
    store.settle_unique(conn, [START])
    store.want_twins(conn, [START])
    store.note_edges(conn, [(START, b"digest")])
    store.note_contents(conn, [(START, b"digest")], HashAlgorithm.BLAKE3)
    store.note_problems(conn, [(START, ("FILE_UNREADABLE", "gone"))])


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_no_statement_reads_all_files(database: Database) -> None:
    statements: list[str] = []

    def work(conn: Connection) -> list[str]:
        conn.raw.set_trace_callback(statements.append)
        every_statement(conn)
        conn.raw.set_trace_callback(None)
        plans = [conn.raw.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall() for sql in statements if "files" in sql]
        return [step[3] for plan in plans for step in plan]

    steps = database.write_blocking(work)
    assert len(steps) > 8
    assert [step for step in steps if step.startswith("SCAN") and "json_each" not in step] == []
    assert "SEARCH other USING INDEX ix_library_files_twins (size_bytes=? AND edge_hash=?)" in steps
    assert "SEARCH other USING INDEX ix_library_files_twins (size_bytes=?)" not in steps
    assert not [step for step in steps if "TEMP B-TREE" in step]
    for index in ("unread", "unreadable"):
        # For each page of files that are sampled, and of those that were: nothing before it is read again.
        assert len([step for step in steps if f"ix_library_files_{index} (library_id=? AND id>?)" in step]) == 2


def test_a_page_of_files_is_read_from_where_it_begins(fresh_postgres: str) -> None:
    database = open_database(fresh_postgres)
    database.open()
    migrate(database, PRODUCT)

    def plans(conn: Connection) -> list[str]:
        conn.script(
            "INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, edge_hash, hash_retry_after, "
            "needs_hash, created_at, updated_at) "
            "SELECT 1, n, n, 1, CASE WHEN n % 3 = 0 THEN decode(repeat('ed', 32), 'hex') END, CASE WHEN n % 7 = 0 THEN 5 END, "
            "CASE WHEN n % 5 = 0 THEN 1 ELSE 0 END, 1, 1 FROM generate_series(1, 20000) AS n; ANALYZE library_files"
        )
        page = {"library_id": 1, "id": 5000, "limit": 100}
        asked = (query.text(conn.dialect) for query in (store._SQL.unsampled, store._SQL.sampled))
        return ["\n".join(step for (step,) in conn.all(f"EXPLAIN {sql}", page)) for sql in asked]

    for plan in database.write_blocking(plans):
        assert "Index Scan using ix_library_files_unread " in plan
        assert "Index Scan using ix_library_files_unreadable " in plan
        assert "Seq Scan" not in plan
    database.close()

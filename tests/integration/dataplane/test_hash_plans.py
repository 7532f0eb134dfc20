"""However many files there are, a hash job finds its own by an index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kurabito.dataplane import hash_store as store
from kurabito.dataplane.hash_store import START
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.protocol.values import HashAlgorithm


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(f"sqlite:///{tmp_path / 'files.db'}")
    database.open()
    migrate(database, PRODUCT)
    yield database
    database.close()


def every_statement(conn: Connection) -> None:
    store.count_waiting(conn, 1)
    store.unsampled(conn, 1, START, 10)
    store.sampled(conn, 1, START, 10)
    store.settle_unique(conn, [START])
    store.want_twins(conn, [START])
    store.note_edges(conn, [(START, b"digest")])
    store.note_contents(conn, [(START, b"digest")], HashAlgorithm.BLAKE3)
    store.note_problems(conn, [(START, ("FILE_UNREADABLE", "gone"))])


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

"""Each path of a thumbnail or a cleanup writes its own columns and no others, and finds its rows however many wait."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.planes import register

from kurabito.db import Connection, Dialect, leases, migrate, open_database
from kurabito.db.leases import CLAIM, HEARTBEAT, RECOVER
from kurabito.db.leases.recovery import _has_work_sql
from kurabito.db.migrate import PRODUCT
from kurabito.db.rights import restrict
from kurabito.protocol.leased import cleanups, thumbnails
from kurabito.protocol.leased.cleanups import CLEANUPS, FINISH
from kurabito.protocol.leased.thumbnails import FAILED, READY, THUMBNAILS
from kurabito.protocol.rights import rights_of_path

if TYPE_CHECKING:
    from tests.integration.dataplane.thumbs.conftest import Gallery

LEASE = {"worker_heartbeat_at", "lease_expires_at", "updated_at"}
CLAIMED = LEASE | {"status", "worker_id", "started_at"}
ENDED = LEASE | {"status", "error_code", "error_message", "error_count", "retry_after", "finished_at"}
DRAWN = ENDED | {"width", "height", "bytes_size"}
CLEANUP_CLAIMED = LEASE | {"status", "worker_id", "finished_at"}
CLEANUP_ENDED = LEASE | {"status", "error_code", "error_message", "finished_at"}

ADD = {
    "thumbnails": "INSERT INTO thumbnails (id, thumb_key, file_id, group_key, media_type, format, max_dimension, "
    "source_size_bytes, source_mtime_ns, output_path, status, created_at, updated_at) "
    "VALUES (1, 'k', 1, 'g', 'image', 'jpeg', 100, 1, 1, 'o', :status, 0, 0)",
    "thumbnail_cleanup_jobs": "INSERT INTO thumbnail_cleanup_jobs (id, group_key, status, execute_after, created_at, "
    "updated_at) VALUES (1, 'g', :status, 0, 0, 0)",
}
OWNED = [(1, "plane#1")]
IMAGES = "media_type = 'image'"


def test_the_paths_may_write_what_the_protocol_lists() -> None:
    assert THUMBNAILS.writes == {
        CLAIM: CLAIMED,
        HEARTBEAT: LEASE,
        READY: DRAWN,
        FAILED: ENDED,
        RECOVER: CLAIMED | DRAWN,
    }
    assert CLEANUPS.writes == {
        CLAIM: CLEANUP_CLAIMED,
        HEARTBEAT: LEASE,
        FINISH: CLEANUP_ENDED,
        RECOVER: CLEANUP_CLAIMED | CLEANUP_ENDED,
    }


STATEMENTS: dict[tuple[str, str], Callable[[Connection], Any]] = {
    ("thumbnails", CLAIM): lambda conn: leases.claim(conn, THUMBNAILS, "p#1", lease=1, limit=1, only=IMAGES),
    ("thumbnails", HEARTBEAT): lambda conn: leases.heartbeat(conn, THUMBNAILS, OWNED, lease=1),
    ("thumbnails", READY): lambda conn: leases.finish(
        conn,
        THUMBNAILS,
        READY,
        [(1, "plane#1", 4, 3, 100)],
        given=thumbnails.READY_VALUES,
        columns=thumbnails.READY_COLUMNS,
    ),
    ("thumbnails", FAILED): lambda conn: leases.finish(
        conn,
        THUMBNAILS,
        FAILED,
        [(1, "plane#1", "CODE", "told", 5)],
        given=thumbnails.FAILED_VALUES,
        columns=thumbnails.FAILED_COLUMNS,
    ),
    ("thumbnails", RECOVER): lambda conn: (
        leases.release(conn, THUMBNAILS, OWNED),
        leases.recover(conn, THUMBNAILS),
    ),
    ("thumbnail_cleanup_jobs", CLAIM): lambda conn: leases.claim(conn, CLEANUPS, "p#1", lease=1, limit=1),
    ("thumbnail_cleanup_jobs", HEARTBEAT): lambda conn: leases.heartbeat(conn, CLEANUPS, OWNED, lease=1),
    ("thumbnail_cleanup_jobs", FINISH): lambda conn: leases.finish(
        conn,
        CLEANUPS,
        FINISH,
        [(1, "plane#1", "failed", "CODE", "told")],
        given=cleanups.FINISH_VALUES,
        columns=cleanups.FINISH_COLUMNS,
    ),
    ("thumbnail_cleanup_jobs", RECOVER): lambda conn: (
        leases.release(conn, CLEANUPS, OWNED),
        leases.recover(conn, CLEANUPS),
    ),
}


def test_the_statements_of_a_path_need_no_more_than_its_own_columns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'files.db'}"
    database = open_database(url)
    database.open()
    migrate(database, PRODUCT)
    register(database, "p")
    specs = {spec.table: spec for spec in (THUMBNAILS, CLEANUPS)}
    assert {(spec.table, path) for spec in specs.values() for path in spec.writes} == STATEMENTS.keys()
    for (table, path), statement in STATEMENTS.items():
        status = "pending" if path == CLAIM else "running"
        for other in ADD:
            database.write_blocking(lambda conn, other=other: conn.run(f"UPDATE {other} SET status = 'failed'"))  # type: ignore[misc]
            database.write_blocking(lambda conn, other=other: conn.run(f"DELETE FROM {other}"))  # type: ignore[misc]
        database.write_blocking(lambda conn, table=table, status=status: conn.run(ADD[table], {"status": status}))  # type: ignore[misc]
        raw = sqlite3.connect(tmp_path / "files.db", isolation_level=None)
        try:
            restrict(raw, rights_of_path(path, specs[table]))
            assert statement(open_database(url).wrap(raw))
            with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
                raw.execute(f"UPDATE {table} SET group_key = 'mine'")
        finally:
            raw.close()
    database.close()


MANY = """
INSERT INTO thumbnails (thumb_key, file_id, group_key, media_type, format, max_dimension, source_size_bytes,
                        source_mtime_ns, output_path, status, lease_expires_at, created_at, updated_at)
WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 6000)
SELECT 'k' || n, n, 'g' || n, 'image', 'jpeg', 100, 1, 1, 'o' || n,
       CASE WHEN n % 2 = 0 THEN 'pending' WHEN n % 500 = 1 THEN 'running' ELSE 'ready' END, 9000000000000000, n, n FROM n
"""
WANTED = "SELECT 1 FROM thumbnails AS wanted WHERE wanted.group_key = 'g7' AND wanted.status IN ('pending', 'running')"


@pytest.mark.parametrize("analysed", [False, True])
def test_no_look_for_work_walks_through_what_waits(gallery: Gallery, analysed: bool) -> None:
    gallery.do(MANY)
    if analysed or gallery.database.dialect is Dialect.POSTGRES:
        gallery.database.write_blocking(lambda conn: conn.script("ANALYZE thumbnails"))
    first = f"SELECT id FROM thumbnails WHERE {THUMBNAILS.claimable_if(IMAGES)} ORDER BY {THUMBNAILS.order} LIMIT 1"
    stale = "SELECT id FROM thumbnails WHERE status = 'running' AND lease_expires_at <= 5"
    for sql, index in (
        (first, "ix_thumbnails_waiting"),
        (stale, "ix_thumbnails_lease"),
        (_has_work_sql(THUMBNAILS, IMAGES).replace(":now", "5"), "ix_thumbnails_lease"),
        (WANTED, "ix_thumbnails_group"),
    ):
        explain = "EXPLAIN QUERY PLAN " if gallery.database.dialect is Dialect.SQLITE else "EXPLAIN "
        plan = " ".join(str(row) for row in gallery.ask(explain + sql))
        assert index in plan
        assert "B-TREE" not in plan
        assert "Sort" not in plan

"""What the panel of a file, folders and shows ask goes by an index, however much there is, with statistics and without."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog import summaries
from kurabito.catalog.identity import report
from kurabito.db import Connection, Dialect, Query
from kurabito.library.deletion import discards
from kurabito.library.media import store as media
from kurabito.placements import file_story

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

MANY = 5_000
NUMBERS = f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY}) "
FILL = {
    "library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at)": (
        "n, 1, 'Show ' || (n / 100) || '/' || n || '.mkv', 1, 1, 1, 1"
    ),
    "series (id, title, created_at, updated_at)": "n, 's' || n, 1, 1",
    "episodes (id, series_id, kind, number, created_at, updated_at)": "n, n % 1000 + 1, 'tv', n / 1000, 1, 1",
    "episode_files (episode_id, file_id, created_at)": "n, n, 1",
    "media_facts (file_id, size_bytes, mtime_ns, read_at)": "n, 1, 1, 1",
    "inspections (id, kind, folder, status, created_at, updated_at)": "n, 'arrival', '/', 'completed', 1, 1",
    "placements (id, library_id, mode, size_bytes, target_path, status, created_at, updated_at)": (
        "n, 1, 'link', 1, n || '.mkv', 'completed', 1, 1"
    ),
    "jobs (id, kind, status, created_at, updated_at)": "'job ' || n, 'delete', 'completed', n, n",
    "deletion_log (id, job_id, position, action, state, library_id, relative_path, created_at)": (
        "'log ' || n, 'job ' || n, 1, 'trash', 'done', 1, n || '.mkv', n"
    ),
    "trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash, trashed_at)": (
        "'log ' || n, n, 1, n || '.mkv', '.kurabito-trash/' || n, 1, 'blake3', :hash, n"
    ),
}
NUMBERED = {"id": 7, "library_id": 1, "after": 5, "until": 50, "looked_at": 200, "longest": 9}
NAMED = {"path": "5.mkv", "folder": "/", "ordered": "x%", "error_code": "x"}

FEW = ("SCAN given", "SCAN below", "ix_inspections_media")
"""What may be read whole: what was given, the few files of a folder that its index found, and what is asked for just now."""


def statements() -> list[Query]:
    catalog, story = summaries.SQL, file_story._SQL
    return [
        catalog.shows_of_folders,
        catalog.match_of_folders,
        catalog.series_of_record,
        catalog.matches_of_record,
        catalog.files,
        report._SQL.series_of_records,
        story.file,
        story.episodes,
        story.placements,
        story.trashed,
        media.SQL.ended,
        media.SQL.count_open,
        media.SQL.last_file,
        media.SQL.unread,
        media.SQL.of_files,
        discards._SQL.entries,
        discards._SQL.refusals,
    ]


@pytest.mark.parametrize("with_statistics", [False, True])
def test_nothing_is_read_whole_for_a_page(shelf: Shelf, with_statistics: bool) -> None:
    def fill(conn: Connection) -> None:
        for into, values in FILL.items():
            assert conn.run(f"INSERT INTO {into} {NUMBERS} SELECT {values} FROM numbers", {"hash": bytes(32)}) == MANY
        if with_statistics:
            conn.run("ANALYZE")

    shelf.database.write_blocking(fill)
    rows = [{"folder": "Show 7", "begin": "Show 7/", "end": "Show 70", "id": 7, "path": "5.mkv"}]
    for query in statements():
        sql = query.text(shelf.database.dialect)
        # A list of numbers for the one, of objects for the others.
        given = json.dumps([7]) if query is media.SQL.of_files else json.dumps(rows)
        values: dict[str, Any] = {**NUMBERED, **NAMED, "rows": given}
        if query in (discards._SQL.entries, discards._SQL.refusals):
            values["id"] = "job 7"
        assert whole_reads(shelf, sql, values) == [], sql


def whole_reads(shelf: Shelf, sql: str, values: dict[str, Any]) -> list[str]:
    """The tables that have to be read from one end to the other."""
    if shelf.database.dialect is Dialect.SQLITE:
        steps = [row[3] for row in shelf.all(f"EXPLAIN QUERY PLAN {sql}", **values)]
        return [step for step in steps if step.startswith("SCAN") and not any(few in step for few in FEW)]

    def explain(conn: Connection) -> Any:
        conn.run("SET LOCAL enable_seqscan = off")
        return conn.all(f"EXPLAIN (FORMAT JSON) {sql}", values)[0][0][0]["Plan"]

    return _seq_scans(shelf.database.write_blocking(explain))


def _seq_scans(node: dict[str, Any]) -> list[str]:
    own = [node["Relation Name"]] if node["Node Type"] == "Seq Scan" else []
    return own + [name for below in node.get("Plans", []) for name in _seq_scans(below)]

"""Lists and lookups go by an index, however much there is, with statistics and without."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog import linker, links, series, summaries
from kurabito.catalog.corrections import changes, files, merge
from kurabito.catalog.identity import knowledge, questions
from kurabito.catalog.identity.index import names as index_names
from kurabito.catalog.relinks import links as relinks
from kurabito.db import Connection, Dialect, Query
from kurabito.feeds import raw_items
from kurabito.metadata.sources import offline

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

MANY = 5_000
NUMBERS = f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY}) "
FILL = {
    "groups (id, name, folded, created_at)": "n, 'g' || n, 'g' || n, 1",
    "offline_titles (folded, entry_id)": "'s' || n, n / 3",
    "series (id, title, state, created_at, updated_at)": (
        "n, 's' || n, CASE WHEN n % 100 = 0 THEN 'asked' ELSE 'followed' END, 1, 1"
    ),
    "series_aliases (folded, kind, season, name, series_id)": "'s' || n, 'tv', 1, 's' || n, n",
    "episodes (id, series_id, kind, number, created_at, updated_at)": "n, n % 1000 + 1, 'tv', n / 1000, 1, 1",
    "raw_anime_items (id, subscription_id, identity, title, status, created_at, updated_at)": (
        "n, n % 20 + 1, 'i' || n, 't', CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'parsed' END, 1, 1"
    ),
    "anime_links (id, release_key, series_id, episode_id, title, url, held_reason, created_at)": (
        "n, 'r' || n, n % 1000 + 1, n, 't', 'u', CASE WHEN n % 100 = 0 THEN 'no_episode' END, 1"
    ),
}
VALUES = {
    "before": 4_000,
    "beyond": 4_000,
    "limit": 50,
    "status": "failed",
    "subscription_id": 3,
    "series_id": 5,
    "state": "asked",
    "id": 7,
}


def statements() -> list[tuple[Query, str]]:
    """What is asked, and the index that SQLite has to answer it by."""
    item, link = raw_items._SQL, links._SQL
    return [
        (item[False, False].page, "PRIMARY KEY"),
        (item[True, False].page, "ix_raw_anime_items_status"),
        (item[False, True].page, "ix_raw_anime_items_subscription"),
        (item[True, True].page, "ix_raw_anime_items_"),
        (item[False, False].known, "(subscription_id=? AND identity=?)"),
        (link[False, False].page, "PRIMARY KEY"),
        (link[True, False].page, "ix_anime_links_series"),
        (link[False, True].page, "ix_anime_links_held"),
        (link[True, True].page, "ix_anime_links_"),
        (series._queries(is_first=False).page, "PRIMARY KEY"),
        (series._queries("AND state = :state").page, "ix_series_state"),
        (series._queries().aliases, "ix_series_aliases_series"),
        (knowledge.SQL.named, "(folded=?)"),
        (knowledge.SQL.like_romaji, "ix_series_aliases_romaji"),
        (knowledge.SQL.names, "ix_series_aliases_series"),
        (index_names.SQL.entries, "PRIMARY KEY (folded=?)"),
        (index_names.SQL.sounding, "PRIMARY KEY (sound=?)"),
        (index_names.SQL.parts, "ix_offline_entries_tmdb"),
        (knowledge.SQL.series_of_entries, "PRIMARY KEY"),
        (offline._SQL.namesakes, "PRIMARY KEY (folded=?)"),
        (linker._SQL.known_releases, "ix_anime_links_release_episode"),
        (summaries.SQL.decisions, "ix_anime_links_release_"),
        (summaries.SQL.progress, "(series_id=? AND kind=?"),
        (summaries.SQL.followed, "ix_series_"),
        (linker._SQL.groups, "(folded=?)"),
        (changes._SQL.forget_links, "PRIMARY KEY"),
        (changes._SQL.forget_names, "(folded=? AND kind=?"),
        (files._SQL.placed_for_episodes, "ix_placement_episodes_episode"),
        (merge.SQL.subscriptions, "ix_subscriptions_series"),
        (merge.SQL.identity_questions, "ix_identity_questions_series"),
        (questions.SQL.of_series, "ix_identity_questions_series"),
        (index_names.SQL.entries_of_pages, "ix_offline_entries_mikan"),
        (relinks.SQL.again, "PRIMARY KEY"),
        (relinks.SQL.beside, "ix_anime_links_release_"),
        (relinks.SQL.states, "PRIMARY KEY"),
        (linker._SQL.episodes, "(series_id=? AND kind=? AND number=?)"),
    ]


@pytest.mark.parametrize("with_statistics", [False, True])
def test_every_list_and_lookup_has_its_index(desk: Desk, with_statistics: bool) -> None:
    for number in range(20):
        desk.subscribe(f"https://feeds.example/{number}")

    def fill(conn: Connection) -> None:
        for into, values in FILL.items():
            assert conn.run(f"INSERT INTO {into} {NUMBERS} SELECT {values} FROM numbers") == MANY
        if with_statistics:
            conn.run("ANALYZE")

    desk.database.write_blocking(fill)
    keys = ("identity", "folded", "release_key", "id", "series_id", "kind", "number")
    values = {**VALUES, "rows": json.dumps([dict.fromkeys(keys, 5)])}
    for query, index in statements():
        sql = query.text(desk.database.dialect)
        if desk.database.dialect is Dialect.SQLITE:
            first, *others = [
                row[3] for row in desk.all(f"EXPLAIN QUERY PLAN {sql}", **values) if "given" not in row[3]
            ]
            assert index in first, sql
            assert not [step for step in (first, *others) if step.startswith("SCAN")], sql
            assert ":before" not in sql or not [step for step in others if "ORDER BY" in step], sql
        else:
            assert whole_reads(desk, sql, values) == [], sql


def test_the_progress_of_a_few_series_does_not_look_at_the_files_of_all(desk: Desk) -> None:
    files = "library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at)"
    filled = {
        **{into: values for into, values in FILL.items() if into.startswith(("series (", "episodes ("))},
        files: "n, 1, 's/' || n, 1, 1, 1, 1",
        "episode_files (episode_id, file_id, created_at)": "n, n, 1",
    }

    def fill(conn: Connection) -> None:
        conn.run("INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'S', '/s', 1, 1)")
        for into, values in filled.items():
            conn.run(f"INSERT INTO {into} {NUMBERS} SELECT {values} FROM numbers")
        conn.run("ANALYZE")

    desk.database.write_blocking(fill)
    if desk.database.dialect is Dialect.POSTGRES:
        sql = summaries.SQL.progress.text(desk.database.dialect)
        rows = json.dumps([{"id": number} for number in range(60)])
        plan = desk.all(f"EXPLAIN (VERBOSE, FORMAT JSON) {sql}", rows=rows)
        assert "hashed" not in json.dumps(plan[0][0])


def whole_reads(desk: Desk, sql: str, values: dict[str, Any]) -> list[str]:
    """The tables that PostgreSQL has to read from one end to the other."""

    def explain(conn: Connection) -> Any:
        # Of small tables it rightly reads all; the question is whether it has to.
        conn.run("SET LOCAL enable_seqscan = off")
        return conn.all(f"EXPLAIN (FORMAT JSON) {sql}", values)[0][0][0]["Plan"]

    return _seq_scans(desk.database.write_blocking(explain))


def _seq_scans(node: dict[str, Any]) -> list[str]:
    own = [node["Relation Name"]] if node["Node Type"] == "Seq Scan" else []
    return own + [name for below in node.get("Plans", []) for name in _seq_scans(below)]

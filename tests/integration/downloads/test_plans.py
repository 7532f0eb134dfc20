"""What dispatch, polls, filters and lists ask goes by an index, however much there is, with statistics and without."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from kurabito.db import Connection, Database, Dialect, Query
from kurabito.downloads import release_options
from kurabito.downloads import store as rows
from kurabito.downloads.dispatch import attempts, outbox, poller, recovery
from kurabito.downloads.filters import store
from kurabito.downloads.filters.model import Target
from kurabito.modules import services

MANY = 5_000
NUMBERS = f"WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY}) "
STATUS = (
    "CASE n % 50 WHEN 0 THEN 'pending' WHEN 1 THEN 'downloading' WHEN 2 THEN 'downloader_error' WHEN 3 THEN 'no_downloader' "
    "WHEN 4 THEN 'failed' WHEN 5 THEN 'cancelled' ELSE 'completed' END"
)
FILL = {
    "service_modules (module_id, service_type, service_name, host, port, instance_id, token, registered_at, last_seen_at)": (
        "n, 'downloader', 's' || n, 'h', 1, 'i', 't', 1, 1"
    ),
    "groups (id, name, folded, created_at)": "n, 'g' || n, 'g' || n, 1",
    "series (id, title, state, created_at, updated_at)": "n, 's' || n, 'followed', 1, 1",
    "episodes (id, series_id, kind, number, created_at, updated_at)": "n, n % 1000 + 1, 'tv', n / 1000, 1, 1",
    "anime_links (id, release_key, series_id, episode_id, group_id, title, url, created_at)": (
        "n, 'r' || n, n % 1000 + 1, n, n % 500 + 1, 't', 'u', 1"
    ),
    "downloads (id, link_id, module_id, status, hash, queued_at, progressed_at, created_at, updated_at)": (
        f"n, n, n % 50 + 1, {STATUS}, 'h' || n, 1, 1, 1, 1"
    ),
    "dispatch_attempts (id, download_id, module_id, module_name, hash, outcome, owed, sent_at)": (
        "n, n, n % 50 + 1, 'm', 'h' || n, CASE WHEN n % 100 = 0 THEN 'sent' ELSE 'accepted' END, "
        "CASE WHEN n % 100 = 1 THEN 'cancel' END, 1"
    ),
}
VALUES: dict[str, Any] = {
    "before": 4_000,
    "limit": 50,
    "status": "downloading",
    "module_id": 3,
    "id": 7,
    "age": 5,
    "soon": 5,
    "same_reason": '{"code": "switched_off"%',
    "module_name": "s5",
    "kind": "cancel",
    "reason": "r",
    "has_stalled": 0,
    "target_id": 5,
    "download_type": "magnet",
    "episode_id": 5,
    "hash": "h5",
    "detail": None,
    "service_type": "downloader",
    "service_name": "s5",
}


class Asked(NamedTuple):
    """A statement, what it is given, and a table that it may read from one end to the other."""

    query: Query
    given: Any = None
    whole: str | None = None


IDS = [5, 6]
ROWS = [{"id": 5, "hash": "h5", "status": "failed", "outcome": "accepted", "type": "magnet"}]


def statements() -> dict[str, Asked]:
    """By name, so that a failure says which."""
    row, tried, poll, choice = (
        rows._SQL,
        attempts._SQL,
        poller._SQL,
        release_options.SQL,
    )
    names = ("requeue_links", "cancel", "of_links", "elsewhere", "restate")
    asked = {name: Asked(getattr(row, name), IDS) for name in names}
    asked |= {name: Asked(getattr(row, name)) for name in ("sharing", "note_detail", "get")}
    sent = outbox._SQL
    asked |= {name: Asked(getattr(sent, name), IDS) for name in ("requests", "touch")}
    asked |= {name: Asked(getattr(sent, name), ROWS) for name in ("held_elsewhere", "join_held", "accept", "conclude")}
    asked |= {"promised": Asked(sent.promised)}
    left = recovery._SQL
    asked |= {name: Asked(getattr(left, name)) for name in ("requeue_due", "stuck", "readopt", "readopt_cleanups")}
    asked |= {name: Asked(getattr(left, name), IDS) for name in ("rescue", "readopt_attempts")}
    asked |= {"requeue": Asked(row.requeue, ROWS), "requeued": Asked(rows._NOT_REFUSED_SQL.requeue, ROWS)}
    asked |= {f"page {narrowed}": Asked(sql) for narrowed, sql in rows._PAGES.items()}
    asked |= {
        name: Asked(getattr(tried, name), IDS)
        for name in ("in_round", "request_cleanup", "settle", "revive", "abandon")
    }
    asked |= {
        name: Asked(getattr(tried, name), ROWS)
        for name in ("drop_unanswered", "record_answers", "look_elsewhere", "set_hashes")
    }
    asked |= {name: Asked(getattr(tried, name)) for name in ("of_download", "pending_cleanups", "abandon_old")}
    asked |= {name: Asked(getattr(poll, name)) for name in ("watched", "mark_unreachable", "stalled", "away")}
    asked |= {"apply": Asked(poll.apply, ROWS)}
    asked |= {"orphans": Asked(poll.orphans), "switched_off": Asked(poll.switched_off, whole="module")}
    asked |= {"leave": Asked(poll.leave, ROWS)}
    asked |= {name: Asked(getattr(choice, name), IDS) for name in ("options", "current", "rivals", "have")}
    asked |= {name: Asked(getattr(choice, name), IDS) for name in ("open_conflicts", "under_way", "of_downloads")}
    asked |= {
        "open_links": Asked(choice.open_links),
        "able": Asked(services._SQL.able, whole="downloader_capabilities"),
        "named": Asked(services._SQL.named),
    }
    for target in (Target.SERIES, Target.GROUP):
        asked[f"links of a {target}"] = Asked(store._sql(target=target).in_scope)
    # Whoever asks about every link gets every link; what is known of each is still looked up.
    asked["every link"] = Asked(store._sql(frozenset({"module_id"})).in_scope, whole="link")
    asked |= {
        "links": Asked(store._sql().links, IDS),
        "mark": Asked(store._sql().mark, ROWS),
    }
    return asked


@pytest.mark.parametrize("with_statistics", [False, True])
def test_every_question_has_its_index(database: Database, with_statistics: bool) -> None:
    def fill(conn: Connection) -> None:
        for into, values in FILL.items():
            assert conn.run(f"INSERT INTO {into} {NUMBERS} SELECT {values} FROM numbers") == MANY
        conn.run(
            "INSERT INTO downloader_capabilities (module_id, download_type) SELECT module_id, 'magnet' FROM service_modules "
            "WHERE module_id <= 50"
        )
        if with_statistics:
            conn.run("ANALYZE")

    database.write_blocking(fill)
    dialect = database.dialect
    read = sqlite_reads if dialect is Dialect.SQLITE else postgres_reads
    found = {
        name: whole
        for name, asked in statements().items()
        if (whole := [one for one in read(database, asked) if one != asked.whole])
    }
    assert found == {}


def sqlite_reads(database: Database, asked: Asked) -> list[str]:
    """The tables that SQLite reads from one end to the other, and the pages that it sorts."""
    values, sql = {**VALUES, "rows": json.dumps(asked.given)}, asked.query.text(Dialect.SQLITE)
    steps = [row[3] for row in database.read_blocking(lambda conn: conn.all(f"EXPLAIN QUERY PLAN {sql}", values))]
    scans = [step.split()[1] for step in steps if step.startswith("SCAN")]
    sorts = [step for step in steps if ":before" in sql and "ORDER BY" in step]
    return [one for one in scans if not re.match(r"given|\(|json_each|each_content", one)] + sorts


def postgres_reads(database: Database, asked: Asked) -> list[str]:
    """The tables that PostgreSQL has to read from one end to the other, and the pages that it has to sort."""

    sql = asked.query.text(Dialect.POSTGRES)

    def explain(conn: Connection) -> Any:
        # Of small tables it rightly reads all; the question is whether it has to.
        conn.run("SET LOCAL enable_seqscan = off")
        conn.run("SET LOCAL enable_sort = off")
        values = {**VALUES, "rows": json.dumps(asked.given)}
        return conn.all(f"EXPLAIN (FORMAT JSON) {sql}", values)[0][0][0]["Plan"]

    return list(_whole(database.write_blocking(explain), is_page=":before" in sql))


def _whole(node: dict[str, Any], *, is_page: bool) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan":
        yield node["Alias"]
    if is_page and node["Node Type"] in ("Sort", "Incremental Sort"):
        yield "a sort"
    for below in node.get("Plans", []):
        yield from _whole(below, is_page=is_page)

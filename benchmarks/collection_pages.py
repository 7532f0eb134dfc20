"""The pages of a large collection: the wall of shows, one show, the search box and the first page, to their last byte."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import postgres
from harness import Options, Outcome, Row, number, run_alone
from kurabito.access import Principal, Scope
from kurabito.api import Live, TaskMeter
from kurabito.app.product import open_product
from kurabito.app.site import build_site, open_access
from kurabito.db import Connection
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings
from processes import BenchmarkBroken

LIMIT_MS: Final = 60.0
_KEY: Final = "a key for the benchmark"
# Table, rows for each show (0 is one row in all), columns, and the values of row n.
_TABLES: Final = (
    (
        "library_roots",
        0,
        "id, name, root_path, algorithm, hash_policy, created_at, updated_at",
        "1, 'Shows', '/srv/shows', 'blake3', 'candidates', :now, :now",
    ),
    (
        "series",
        1,
        "id, title, season, kind, year, episode_offset, state, created_at, updated_at",
        # A quarter was adopted and is not followed; of some of these no file is there.
        """n, 'Show ' || (n * 7919 % :shows) || ' of the Storehouse', 1, 'tv', 1980 + n % 45, 0,
        CASE WHEN n % 4 = 0 THEN 'ignored' ELSE 'followed' END, :now, :now""",
    ),
    (
        "series_aliases",
        1,
        "series_id, name, folded, season, kind, source",
        "n, 'Show ' || n, 'show' || n, 1, 'tv', 'keeper'",
    ),
    (
        "episodes",
        20,
        "id, series_id, kind, number, state, aired_at, created_at, updated_at",
        """n, (n - 1) / 20 + 1, 'tv', (n - 1) % 20 + 1, CASE WHEN (n - 1) % 20 < 17 THEN 'have' ELSE 'wanted' END,
        :now + (n % 4000 - 3900) * 43200000000, :now, :now""",
    ),
    (
        "library_files",
        100,
        "id, library_id, relative_path, size_bytes, mtime_ns, is_missing, created_at, updated_at",
        """n, 1, 'Show ' || ((n - 1) / 100 + 1) || '/[Kura] Show - ' || ((n - 1) % 100 + 1) || ' [1080p].mkv', 1000000000, 1,
        CASE WHEN ((n - 1) / 100 + 1) % 40 = 0 THEN 1 ELSE 0 END, :now, :now""",
    ),
    (
        "episode_files",
        20,
        "episode_id, file_id, created_at",
        "n, 100 * ((n - 1) / 20) + (n - 1) % 20 + 1, :now - n",
    ),
    (
        "media_facts",
        100,
        "file_id, size_bytes, mtime_ns, facts, read_at",
        """n, 1000000000, 1, '{"duration_ms": 1420000, "video": [{"codec": "hevc", "width": 1920, "height": 1080}]}', :now""",
    ),
)
# What each page must have on it, so that an empty page is not measured.
_PAGES: Final = {
    "the wall": ("/series", "", 'class="card"'),
    "the wall by title": ("/series", "order=title", 'class="card"'),
    "the wall, not followed": ("/series", "state=ignored&order=title", 'class="card"'),
    "the wall, searched": ("/series", "name=show+77", 'class="card"'),
    "a show": ("/series/5000", "", 'class="episode-row"'),
    "a file": ("/files/5000", "", 'id="events"'),
    "the folders": ("/library/1/folders", "", 'class="tile"'),
    "a folder": ("/library/1/folders", "folder=Show+5000", 'href="/files/'),
    "the search box": ("/find", "q=show+12", 'href="/series/'),
    "the calendar of shows": ("/calendar/shows", "", 'class="card"'),
    "the first page": ("/", "", 'id="arrived"'),
}


def run(options: Options) -> Outcome:
    """Both stores."""
    shows, samples = options.size(10_000, quick=100), options.size(30, quick=3)
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-bench-")))
        server_url = stack.enter_context(postgres.server())
        urls = {
            "SQLite": f"sqlite:///{folder / 'full.db'}",
            "PostgreSQL": stack.enter_context(postgres.fresh_database(server_url)),
        }
        for store, url in urls.items():
            for page, median in asyncio.run(_measure(url, folder / store, shows, samples)).items():
                print(f"  {store}, {page}: {median:.1f} ms", flush=True)
                is_met = None if options.quick else median <= LIMIT_MS
                rows.append(Row(f"{store}, {page}", number(median, " ms"), "-", "-", f"≤ {LIMIT_MS:.0f} ms", is_met))
    told = f"{shows:,} shows, {20 * shows:,} episodes, {100 * shows:,} files. Medians of {samples} requests without a socket."
    return Outcome(rows, [told])


async def _measure(url: str, state: Path, shows: int, samples: int) -> dict[str, float]:
    settings = Settings(api_key=_KEY, state=state, database=url)
    async with open_queue(url) as queue, Live(queue) as live:
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        await queue.database.write(lambda conn: _fill(conn, shows))
        if url.startswith("postgresql://"):
            postgres.settle_down(url)
        product = open_product(settings, queue)
        access = open_access(settings, queue.database)
        site = build_site(settings, product, access, live, TaskMeter(), started=datetime.now(UTC))
        return {name: await _median(site, *page, shows, samples) for name, page in _PAGES.items()}


async def _median(site: Any, path: str, query: str, proof: str, shows: int, samples: int) -> float:
    path, query = (text.replace("5000", str(shows // 2)) for text in (path, query))
    took = []
    for _ in range(samples + 1):
        began = time.perf_counter()
        text = await _ask(site, path, query)
        took.append(1000 * (time.perf_counter() - began))
        if proof not in text:
            raise BenchmarkBroken(f"{path}?{query} does not have {proof}")
    return statistics.median(took[1:])


def _fill(conn: Connection, shows: int) -> None:
    """A library of so many shows, each with 20 episodes and 100 files; 17 of those are of the episodes."""
    for table, most, columns, values in _TABLES:
        conn.run(
            f"INSERT INTO {table} ({columns}) WITH RECURSIVE one (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one WHERE n < :most) "
            f"SELECT {values} FROM one",
            {"most": most * shows or 1, "shows": shows},
        )
        conn.run("ANALYZE")


async def _ask(site: Any, path: str, query: str) -> str:
    """What the site answers to its keeper."""
    body = bytearray()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        body.extend(message.get("body", b""))

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"accept", b"text/html"), (b"host", b"127.0.0.1"), (b"x-api-key", _KEY.encode())],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
        "state": {"principal": Principal("keeper", frozenset(Scope))},
    }
    await site(scope, receive, send)
    return body.decode()


if __name__ == "__main__":
    run_alone("collection_pages", run)

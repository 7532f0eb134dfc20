"""A page of duplicate groups out of a million files, the first and the thousandth, beside grouping all files each time."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import psycopg

import postgres
from harness import Options, Outcome, Row, number, run_alone
from kurabito.db import Database, Dialect, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.library.duplicates.groups import Duplicates
from processes import BenchmarkBroken

FASTER: Final = 100.0
FLAT: Final = 1.5
PAGE: Final = 50
_GROUPED: Final = """
SELECT count(*) AS file_count, sum(size_bytes) AS total_size_bytes, hash_algorithm, content_hash FROM library_files
WHERE is_missing = 0 AND needs_hash = 0 AND hash_algorithm IS NOT NULL AND content_hash IS NOT NULL
GROUP BY hash_algorithm, content_hash HAVING count(*) > 1
ORDER BY file_count DESC, total_size_bytes DESC, hash_algorithm, content_hash LIMIT :limit
"""
# Groups of two and four files and of few sizes, so that most pages lie within one size and count.
_FILL: Final = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, is_missing, needs_hash,
                           hash_algorithm, content_hash, created_at, updated_at)
SELECT 1, 'folder/' || n, 1000 + content % 3, n, 1, n, 0, 0, CASE WHEN content % 2 = 0 THEN 'blake3' ELSE 'sha256' END,
       {digest}, 0, 0
FROM (SELECT n, (n / 2) * 7919 % 400009 AS content FROM {numbers}) AS chosen
"""
_SUMMARY: Final = """
INSERT INTO duplicate_groups (hash_algorithm, content_hash, file_count, total_size_bytes, copies)
SELECT hash_algorithm, content_hash, count(*), sum(size_bytes), count(DISTINCT inode) FROM library_files
GROUP BY hash_algorithm, content_hash
"""


def run(options: Options) -> Outcome:
    """Both stores."""
    files, pages = options.size(1_000_000, quick=5_000), options.size(1000, quick=20)
    samples = options.size(200, quick=5)
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kurabito-bench-")))
        server_url = stack.enter_context(postgres.server())
        urls = {
            "SQLite": f"sqlite:///{folder / 'files.db'}",
            "PostgreSQL": stack.enter_context(postgres.fresh_database(server_url)),
        }
        for store, url in urls.items():
            database = open_database(url)
            database.open()
            stack.callback(database.close)
            migrate(database, PRODUCT)
            _fill(database, url, files)
            first, later, grouped = asyncio.run(_measure(database, pages, samples))
            print(
                f"  {store}: page 1 {first:.3f} ms, page {pages} {later:.3f} ms, grouped {grouped:.0f} ms", flush=True
            )
            rows += _rows(f"{store}, {files:,} files", pages, first, later, grouped, options)
    note = f"Medians of {samples} pages of {PAGE} groups, and of 5 runs of the query that groups every file, in turn."
    return Outcome(rows, [note])


def _rows(workload: str, pages: int, first: float, later: float, grouped: float, options: Options) -> list[Row]:
    def judged(met: bool) -> bool | None:
        return None if options.quick else met

    by_page = {"page 1": first, f"page {pages:,}": later}
    rows = [
        Row(
            f"{workload}, {page} of the duplicate groups",
            number(took, " ms"),
            f"{number(grouped, ' ms')} (GROUP BY … HAVING)",
            f"{grouped / took:,.0f}x",
            f"≥ {FASTER:g}x",
            judged(grouped / took >= FASTER),
        )
        for page, took in by_page.items()
    ]
    ratio = later / first
    flat = Row(
        f"{workload}, page {pages:,} against page 1",
        number(later, " ms"),
        f"{number(first, ' ms')} (page 1)",
        f"{ratio:.2f}x",
        f"≤ {FLAT:g}x",
        judged(ratio <= FLAT),
    )
    return [*rows, flat]


async def _measure(database: Database, pages: int, samples: int) -> tuple[float, float, float]:
    """Milliseconds of the first page, of a late one, and of grouping."""
    duplicates = Duplicates(database)
    cursor = None
    for _ in range(pages - 1):
        cursor = (await duplicates.groups(limit=PAGE, cursor=cursor)).next_cursor
    late = await duplicates.groups(limit=PAGE, cursor=cursor)
    if cursor is None or len(late.items) != PAGE:
        raise BenchmarkBroken(f"there is no page {pages}")
    await _check(database, duplicates)
    first: list[float] = []
    later: list[float] = []
    for _ in range(samples):
        first.append(await _timed(lambda: duplicates.groups(limit=PAGE)))
        later.append(await _timed(lambda: duplicates.groups(limit=PAGE, cursor=cursor)))
    grouped = [
        await _timed(lambda: database.read(lambda conn: conn.all(_GROUPED, {"limit": PAGE + 1}))) for _ in range(5)
    ]
    return statistics.median(first), statistics.median(later), statistics.median(grouped)


async def _check(database: Database, duplicates: Duplicates) -> None:
    """See that both give the same groups."""
    grouped = await database.read(lambda conn: conn.all(_GROUPED, {"limit": PAGE}))
    shown = [
        (group.file_count, group.total_size_bytes, group.key.hash_algorithm.value, group.key.content_hash)
        for group in (await duplicates.groups(limit=PAGE)).items
    ]
    if shown != [(files, int(size), algorithm, bytes(digest)) for files, size, algorithm, digest in grouped]:
        raise BenchmarkBroken("the page does not show what grouping gives")


async def _timed(ask: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await ask()
    return 1000 * (time.perf_counter() - began)


def _fill(database: Database, url: str, files: int) -> None:
    """The files and their summary, without the triggers that would count them one by one."""
    if database.dialect is Dialect.SQLITE:
        raw = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        raw.execute("BEGIN")
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        count = f"SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < {files}"
        digest = "zeroblob(16) || CAST(printf('%016d', content) AS BLOB)"
        text = _FILL.format(digest=f"CAST({digest} AS BLOB)", numbers="numbers")
        raw.execute(f"WITH RECURSIVE numbers (n) AS ({count}) {text}")
        raw.execute(_SUMMARY)
        raw.execute("COMMIT")
        raw.close()
        return
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE library_files DISABLE TRIGGER USER")
        digest = "convert_to(lpad(content::text, 32, '0'), 'UTF8')"
        text = _FILL.format(digest=digest, numbers=f"generate_series(1::bigint, {files}) AS n")
        connection.execute(text.encode())
        connection.execute(_SUMMARY)
        connection.execute("VACUUM (ANALYZE) library_files, duplicate_groups")


if __name__ == "__main__":
    run_alone("duplicates_page", run)

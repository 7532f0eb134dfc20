"""A full sync against services on loopback that take 50 ms for each answer, and the decision that there is nothing to do.

Five records at a time, poster and id side by side, the lists of the years read before: the posters alone take
`records / 5 * 50 ms`, which is what the sync is compared with.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.db import Connection, migrate
from kurabito.db.migrate import PRODUCT
from kurabito.http import Outbound
from kurabito.metadata import MetadataRunner, MetadataService, PosterService, get_metadata_to_sync, records
from kurabito.metadata.records import Details
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.runtime import Registry, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from processes import BenchmarkBroken

WORLD: Final = Path(__file__).resolve().parents[1] / "tests" / "integration" / "metadata" / "world.py"
sys.path.insert(0, str(WORLD.parent))
import world as made_up  # noqa: E402 - it lies beside the tests that it was made for

LATENCY: Final = 0.05
AT_ONCE: Final = 5
YEARS: Final = range(2020, 2023)
MOST: Final = 1.15
MOST_SECONDS_TO_DECIDE: Final = 0.2
MOST_GROWTH: Final = 32.0
FILL: Final = (
    "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows) "
    "INSERT INTO metadata (kind, title_japanese, poster_url, tmdb_lookup_at, created_at, updated_at) "
    "SELECT 'tv', 'name ' || n, '/posters/0123456789abcdef.jpg', :now, 0, 0 FROM numbers"
)


def run(options: Options) -> Outcome:
    """Measure both."""
    wanted = options.size(1_000, quick=100)
    floor = wanted / AT_ONCE * LATENCY
    seconds, growth = [], []
    for _ in range(options.rounds):
        if not options.quick:
            wait_for_quiet()
        with served() as port:
            took, grown = asyncio.run(sync(port, wanted))
        seconds.append(took)
        growth.append(grown)
    rows = options.size(100_000, quick=10_000)
    decided = sorted(decide(rows) for _ in range(options.rounds))
    took, middle = sorted(seconds)[len(seconds) // 2], decided[len(decided) // 2]
    judged = not options.quick
    return Outcome(
        [
            Row(
                f"full sync of {wanted:,} records",
                number(took, " s"),
                f"{number(floor, ' s')} (all that waiting takes)",
                f"{took / floor:.2f}x",
                f"≤ {MOST:g}x",
                took / floor <= MOST if judged else None,
            ),
            Row(
                "- memory that stays afterwards",
                number(max(growth), " MB"),
                "-",
                "-",
                f"≤ {MOST_GROWTH:g} MB",
                max(growth) <= MOST_GROWTH if judged else None,
            ),
            Row(
                f"deciding that {rows:,} records need nothing",
                number(middle, " s"),
                "-",
                "-",
                f"≤ {MOST_SECONDS_TO_DECIDE:g} s",
                middle <= MOST_SECONDS_TO_DECIDE if judged else None,
            ),
        ],
        [f"services: {LATENCY * 1000:g} ms for each answer, in another process; SQLite on disk"],
    )


@contextmanager
def served() -> Iterator[int]:
    """The made-up services in a process of their own; their port."""
    command = [sys.executable, str(WORLD), "--latency", str(LATENCY)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.stdin.close()
        process.stdout.read()


async def sync(port: int, wanted: int) -> tuple[float, float]:
    """Seconds that a sync of so many records takes, and megabytes that it leaves behind."""
    collection = [one for one in made_up.populate(made_up.World(), YEARS) if one.season == 1][:wanted]
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        async with (
            open_queue(f"sqlite:///{scratch}/metadata.db") as queue,
            Outbound(private_hosts=["127.0.0.1"], at_once=AT_ONCE) as outbound,
        ):
            assert isinstance(queue, SqlQueue)
            migrate(queue.database, PRODUCT)
            posters = PosterService(outbound, Path(scratch) / "posters", bgm_image_host="127.0.0.1")
            posters.prepare()
            tmdb = TmdbClient(outbound, made_up.KEY, url=f"{base}/3", image_url=base)
            runner = MetadataRunner(queue, posters, tmdb, BangumiClient(outbound, url=base))
            service = MetadataService(queue.database, tmdb)
            await asyncio.gather(*(service.find_tmdb_id("nothing", year) for year in YEARS))

            def add(conn: Connection) -> None:
                for number_, one in enumerate(collection):
                    url = f"{base}/pic/{number_}.jpg"
                    records.add(conn, Details(title_japanese=one.title, year=one.year, poster_url=url))

            await queue.database.write(add)
            registry = Registry()
            runner.join(registry)
            gc.collect()
            before = psutil.Process().memory_info().rss
            async with Worker(queue, registry):
                began = time.perf_counter()
                task = await queue.wait(await runner.begin_sync(), timeout=600)
                took = time.perf_counter() - began
            gc.collect()
            grown = (psutil.Process().memory_info().rss - before) / 1e6
            truths = sum(one.truth is not None for one in collection)
            if (task.result["posters"], task.result["ids"]) != (wanted, truths):
                raise BenchmarkBroken(f"{wanted} posters and {truths} ids were there to be had: {task.result}")
    return took, grown


def decide(rows: int) -> float:
    """Seconds until it is clear that none of so many records needs anything."""
    from kurabito.db import open_database

    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        database = open_database(f"sqlite:///{scratch}/metadata.db")
        database.open()
        migrate(database, PRODUCT)
        database.write_blocking(lambda conn: conn.run(FILL, {"rows": rows}))
        began = time.perf_counter()
        found = database.read_blocking(get_metadata_to_sync)
        took = time.perf_counter() - began
        database.close()
    if found:
        raise BenchmarkBroken(f"{len(found)} records were taken for unfinished")
    return took


if __name__ == "__main__":
    run_alone("metadata_sync", run)

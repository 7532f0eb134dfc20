"""Importing an index and a list of titles as large as AniDB's, while another process writes to the same database.

What counts is how long a writer has to wait: the import stores its rows in many small transactions.
"""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.synchronize import Event
from typing import Any, Final

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.db import Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.metadata.dumps.importer import DumpContent, import_dump
from kurabito.metadata.dumps.model import DumpEntry, DumpName, DumpSource
from kurabito.metadata.pending import Ids
from kurabito.metadata.sources.bangumi_data import read_index
from kurabito.metadata.sources.index import IndexOrigin, import_index
from offline_ids import make_file
from processes import BenchmarkBroken

MOST_SECONDS: Final = 10.0
MOST_WAIT: Final = 0.05
NAMES: Final = 8
"""Of each entry."""


def run(options: Options) -> Outcome:
    """Measure the import of the index, a first one of the titles, and one of a file in which one entry in fifty has changed."""
    entries, titles = options.size(8_500, quick=300), options.size(15_000, quick=500)
    content = make_file(entries)
    taken = []
    for _ in range(options.rounds):
        if not options.quick:
            wait_for_quiet()
        taken.append(measure(content, titles))
    index, first, again, waits = (statistics.median(column) for column in zip(*taken, strict=True))
    judged = not options.quick
    return Outcome(
        [
            _row(f"import of an index of {entries:,} entries", index, MOST_SECONDS, judged),
            _row(f"first import of {titles:,} entries with {titles * NAMES:,} names", first, MOST_SECONDS, judged),
            _row("import of a file in which one in fifty is new", again, MOST_SECONDS, judged),
            _row("99 % of the writes of another process meanwhile", waits, MOST_WAIT, judged),
        ],
        ["SQLite on disk; from the entries in memory to the index made of them"],
    )


def measure(content: bytes, titles: int) -> tuple[float, float, float, float]:
    """Seconds for the three imports, and within which 99 % of another's writes were done."""
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        url = f"sqlite:///{scratch}/index.db"
        database = open_database(url)
        database.open()
        migrate(database, PRODUCT)
        context = multiprocessing.get_context("spawn")
        ready, stop, waited = context.Event(), context.Event(), context.SimpleQueue()
        other = context.Process(target=write_now_and_then, args=(url, ready, stop, waited))
        other.start()
        ready.wait()
        began = time.perf_counter()
        import_index(database, read_index(content), IndexOrigin.FILE)
        index = time.perf_counter() - began
        first = _import(database, titles, changed=0)
        again = _import(database, titles, changed=50)
        stop.set()
        waits: list[float] = waited.get()
        other.join()
        database.close()
    return index, first, again, sorted(waits)[len(waits) * 99 // 100]


def write_now_and_then(url: str, ready: Event, stop: Event, waited: Any) -> None:
    """Another process of the same database: a small write every few milliseconds, and how long each took."""
    database = open_database(url)
    database.open()
    ready.set()
    waits = []
    while not stop.is_set():
        began = time.perf_counter()
        database.write_blocking(lambda conn: conn.run("UPDATE metadata SET updated_at = :now WHERE id = 1"))
        waits.append(time.perf_counter() - began)
        time.sleep(0.005)
    database.close()
    waited.put(waits)


def _import(database: Database, titles: int, changed: int) -> float:
    entries = [_entry(number_, is_new=bool(changed) and number_ % changed == 0) for number_ in range(1, titles + 1)]
    began = time.perf_counter()
    joined = import_dump(database, DumpContent(DumpSource.ANIDB, entries), "anime-titles.xml.gz")
    took = time.perf_counter() - began
    if not joined.names:
        raise BenchmarkBroken("the import added no name")
    return took


def _entry(number_: int, *, is_new: bool) -> DumpEntry:
    mark = " new" if is_new else ""
    names = [DumpName(f"Title {number_} of {one}{mark}", "x-jat", is_own=one == 0) for one in range(NAMES)]
    return DumpEntry(names=tuple(names), ids=Ids(anidb_id=number_))


def _row(what: str, seconds: float, most: float, judged: bool) -> Row:
    return Row(what, number(seconds, " s"), "-", "-", f"≤ {most:g} s", seconds <= most if judged else None)


if __name__ == "__main__":
    run_alone("dump_import", run)

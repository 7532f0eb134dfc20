"""Importing an index of ids that are known without asking, looking names up in it, and giving the ids to records."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any, Final

from harness import Options, Outcome, Row, number, run_alone, wait_for_quiet
from kurabito.clock import SystemClock
from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.metadata import records
from kurabito.metadata.records import Details
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import read_index
from kurabito.metadata.sync.offline_ids import give_offline_ids
from kurabito.metadata.sync.progress import SyncProgress
from kurabito.titles import fold_title
from processes import BenchmarkBroken

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "integration" / "metadata"))
import world as made_up

MOST_SECONDS_TO_IMPORT: Final = 2.0
MOST_SECONDS_TO_LOOK_UP: Final = 0.5
MOST_SECONDS_TO_GIVE: Final = 5.0


def run(options: Options) -> Outcome:
    """Measure the import of a file, the lookups, and the ids that a sync gives."""
    entries, lookups = options.size(8_500, quick=500), options.size(10_000, quick=500)
    records_ = options.size(5_899, quick=500)
    content = make_file(entries)
    taken = []
    for _ in range(options.rounds):
        if not options.quick:
            wait_for_quiet()
        taken.append(measure(content, lookups, records_))
    imported, looked_up, given, plain = (sorted(column)[len(taken) // 2] for column in zip(*taken, strict=True))
    judged = not options.quick
    return Outcome(
        [
            Row(
                f"import of {entries:,} entries",
                number(imported, " s"),
                "-",
                "-",
                f"≤ {MOST_SECONDS_TO_IMPORT:g} s",
                imported <= MOST_SECONDS_TO_IMPORT if judged else None,
            ),
            Row(
                f"{lookups:,} lookups by name and year",
                number(looked_up, " s"),
                "-",
                "-",
                f"≤ {MOST_SECONDS_TO_LOOK_UP:g} s",
                looked_up <= MOST_SECONDS_TO_LOOK_UP if judged else None,
            ),
            Row(
                f"ids for {records_:,} records, as a sync gives them",
                number(given, " s"),
                number(plain, " s, a dictionary in memory"),
                "-",
                f"≤ {MOST_SECONDS_TO_GIVE:g} s",
                given <= MOST_SECONDS_TO_GIVE if judged else None,
            ),
        ],
        [f"a file of {len(content) / 1e6:.1f} MB, from reading it to its commit; SQLite on disk"],
    )


def make_file(entries: int) -> bytes:
    """A made-up file as large as the real one."""
    return json.dumps({"items": [_item(*one) for one in enumerate(islice(made_up.names(), entries))]}).encode()


def measure(content: bytes, lookups: int, wanted_ids: int) -> tuple[float, float, float, float]:
    """Seconds for the import, for the lookups, for giving records their ids, and for finding them in a dictionary."""
    with tempfile.TemporaryDirectory(prefix="kurabito-bench-") as scratch:
        database = open_database(f"sqlite:///{scratch}/ids.db")
        database.open()
        migrate(database, PRODUCT)
        began = time.perf_counter()
        entries = read_index(content).entries
        database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
        imported = time.perf_counter() - began
        wanted = [
            Details(title_japanese=entry.title, year=entry.air_date.year)
            for entry in (entries * (lookups // len(entries) + 1))[:lookups]
            if entry.air_date
        ]
        began = time.perf_counter()
        found = database.read_blocking(lambda conn: offline.find_entries(conn, wanted))
        looked_up = time.perf_counter() - began
        database.write_blocking(lambda conn: records.add_all(conn, wanted[:wanted_ids]))
        progress = SyncProgress(lambda _done, _total: None)
        began = time.perf_counter()
        asyncio.run(give_offline_ids(database, SystemClock(), progress))
        given = time.perf_counter() - began
        database.close()
        began = time.perf_counter()
        by_name = {fold_title(entry.title): entry for entry in entries}
        plainly = [by_name.get(fold_title(one.title_japanese or "")) for one in wanted[:wanted_ids]]
        plain = time.perf_counter() - began
    if None in plainly:
        raise BenchmarkBroken("the dictionary lacks a name")
    if missing := found.count(None):
        raise BenchmarkBroken(f"{missing} of {lookups} names were not found")
    if progress.synced.ids != wanted_ids:
        raise BenchmarkBroken(f"{progress.synced.ids} of {wanted_ids} records got their id")
    return imported, looked_up, given, plain


def _item(place: int, name: str) -> dict[str, Any]:
    sites = {"bangumi": place + 1, "tmdb": f"tv/{place + 1}/season/{place % 4 + 1}", "mal": place, "anidb": place}
    broadcast = {"begin": "2018-06-11T03:00:00.000Z", "broadcast": "R/2018-06-11T03:00:00.000Z/P7D"}
    return {
        "title": name,
        "titleTranslate": {"zh-Hans": [f"{name} 之一", f"{name} 之二"], "en": [f"Show number {place}"]},
        "type": "tv",
        "lang": "ja",
        "officialSite": f"https://example.org/{place}",
        "begin": f"{1990 + place % 35}-0{place % 9 + 1}-10T15:00:00.000Z",
        "end": "",
        "comment": "",
        "sites": [{"site": site, "id": str(value)} for site, value in sites.items()]
        + [{"site": f"site {number_}", "id": f"SID{place}", **broadcast} for number_ in range(5)],
    }


if __name__ == "__main__":
    run_alone("offline_ids", run)

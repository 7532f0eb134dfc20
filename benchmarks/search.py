"""How long it takes to decide about what a search finds: 10 indexers with 200 results each, 100 shows of which half are known.

    python benchmarks/search.py [--indexers 10] [--results 200] [--titles titles.jsonl]

Measured is what Kurabito does after the answers came: merge, read, resolve, filter, sort. `--titles` takes the titles from
JSON lines of {"title"} instead of made-up ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from kurabito.catalog.intake import CatalogIntake
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.profiles import store as profiles
from kurabito.downloads.search.pasted_links import PastedLinks
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.feeds.preferences import Preferences, Term
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.http import Outbound
from kurabito.indexers.definitions import SiteDefinitions
from kurabito.indexers.model import IndexerKind, IndexerSettings, IndexerStatus, StoredIndexer
from kurabito.indexers.port import IndexerItem, SearchQuery
from kurabito.indexers.service import IndexerOutcome, Indexers
from kurabito.modules.download_types import DownloadType

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHOWS = 100
SUBSCRIBE = (
    "INSERT INTO subscriptions (name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES ('search', 'https://feeds.example/all', 'add', 'missing', 1000000, :now, :now) RETURNING id"
)


class AnsweredIndexers(Indexers):
    """Indexers that answer at once."""

    def __init__(self, database: Database, outcomes: list[IndexerOutcome]) -> None:
        super().__init__(database, Outbound(), SiteDefinitions())
        self._outcomes = outcomes

    async def search(self, query: SearchQuery) -> AsyncIterator[IndexerOutcome]:
        for outcome in self._outcomes:
            yield outcome


def made_up(number: int) -> str:
    return f"[Group {number % 7}] Show Number {number % SHOWS} - {number // SHOWS + 1:02} [1080p][HEVC][CHS].mkv"


def outcome(number: int, results: int, titles: list[str]) -> IndexerOutcome:
    settings = IndexerSettings(kind=IndexerKind.TORZNAB, name=f"Indexer {number}", url="http://indexer.example/api")
    indexer = StoredIndexer(id=number + 1, settings=settings, status=IndexerStatus(), created_at=NOW, updated_at=NOW)
    places = range(number * results, (number + 1) * results)
    items = tuple(
        IndexerItem(
            title=titles[place % len(titles)] if titles else made_up(place),
            download_url=f"magnet:?xt=urn:btih:{place:040x}",
            download_type=DownloadType.MAGNET,
            info_hash=f"{place:040x}",
            seeders=place % 50,
            pub_date=NOW,
        )
        for place in places
    )
    return IndexerOutcome(indexer=indexer, items=items)


def prefer(conn: Connection) -> None:
    """Preferences with everything in them that is read from titles."""
    liked = Preferences(
        groups=("Group 3", "Group 1"),
        resolutions=(1080, 720),
        codecs=("HEVC",),
        terms=(Term("CHS", 5), Term(r"v\d", 3, True)),
    )
    profiles.make_default(conn, profiles.add(conn, "all", ReleasePreferences(upgrade=True, preferred=liked)).id)


async def measure(indexers: int, results: int, titles: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(f"sqlite:///{folder}/search.db")
        database.open()
        migrate(database, PRODUCT)
        subscription = await database.write(lambda conn: int(conn.value(SUBSCRIBE)))
        known = titles[: SHOWS // 2] or [made_up(number) for number in range(SHOWS // 2)]
        feed = tuple(
            FeedItem(title=title, download_url=f"magnet:?xt=urn:btih:{place + 10**9:040x}")
            for place, title in enumerate(known)
        )
        await CatalogIntake(database).receive(FetcherResults(subscription_id=subscription, items=feed))
        await database.write(prefer)
        search = ReleaseSearch(
            database,
            AnsweredIndexers(database, [outcome(number, results, titles) for number in range(indexers)]),
            PastedLinks(Outbound()),
        )
        began, cpu, times, found = time.perf_counter(), time.process_time(), [], 0
        async for progress in search.search(SearchQuery(text="Show")):
            times.append(time.perf_counter() - began)
            found = len(progress.releases)
        cpu = time.process_time() - cpu
        database.close()
    print(
        f"{found} releases of {indexers} indexers: first after {times[0]:.3f} s, all after {times[-1]:.3f} s, "
        f"{cpu:.3f} s of one core"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--indexers", type=int, default=10)
    parser.add_argument("--results", type=int, default=200)
    parser.add_argument("--titles", type=Path)
    chosen = parser.parse_args()
    lines = chosen.titles.read_text(encoding="utf-8").splitlines() if chosen.titles else []
    asyncio.run(measure(chosen.indexers, chosen.results, [json.loads(line)["title"] for line in lines]))


if __name__ == "__main__":
    main()

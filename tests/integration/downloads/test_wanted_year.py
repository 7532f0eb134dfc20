"""A year of wanted episodes on a clock of the test's own: limits hold, nothing is forgotten, and nothing is fetched twice."""

from __future__ import annotations

import os
import random
from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.integration.downloads.conftest import TLS, Core

from kurabito.clock import from_datetime
from kurabito.db import Connection
from kurabito.downloads import store as downloads
from kurabito.downloads.dispatch.room import Room
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.pasted_links import PastedLinks
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted import store
from kurabito.downloads.wanted.pauses import PER_HOUR, pause_after
from kurabito.downloads.wanted.search import WantedSearch
from kurabito.downloads.wanted.service import WantedList
from kurabito.http import Outbound
from kurabito.indexers.definitions import SiteDefinitions
from kurabito.indexers.errors import IndexerLimited, IndexerUnreadable
from kurabito.indexers.model import IndexerKind, IndexerSettings, StoredIndexer
from kurabito.indexers.port import Admit, Indexer, IndexerCaps, IndexerItem, IndexerReply, SearchQuery
from kurabito.indexers.service import Indexers
from kurabito.metadata import records
from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, keep_lists
from kurabito.metadata.records import Details
from kurabito.modules.download_types import DownloadType

BEGIN = datetime(2026, 1, 1, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
EPISODES = 6
PER_INDEXER = 20
# Read now: a test begins without our settings in its environment.
SHOWS = int(os.environ.get("KURABITO_SHOWS", "300"))


@dataclass
class Air:
    """When an episode was shown, and from when on which indexers have it."""

    at: datetime
    available: dict[int, datetime]


@dataclass
class Sky:
    """Everything that is released in the year, and what was asked."""

    core: Core
    chance: random.Random
    episodes: dict[tuple[int, int], Air] = field(default_factory=dict)
    requests: dict[int, list[datetime]] = field(default_factory=dict)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.core.clock.now() / 1_000_000, UTC)


class Faulty:
    """An indexer that answers, fails, limits, or is away for days."""

    def __init__(self, sky: Sky, number: int, admit: Admit) -> None:
        self._sky, self._number, self._admit = sky, number, admit

    async def caps(self) -> IndexerCaps:
        return IndexerCaps()

    async def search(self, query: SearchQuery) -> IndexerReply:
        await self._admit()
        now = self._sky.now()
        self._sky.requests.setdefault(self._number, []).append(now)
        if self._sky.chance.random() < 0.05:
            raise IndexerUnreadable("garbage")
        if self._sky.chance.random() < 0.02:
            raise IndexerLimited("too often", 429, 1800.0)
        if (now.timetuple().tm_yday // 5 + self._number) % 12 == 0:
            raise IndexerUnreadable("away")
        show = int(query.text.removeprefix("Yoru Show"))
        items = [
            item(show, number)
            for (of, number), air in self._sky.episodes.items()
            if of == show and query.episode in (None, number) and air.available.get(self._number, now + HOUR) <= now
        ]
        return IndexerReply(tuple(items))


def item(show: int, number: int) -> IndexerItem:
    return IndexerItem(
        title=f"[Kura] Yoru Show{show} - {number:02} [1080p]",
        download_url=f"magnet:?xt=urn:btih:{show * 1000 + number:040x}",
        download_type=DownloadType.MAGNET,
        info_hash=f"{show * 1000 + number:040x}",
        size_bytes=10**9,
        seeders=3,
    )


class FaultyIndexers(Indexers):
    """The real limits, rests and ledger, before indexers of the test's own."""

    sky: Sky

    def _adapter(self, indexer: StoredIndexer) -> Indexer:
        async def admit() -> None:
            await self._admit(indexer.id)

        return Faulty(self.sky, indexer.id, admit)


def most_in_an_hour(moments: list[datetime]) -> int:
    return max(
        (place + 1 - bisect_left(moments, one - HOUR + timedelta.resolution) for place, one in enumerate(moments)),
        default=0,
    )


async def prepare(sky: Sky, indexers: Indexers, shows: int, days: int) -> None:
    for number in range(5):
        settings = IndexerSettings(
            kind=IndexerKind.TORZNAB,
            name=f"Indexer {number}",
            url=f"http://i{number}.example/api",
            per_hour=PER_INDEXER,
        )
        await indexers.add(settings)
    first = [
        (f"[Kura] Yoru Show{show} - 01 [1080p]", f"magnet:?xt=urn:btih:{show * 1000 + 1:040x}") for show in range(shows)
    ]
    await sky.core.bring(*first)

    def write(conn: Connection) -> None:
        titles: dict[str, int] = dict(conn.all("SELECT title, id FROM series"))
        lists = {}
        for show in range(shows):
            begins = BEGIN + timedelta(days=sky.chance.randrange(max(1, days - 7 * EPISODES)))
            record = records.add(conn, Details(title_japanese=f"夜{show}", bgm_id=show + 1))
            conn.run(
                "UPDATE series SET metadata_id = :record WHERE id = :id",
                {"record": record.id, "id": titles[f"Yoru Show{show}"]},
            )
            listed = []
            for number in range(1, EPISODES + 1):
                day = begins + timedelta(days=7 * (number - 1))
                listed.append(KnownEpisode(number, air_date=day.date()))
                shown = datetime.combine(day.date(), datetime.max.time(), UTC).replace(
                    hour=23, minute=59, second=0, microsecond=0
                )
                at = {
                    one: shown + timedelta(hours=sky.chance.randrange(72)) for one in sky.chance.sample(range(1, 6), 2)
                }
                sky.episodes[show, number] = Air(shown, at)
            lists[str(show + 1)] = listed
        keep_lists(conn, EpisodeSource.BGM, lists)

    await sky.core.queue.database.write(write)


async def live(sky: Sky, search: WantedSearch, days: int) -> tuple[dict[tuple[int, int], datetime], list[datetime]]:
    """Let the time pass; when each episode was fetched, and when searches were made."""
    fetched: dict[tuple[int, int], datetime] = {}
    asked: list[datetime] = []

    def complete(conn: Connection) -> list[str]:
        # What is sent is there the next hour.
        done = conn.all(
            "SELECT downloads.id, link.hash FROM downloads JOIN anime_links AS link ON link.id = link_id WHERE status = 'pending'"
        )
        conn.run("UPDATE downloads SET status = 'completed', completed_at = :now WHERE status = 'pending'")
        downloads.restate_episodes(conn, [one for one, _ in done])
        return [known for _, known in done]

    while sky.now() < BEGIN + timedelta(days=days):
        while count := await search.run():
            asked += [sky.now()] * count
        # What is due was searched for, unless the hour has no search left; looked at twice a day, because it takes a while.
        of_the_hour = len(asked) - bisect_left(asked, sky.now() - HOUR + timedelta.resolution)
        if of_the_hour < PER_HOUR and sky.now().hour % 12 == 0:
            assert await sky.core.queue.database.read(store.due) == []
        for known in await sky.core.queue.database.write(complete):
            key = divmod(int(known, 16), 1000)
            assert key not in fetched, f"{key} was fetched twice"
            fetched[key] = sky.now()
        sky.core.clock.advance(HOUR.total_seconds() / 2)
    return fetched, asked


def report(sky: Sky, asked: list[datetime], late: list[timedelta]) -> None:
    """What `pytest -s` shows of a year."""
    requests = sum(len(moments) for moments in sky.requests.values())
    busiest = max(most_in_an_hour(moments) for moments in sky.requests.values())
    print(  # noqa: T201 - it is asked for
        f"\n{len(late)} episodes, {len(asked)} searches ({most_in_an_hour(asked)} in the busiest hour), {requests} requests "
        f"({busiest} of one indexer in its busiest hour); fetched after {late[len(late) // 2]} (median), "
        f"{late[len(late) * 95 // 100]} (95 %), {late[-1]} (the last)"
    )


async def lived(core: Core, tmp_path: Path, shows: int, days: int) -> None:
    core.clock.advance((from_datetime(BEGIN) - core.clock.now()) / 1_000_000)
    sky = Sky(core, random.Random(7))
    database = core.queue.database
    async with Outbound(tls=TLS) as outbound:
        indexers = FaultyIndexers(database, outbound, SiteDefinitions())
        indexers.sky = sky
        search = ReleaseSearch(database, indexers, PastedLinks(outbound))
        grabs = ReleaseGrabs(database, indexers, search, core.downloads.grabber)
        wanted = WantedSearch(database, search, grabs, Room(tmp_path, 0))
        await prepare(sky, indexers, shows, days)
        await wanted.expect()
        await WantedList(database, core.queue, search).set_automatic(True)
        fetched, asked = await live(sky, wanted, days + 21)
    assert most_in_an_hour(asked) <= PER_HOUR
    assert all(most_in_an_hour(moments) <= PER_INDEXER for moments in sky.requests.values())
    late = {}
    for key, air in sky.episodes.items():
        if key[1] == 1:
            continue
        assert key in fetched, f"{key} is still wanted"
        since = min(air.available.values())
        # Searched for in vain from its day on, so its pause may have grown to that of the waiting time; an indexer away doubles it.
        late[key] = fetched[key] - since
    report(sky, asked, sorted(late.values()))
    assert max(late.values()) <= 2 * pause_after(6) + timedelta(days=5)
    assert sorted(late.values())[len(late) // 2] <= timedelta(days=1)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_month_of_four_shows(core: Core, tmp_path: Path) -> None:
    await lived(core, tmp_path, 4, 45)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_year_of_three_hundred_shows(core: Core, tmp_path: Path) -> None:
    await lived(core, tmp_path, SHOWS, 365)

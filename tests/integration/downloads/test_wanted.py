"""What is wanted is found by records and dates, searched for within limits, and taken once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from tests.integration.downloads.conftest import TLS, Core
from tests.integration.downloads.conftest import StandIn as Downloader
from tests.support.indexers import Answered, StandIn, caps, channel, standing_in

from kurabito.catalog.corrections.moves import EpisodePlace
from kurabito.catalog.corrections.service import Corrections
from kurabito.clock import from_datetime
from kurabito.db import Connection
from kurabito.downloads.dispatch.room import Room
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.pasted_links import PastedLinks
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted import store
from kurabito.downloads.wanted.pauses import PER_HOUR, SearchOutcome, asks_first, pause_after
from kurabito.downloads.wanted.search import WantedSearch
from kurabito.downloads.wanted.service import WantedList
from kurabito.downloads.wanted.store import WantedReason
from kurabito.http import Outbound
from kurabito.indexers.definitions import SiteDefinitions
from kurabito.indexers.model import IndexerKind, IndexerSettings
from kurabito.indexers.service import Indexers
from kurabito.metadata import records
from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, keep_lists
from kurabito.metadata.records import Details
from kurabito.titles import ReleaseKind

GB = 10**9
DAY = 24 * 3600


def item(title: str, number: int, *, size: int = GB) -> str:
    return f"""<item><title>{title}</title><guid>https://tracker.example/{number}</guid><size>{size}</size>
<enclosure url="magnet:?xt=urn:btih:{number:040x}" length="{size}" type="application/x-bittorrent" />
<torznab:attr name="seeders" value="5" /></item>"""


@dataclass
class World:
    """A core with one indexer, and what that has."""

    core: Core
    wanted: WantedList
    search: WantedSearch
    server: StandIn
    has: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    async def follow(self, *days: int, bgm_id: int = 7) -> None:
        """A show whose first episode is being downloaded, and whose episodes were shown so many days ago."""
        await self.core.bring((f"[Kura] Yoru {bgm_id} - 01 [1080p]", f"magnet:?xt=urn:btih:{bgm_id * 1000:040x}"))
        today = self.today()
        listed = [KnownEpisode(one, air_date=today - timedelta(days=ago)) for one, ago in enumerate(days, 1)]

        def write(conn: Connection) -> None:
            record = records.add(conn, Details(title_japanese="夜", bgm_id=bgm_id))
            keep_lists(conn, EpisodeSource.BGM, {str(bgm_id): listed})
            newest = "(SELECT max(id) FROM series)"
            conn.run(f"UPDATE series SET metadata_id = :id WHERE id = {newest}", {"id": record.id})

        await self.core.queue.database.write(write)
        await self.search.expect()

    def today(self) -> date:
        return datetime.fromtimestamp(self.core.clock.now() / 1_000_000, UTC).date()

    async def numbers(self) -> list[float]:
        return [one.number for one in await self.wanted.everything()]

    def asked(self) -> int:
        """How many searches there were; each also asks by season and episode."""
        return sum(query.get("t") in ("search", "tvsearch") and "season" not in query for _, query in self.server.asked)


@pytest.fixture
async def world(core: Core, a: Downloader, tmp_path: Path) -> AsyncIterator[World]:
    await core.register(a)
    core.clock.advance(from_datetime(datetime(2026, 3, 1, 12, tzinfo=UTC)) / 1_000_000 - core.clock.now() / 1_000_000)
    database = core.queue.database
    made: list[World] = []

    def respond(path: str, query: dict[str, str]) -> Answered:
        if path in made[0].files:
            return Answered(made[0].files[path])
        return Answered(caps() if query["t"] == "caps" else channel(*made[0].has))

    async with standing_in(respond) as server, Outbound(tls=TLS) as outbound:
        indexers = Indexers(database, outbound, SiteDefinitions())
        url = server.url("/api")
        settings = IndexerSettings(kind=IndexerKind.TORZNAB, name="Kura", url=url, allows_private=True, per_hour=3_600)
        await indexers.add(settings)
        search = ReleaseSearch(database, indexers, PastedLinks(outbound))
        grabs = ReleaseGrabs(database, indexers, search, core.downloads.grabber)
        wanted = WantedList(database, core.queue, search)
        made.append(World(core, wanted, WantedSearch(database, search, grabs, Room(tmp_path, 0)), server))
        yield made[0]


async def test_what_was_shown_and_is_not_there_is_wanted_and_found(world: World) -> None:
    await world.follow(14, 7, -7)
    (second,) = await world.wanted.everything()
    assert (second.number, second.reason, second.is_automatic) == (2.0, WantedReason.NO_RELEASE, False)
    assert await world.search.run() == 0
    assert world.server.asked == []
    world.has = [item("[Kura] Yoru 7 - 02 [1080p]", 2), item("[Kura] Yoru 7 - 02 [720p]", 3)]
    assert await world.wanted.search([second.id, 999]) == 1
    assert await world.search.run() == 1
    await world.core.work()
    assert await world.numbers() == []
    titles = await world.core.all(
        "SELECT link.title FROM downloads JOIN anime_links AS link ON link.id = link_id ORDER BY downloads.id"
    )
    assert [title for (title,) in titles] == ["[Kura] Yoru 7 - 01 [1080p]", "[Kura] Yoru 7 - 02 [1080p]"]
    assert await world.search.run() == 0
    # The third one is shown next week.
    world.core.clock.advance(8 * DAY)
    assert await world.numbers() == [3.0]


async def test_what_was_released_before_its_day_is_over_is_wanted(world: World) -> None:
    await world.follow(7, 0)
    assert await world.numbers() == []
    await world.core.bring(("[Kura] Yoru 7 - 02 [1080p]", f"magnet:?xt=urn:btih:{2:040x}"))
    await world.core.run(
        "DELETE FROM downloads WHERE link_id IN (SELECT id FROM anime_links WHERE title LIKE '% 02 %')"
    )
    await world.core.run("UPDATE episodes SET state = 'wanted' WHERE number = 2")
    assert await world.numbers() == [2.0]


async def test_a_search_in_vain_makes_the_pause_longer(world: World) -> None:
    await world.follow(14, 7)
    await world.wanted.set_automatic(True)
    waits = []
    for _ in range(4):
        assert await world.search.run() == 1
        assert await world.search.run() == 0
        (one,) = await world.wanted.everything()
        assert (one.outcome, one.next_at is not None) == (SearchOutcome.NOTHING, True)
        assert one.next_at is not None
        wait = one.next_at.timestamp() - world.core.clock.now() / 1_000_000
        waits.append(round(wait / 3600))
        world.core.clock.advance(wait + 1)
    assert waits == [1, 3, 6, 12]
    assert pause_after(1_000) == timedelta(days=7)
    # The one that has it may be the one that did not answer.
    assert pause_after(1_000, is_whole=False) == timedelta(hours=12)


async def test_no_more_is_searched_for_than_an_hour_allows_and_the_newest_first(world: World) -> None:
    await world.follow(*range(400, 40, -9))
    await world.wanted.set_automatic(True)
    # A season that goes on is searched for one by one.
    await world.core.run(
        "UPDATE episodes SET aired_at = :later WHERE number = 1", later=world.core.clock.now() + 10**13
    )
    total = 0
    while count := await world.search.run():
        total += count
    assert (total, world.asked()) == (PER_HOUR, PER_HOUR)
    searched = {one.number for one in await world.wanted.everything() if one.searches}
    assert searched == set(sorted(await world.numbers())[-PER_HOUR:])
    world.core.clock.advance(3601)
    assert await world.search.run() > 0


async def test_what_is_very_large_asks_first(world: World) -> None:
    await world.follow(14, 7)
    await world.wanted.set_automatic(True)
    world.has = [item("[Kura] Yoru 7 - 02 [1080p]", 2, size=31 * GB)]
    await world.search.run()
    (one,) = await world.wanted.everything()
    assert one.outcome is SearchOutcome.TOO_LARGE
    assert len(await world.core.statuses()) == 1


async def test_an_episode_whose_release_asks_says_so_and_the_others_are_taken(world: World) -> None:
    await world.follow(40, 33, 26)
    world.has = [item("[Kura] Yoru 7 - 02 [1080p]", 2, size=31 * GB), item("[Kura] Yoru 7 - 03 [1080p]", 3)]
    await world.wanted.search()
    await world.search.run()
    assert [(one.number, one.outcome) for one in await world.wanted.everything()] == [(2.0, SearchOutcome.TOO_LARGE)]
    assert await world.wanted.count_asking() == 1
    outcomes = await world.core.all("SELECT outcome FROM wanted_searches ORDER BY episode_id")
    assert outcomes == [("too_large",), ("grabbed",)]


async def test_a_torrent_file_says_how_large_a_release_is_that_its_indexer_does_not_measure(world: World) -> None:
    await world.follow(14, 7)
    await world.wanted.set_automatic(True)
    pieces = 20 * 1_000
    info = b"d6:lengthi%de4:name4:Kura12:piece lengthi33554432e6:pieces%d:%se" % (31 * GB, pieces, b"x" * pieces)
    world.files["/t/2"] = b"d4:info" + info + b"e"
    url = world.server.url("/t/2")
    world.has = [
        f"""<item><title>[Kura] Yoru 7 - 02 [1080p]</title><guid>https://tracker.example/2</guid>
<enclosure url="{url}" type="application/x-bittorrent" /></item>"""
    ]
    await world.search.run()
    (one,) = await world.wanted.everything()
    assert one.outcome is SearchOutcome.TOO_LARGE
    assert len(await world.core.statuses()) == 1


async def test_a_season_that_is_over_is_fetched_as_a_batch(world: World) -> None:
    await world.follow(40, 33, 26, 19)
    world.has = [
        item("[Kura] Yoru 7 - 02 [1080p]", 2),
        item("[Kura] Yoru 7 - 02-04 [1080p]", 24, size=3 * GB),
        item("[Other] Asa - 02-04 [1080p]", 99, size=3 * GB),
    ]
    plan = await world.wanted.backfill(1)
    assert [one.item.title for one in plan.releases] == ["[Kura] Yoru 7 - 02-04 [1080p]"]
    assert (plan.left, plan.size_bytes) == ((), 3 * GB)
    await world.wanted.search()
    assert await world.search.run() == 1
    assert await world.numbers() == []
    hashes = await world.core.all(
        "SELECT DISTINCT link.hash FROM downloads JOIN anime_links AS link ON link.id = link_id"
    )
    assert len(hashes) == 2


async def test_what_is_found_is_fetched_of_a_show_whose_episodes_no_list_has(world: World) -> None:
    await world.core.bring(("[Kura] Yoru 7 - 03 [1080p]", f"magnet:?xt=urn:btih:{3:040x}"))
    world.has = [item(f"[Kura] Yoru 7 - {number:02} [1080p]", number) for number in (1, 2, 3)]
    world.has.append(item("[Kura] Yoru 7 - 02 [720p]", 22))
    plan = await world.wanted.backfill(1)
    titles = sorted(one.item.title for one in plan.releases)
    assert titles == ["[Kura] Yoru 7 - 01 [1080p]", "[Kura] Yoru 7 - 02 [1080p]"]


async def test_a_show_says_for_itself_whether_it_is_searched_for(world: World) -> None:
    await world.follow(14, 7)
    await world.wanted.set_series_automatic(1, True)
    assert await world.search.run() == 1
    await world.wanted.set_automatic(True)
    await world.wanted.set_series_automatic(1, False)
    world.core.clock.advance(30 * DAY)
    assert await world.search.run() == 0
    await world.core.run("UPDATE series SET state = 'ignored'")
    assert await world.numbers() == []


async def test_a_show_in_doubt_is_never_searched_for(world: World) -> None:
    await world.follow(14, 7)
    await world.wanted.search()
    due = await world.core.queue.database.read(store.due)
    assert [one.number for one in due] == [2.0]
    await world.core.run(
        "INSERT INTO identity_questions (asked_of, reading, created_at, updated_at) VALUES ('x', '{}', 1, 1)"
    )
    question = "(SELECT max(id) FROM identity_questions)"
    await world.core.run(f"UPDATE anime_links SET question_id = {question}, held_reason = 'in_doubt'")
    assert await world.search.run() == 0


def test_the_disk_has_a_reserve() -> None:
    assert asks_first(5 * GB, 4 * GB) is SearchOutcome.NO_ROOM
    assert asks_first(5 * GB, None) is None
    assert asks_first(None, 0) is None
    assert asks_first(31 * GB, None) is SearchOutcome.TOO_LARGE


async def test_a_number_that_a_correction_took_back_is_not_wanted(world: World) -> None:
    """Releases that are counted otherwise leave the numbers that they had: there is no such episode."""
    await world.core.bring(*((f"[Kura] Yoru - {n} [1080p]", f"magnet:?xt=urn:btih:{n:040x}") for n in (25, 26)))
    ((series,),) = await world.core.all("SELECT id FROM series")
    await world.core.queue.database.write(lambda conn: conn.run("DELETE FROM downloads"))
    await world.core.queue.database.write(lambda conn: conn.run("UPDATE episodes SET state = 'wanted'"))
    assert sorted(await world.numbers()) == [25.0, 26.0]
    corrections = Corrections(world.core.queue.database)
    ((link,),) = await world.core.all("SELECT min(id) FROM anime_links")
    await corrections.move(link, place=EpisodePlace(ReleaseKind.TV, 1.0))
    assert sorted(await world.numbers()) == [1.0, 26.0]
    await corrections.undo(series)
    assert sorted(await world.numbers()) == [25.0, 26.0]


async def test_several_are_wanted_no_longer_and_again_but_what_is_under_way_stays(world: World) -> None:
    # The first is being downloaded; the next two were shown and are not there.
    await world.follow(21, 14, 7)
    assert await world.numbers() == [3.0, 2.0]
    ids = [one for (one,) in await world.core.all("SELECT id FROM episodes ORDER BY number")]
    wanting = world.core.downloads.wanting
    assert await wanting.mark_unwanted([*ids, 4711], is_unwanted=True) == ids[1:]
    assert await world.numbers() == []
    assert await wanting.mark_unwanted(ids, is_unwanted=True) == []
    assert await wanting.mark_unwanted(ids[2:], is_unwanted=False) == ids[2:]
    assert await world.numbers() == [3.0]

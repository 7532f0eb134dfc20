"""A show is followed by one of its releases: its group, its feed, and a second feed that stands by."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date

import pytest
from tests.integration.downloads.conftest import TLS, Core
from tests.support.indexers import Answered, StandIn, caps, channel, jackett_item, standing_in

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.states import SeriesState
from kurabito.downloads.follow.finished_shows import FinishedShows
from kurabito.downloads.follow.offers import GroupOffer, offers
from kurabito.downloads.follow.service import ShowFollower
from kurabito.downloads.follow.standby import StandIns
from kurabito.downloads.profiles import store as profiles
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.pasted_links import PastedLinks
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.wanted import store
from kurabito.feeds.health import FeedHealth, feed_health
from kurabito.http import Outbound
from kurabito.indexers.definitions import SiteDefinitions, feed_of_show, read_site
from kurabito.indexers.errors import SiteInvalid
from kurabito.indexers.model import IndexerKind, IndexerSettings
from kurabito.indexers.port import SearchQuery
from kurabito.indexers.service import Indexers
from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, keep_lists
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry

DAY = 24 * 3600


def released(group: str, number: int, height: int = 1080) -> str:
    known = int.from_bytes(f"{group}{number}{height}".encode())
    return f"""<item><title>[{group}] Yoru no Kurabito - {number:02} [{height}p]</title>
<link>https://site.example/download/{group}{number}.torrent</link>
<guid>https://site.example/view/{group}{number}</guid><pubDate>Tue, {number * 7:02} Jan 2026 12:00:00 -0000</pubDate>
<nyaa:seeders xmlns:nyaa="https://nyaa.si/xmlns/nyaa">4</nyaa:seeders><nyaa:infoHash>{known:040x}</nyaa:infoHash></item>"""


@dataclass
class World:
    core: Core
    search: ReleaseSearch
    follower: ShowFollower
    indexers: Indexers
    server: StandIn
    filled: list[bool]
    """Whether a record was to be filled in."""

    async def offers(self) -> dict[str, GroupOffer]:
        found = [one async for one in self.search.search(SearchQuery(text="Yoru no Kurabito"))]
        return {one.group: one for one in offers(found[-1].releases)}


@pytest.fixture
async def world(core: Core) -> AsyncIterator[World]:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        if query.get("t"):
            return Answered(caps() if query["t"] == "caps" else channel(jackett_item(server.url(), 7)))
        return Answered(channel(*(released("Kura", one) for one in (1, 2, 3)), released("Bito", 2, 720)))

    database = core.queue.database
    async with standing_in(respond) as server, Outbound(tls=TLS) as outbound:
        indexers = Indexers(database, outbound, SiteDefinitions())
        search = ReleaseSearch(database, indexers, PastedLinks(outbound))
        grabs = ReleaseGrabs(database, indexers, search, core.downloads.grabber)
        catalog = Catalog(database, core.downloads.grabber)
        filled: list[bool] = []

        async def fill_in() -> None:
            filled.append(True)

        follower = ShowFollower(database, catalog, search, grabs, indexers, core.feeds.subscriptions, fill_in)
        yield World(core, search, follower, indexers, server, filled)


async def test_a_show_is_followed_by_the_feed_of_its_site(world: World) -> None:
    site = IndexerSettings(kind=IndexerKind.SITE, name="", site="nyaa", url=world.server.url(), allows_private=True)
    await world.indexers.add(site)
    known = await world.offers()
    kura, bito = known["Kura"], known["Bito"]
    assert (kura.releases, kura.resolution, kura.every_days, kura.indexers) == (3, 1080, 7.0, ("Nyaa",))
    assert bito.every_days is None
    made = await world.follower.follow(kura.key, bito.key, silent_days=5)
    assert (made.series.title, made.series.state) == ("Yoru no Kurabito", SeriesState.FOLLOWED)
    assert made.subscription is not None
    assert made.standby is not None
    assert made.subscription.settings.url.endswith("q=Yoru%20no%20Kurabito%20Kura&p=1")
    assert made.subscription.settings.is_enabled
    # A search finds other seasons too, so their titles decide, and not the feed.
    assert made.subscription.settings.series_id is None
    last_season = ("[Kura] Yoru no Kurabito S1 - 12 [1080p]", f"magnet:?xt=urn:btih:{12:040x}")
    next_season = ("[Kura] Yoru no Kurabito S2 - 01 [1080p]", f"magnet:?xt=urn:btih:{21:040x}")
    await world.core.bring(last_season, next_season, subscription_id=made.subscription.id)
    seasons = "SELECT series.season, link.title FROM anime_links AS link JOIN series ON series.id = link.series_id"
    assert {(1, last_season[0]), (2, next_season[0])} <= set(await world.core.all(seasons))
    assert made.standby.settings.is_enabled is False
    own = await world.core.queue.database.read(lambda conn: profiles.of_series(conn, made.series.id))
    assert own is not None
    assert own.preferences.preferred.groups == ("Kura", "Bito")
    # A second click changes nothing.
    again = await world.follower.follow(kura.key)
    assert again.subscription is not None
    assert again.subscription.id == made.subscription.id

    stand_ins = StandIns(world.core.queue.database, world.core.feeds.subscriptions)
    assert await stand_ins.look() == 0
    world.core.clock.advance(5 * DAY + 60)
    assert await stand_ins.look() == 1
    assert (await world.core.feeds.subscriptions.get(made.standby.id)).settings.is_enabled
    assert await stand_ins.look() == 0


async def test_a_source_without_a_feed_is_searched(world: World) -> None:
    url = world.server.url("/api?apikey=0123456789abcdef")
    await world.indexers.add(IndexerSettings(kind=IndexerKind.TORZNAB, name="Jackett", url=url, allows_private=True))
    known = await world.offers()
    made = await world.follower.follow(known["Kura"].key)
    assert made.subscription is None
    # Its feed would have the key in it, so what is wanted is searched for.
    assert await world.core.all("SELECT automatic_search FROM series") == [(1,)]
    assert await world.core.all("SELECT count(*) FROM subscriptions") == [(0,)]


async def test_a_show_gets_its_record_and_its_episodes_are_wanted_at_once(world: World) -> None:
    database = world.core.queue.database
    site = IndexerSettings(kind=IndexerKind.SITE, name="", site="mikan", url=world.server.url(), allows_private=True)
    await world.indexers.add(site)
    entry = OfflineEntry(
        title="夜の蔵人",
        kind=RecordKind.TV,
        language="ja",
        ids=Ids(bgm_id=7, mikan_id=3141),
        air_date=date(2020, 1, 7),
        other_titles=("Yoru no Kurabito",),
    )
    listed = {"7": [KnownEpisode(number, air_date=date(2020, 1, 7 * number)) for number in (1, 2, 3)]}
    await database.write(lambda conn: offline.replace_entries(conn, [entry]))
    await database.write(lambda conn: keep_lists(conn, EpisodeSource.BGM, listed))
    made = await world.follower.follow((await world.offers())["Kura"].key)
    assert made.series.metadata_id is not None
    assert made.subscription is not None
    assert made.subscription.settings.url.endswith("/RSS/Bangumi?bangumiId=3141")
    assert made.subscription.settings.series_id == made.series.id
    wanted = await database.read(lambda conn: store.wanted(conn, series_id=made.series.id))
    assert {1.0, 2.0} <= {one.number for one in wanted}
    assert world.filled


async def test_the_feed_of_a_finished_show_rests_until_there_is_more(world: World) -> None:
    database = world.core.queue.database
    site = IndexerSettings(kind=IndexerKind.SITE, name="", site="nyaa", url=world.server.url(), allows_private=True)
    await world.indexers.add(site)
    made = await world.follower.follow((await world.offers())["Kura"].key)
    assert made.subscription is not None
    own, feeds = made.subscription.id, world.core.feeds.subscriptions
    finished = FinishedShows(database)

    async def health() -> FeedHealth:
        await finished.look()
        return feed_health(await feeds.get(own))

    # No day is known of its episodes, so it may go on.
    assert await health() is not FeedHealth.FINISHED
    shown = "UPDATE episodes SET aired_at = :shown, state = :state"
    await world.core.run(shown, shown=world.core.clock.now() - 30 * DAY * 10**6, state="wanted")
    assert await health() is not FeedHealth.FINISHED
    await world.core.run("UPDATE episodes SET state = 'have'")
    assert await health() is FeedHealth.FINISHED
    # A new episode is announced.
    await world.core.run("UPDATE episodes SET aired_at = :later", later=world.core.clock.now() + DAY)
    assert await health() is not FeedHealth.FINISHED
    await world.core.run("UPDATE episodes SET aired_at = :shown", shown=world.core.clock.now() - 30 * DAY * 10**6)
    assert await health() is FeedHealth.FINISHED
    # What its keeper resumes is read, and what they pause stays so.
    await feeds.change(own, {"is_enabled": True})
    assert await health() is not FeedHealth.FINISHED
    await world.core.run("UPDATE episodes SET aired_at = :later", later=world.core.clock.now() + DAY)
    await feeds.change(own, {"is_enabled": False})
    await world.core.run("UPDATE subscriptions SET finished_at = NULL")
    assert await health() is FeedHealth.PAUSED


async def test_the_group_that_was_chosen_is_waited_for(world: World) -> None:
    site = IndexerSettings(kind=IndexerKind.SITE, name="", site="nyaa", url=world.server.url(), allows_private=True)
    await world.indexers.add(site)
    made = await world.follower.follow((await world.offers())["Kura"].key)
    assert made.subscription is not None
    downloads = (
        "SELECT link.title FROM downloads JOIN anime_links AS link ON link.id = link_id WHERE link.title LIKE '% 09 %'"
    )
    other = ("[Bito] Yoru no Kurabito - 09 [1080p]", f"magnet:?xt=urn:btih:{91:040x}")
    await world.core.bring(other, subscription_id=made.subscription.id)
    assert await world.core.all(downloads) == []
    chosen = ("[Kura] Yoru no Kurabito - 09 [1080p]", f"magnet:?xt=urn:btih:{92:040x}")
    await world.core.bring(chosen, subscription_id=made.subscription.id)
    assert await world.core.all(downloads) == [(chosen[0],)]


def test_a_site_may_have_a_feed_for_each_show() -> None:
    mikan = SiteDefinitions().find("mikan")
    assert feed_of_show(mikan, "Yoru Kura", 3141) == ("https://mikanani.me/RSS/Bangumi?bangumiId=3141", True)
    assert feed_of_show(mikan, "Yoru Kura", 3141, "https://mirror.example") == (
        "https://mirror.example/RSS/Bangumi?bangumiId=3141",
        True,
    )
    assert feed_of_show(mikan, "Yoru Kura", None) == (
        "https://mikanani.me/RSS/Search?searchstr=Yoru%20Kura",
        False,
    )
    text = 'name = "A"\nurl = "https://a.example/?q={query}"\nshow_url = "https://evil.example/{mikan_id}"'
    with pytest.raises(SiteInvalid):
        read_site("a", text, is_own=True)

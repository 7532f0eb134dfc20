"""A show is followed by one of its releases: its group, its feed, and a second feed that stands by."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from tests.integration.downloads.conftest import TLS, Core
from tests.support.indexers import Answered, StandIn, caps, channel, jackett_item, standing_in

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.states import SeriesState
from kurabito.downloads.follow.offers import GroupOffer, offers
from kurabito.downloads.follow.service import ShowFollower
from kurabito.downloads.follow.standby import StandIns
from kurabito.downloads.profiles import store as profiles
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.pasted import PastedLinks
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.http import Outbound
from kurabito.indexers.definitions import SiteDefinitions, feed_of_show, read_site
from kurabito.indexers.errors import SiteInvalid
from kurabito.indexers.model import IndexerKind, IndexerSettings
from kurabito.indexers.port import SearchQuery
from kurabito.indexers.service import Indexers

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
        follower = ShowFollower(database, catalog, search, grabs, indexers, core.feeds.subscriptions)
        yield World(core, search, follower, indexers, server)


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
    assert (made.subscription.settings.series_id, made.subscription.settings.is_enabled) == (made.series.id, True)
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


def test_a_site_may_have_a_feed_for_each_show() -> None:
    mikan = SiteDefinitions().find("mikan")
    assert feed_of_show(mikan, "Yoru Kura", 3141) == "https://mikanani.me/RSS/Bangumi?bangumiId=3141"
    assert feed_of_show(mikan, "Yoru Kura", 3141, "https://mirror.example") == (
        "https://mirror.example/RSS/Bangumi?bangumiId=3141"
    )
    assert feed_of_show(mikan, "Yoru Kura", None) == "https://mikanani.me/RSS/Search?searchstr=Yoru%20Kura"
    text = 'name = "A"\nurl = "https://a.example/?q={query}"\nshow_url = "https://evil.example/{mikan_id}"'
    with pytest.raises(SiteInvalid):
        read_site("a", text, is_own=True)

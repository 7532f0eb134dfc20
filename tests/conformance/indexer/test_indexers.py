"""What every indexer keeps to, in the formats that they really send; and what hostile ones cost."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import httpcore2
import pytest
from tests.support.indexers import (
    HASH,
    KEY,
    SITE_ITEMS,
    Answered,
    Respond,
    StandIn,
    caps,
    channel,
    error,
    jackett_item,
    prowlarr_item,
    prowlarr_magnet,
    standing_in,
)

from kurabito.catalog.releases import Release, read_release
from kurabito.http import Outbound
from kurabito.http.errors import HostNotAllowed, LeadsToMagnet, OutboundError, TooLarge
from kurabito.indexers.addresses import pasted
from kurabito.indexers.definitions import SiteDefinitions
from kurabito.indexers.errors import (
    IndexerError,
    IndexerKeyRefused,
    IndexerLimited,
    IndexerRefused,
    IndexerUnreadable,
)
from kurabito.indexers.pages import ask_each
from kurabito.indexers.port import MOST_PAGES, MOST_RESULTS, Indexer, SearchKind, SearchQuery
from kurabito.indexers.search_feed import SearchFeed
from kurabito.indexers.torznab import Torznab, TorznabSettings
from kurabito.modules.download_types import DownloadType

TLS = httpcore2.default_ssl_context()
SHOW = SearchQuery(text="Yoru no Kurabito")


@pytest.fixture
async def outbound() -> AsyncIterator[Outbound]:
    async with Outbound(tls=TLS) as outbound:
        yield outbound


def torznab(outbound: Outbound, server: StandIn, *, allows_private: bool = True) -> Torznab:
    address = pasted(server.url(f"/1/api?t=caps&apikey={KEY}"))
    return Torznab(outbound, TorznabSettings(url=address.url, api_key=address.api_key, allows_private=allows_private))


def site(outbound: Outbound, server: StandIn, key: str = "nyaa") -> SearchFeed:
    definition = replace(SiteDefinitions().find(key), interval=0.0)
    return SearchFeed(outbound, definition, mirror=server.url(), allows_private=True)


def of_torznab(answer: Answered) -> Respond:
    return lambda _path, query: Answered(caps()) if query.get("t") == "caps" else answer


@pytest.mark.parametrize(
    ("url", "asked", "key"),
    [
        (f"http://nas:9696/3/api?apikey={KEY}&extended=1&t=caps", "http://nas:9696/3/api", KEY),
        ("http://nas:9696/prowlarr/3/", "http://nas:9696/prowlarr/3/api", None),
        (
            f"http://nas:9117/api/v2.0/indexers/nyaasi/results/torznab/api?apikey={KEY}&t=search&cat=&q=",
            "http://nas:9117/api/v2.0/indexers/nyaasi/results/torznab/api",
            KEY,
        ),
        (
            "http://nas:9117/api/v2.0/indexers/nyaasi/results/torznab/",
            "http://nas:9117/api/v2.0/indexers/nyaasi/results/torznab/api",
            None,
        ),
    ],
)
def test_a_url_is_taken_as_prowlarr_and_jackett_copy_it(url: str, asked: str, key: str | None) -> None:
    assert pasted(url) == (asked, key)


async def test_prowlarr_says_what_a_result_is_by_its_enclosure(outbound: Outbound) -> None:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        items = (prowlarr_item(server.url(), 7), prowlarr_item(server.url(), 8, usenet=True))
        return Answered(caps() if query["t"] == "caps" else channel(*items))

    async with standing_in(respond) as server:
        reply = await torznab(outbound, server).search(SHOW)
    torrent, usenet = reply.items
    assert (torrent.download_type, torrent.is_usenet, torrent.seeders, torrent.leechers) == (
        DownloadType.TORRENT, False, 7, 3,
    )  # fmt: skip
    assert (usenet.download_type, usenet.is_usenet) == (None, True)
    release = read_release(torrent, ())
    assert isinstance(release, Release)
    # Its URL has no `.torrent`, and would be taken for a plain file.
    assert release.download_type is DownloadType.TORRENT


async def test_the_magnet_links_of_prowlarr_lead_through_it_too(outbound: Outbound) -> None:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        return Answered(caps() if query["t"] == "caps" else channel(prowlarr_magnet(server.url(), 7)))

    async with standing_in(respond) as server:
        (item,) = (await torznab(outbound, server).search(SHOW)).items
    assert (item.download_type, item.info_hash) == (DownloadType.TORRENT, f"{7:040x}")
    assert item.download_url == server.url(f"/1/download?apikey={KEY}&link=bWFn7&file=Kura")


async def test_jackett_gives_magnets_and_hashes_as_attributes(outbound: Outbound) -> None:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        return Answered(caps() if query["t"] == "caps" else channel(jackett_item(server.url(), 7)))

    async with standing_in(respond) as server:
        (item,) = (await torznab(outbound, server).search(SHOW)).items
    assert item.download_type is DownloadType.MAGNET
    assert item.info_hash == f"{7:040x}"
    assert item.download_url == f"magnet:?xt=urn:btih:{7:040x}&dn=Kura"


async def test_a_link_that_redirects_to_a_magnet_gives_the_magnet(outbound: Outbound) -> None:
    magnet = f"magnet:?xt=urn:btih:{HASH}&dn=Kura%20Bito"
    moved = Answered(status="301 Moved Permanently", headers={"location": magnet})
    async with standing_in(lambda _path, _query: moved) as server:
        with pytest.raises(LeadsToMagnet) as found:
            await outbound.get(server.url(f"/1/download?apikey={KEY}"), trusted=["127.0.0.1"])
    assert found.value.magnet == magnet
    assert KEY not in str(found.value)


async def test_a_season_and_an_episode_are_said_as_the_indexer_takes_them(outbound: Outbound) -> None:
    # Titles of this show count on from its first season: its second begins with 13.
    query = SearchQuery(text="Kura", kind=SearchKind.TV, season=2, episode=15, season_episode=3)
    async with standing_in(of_torznab(Answered(channel()))) as server:
        await torznab(outbound, server).search(query)
        await torznab(outbound, server).search(SearchQuery(text="Kura", kind=SearchKind.MOVIE))
    plain, numbered, films = (asked for _, asked in server.asked if asked["t"] != "caps")
    assert (plain["t"], plain["q"], "season" in plain) == ("tvsearch", "Kura 15", False)
    assert (numbered["t"], numbered["q"], numbered["season"], numbered["ep"]) == ("tvsearch", "Kura", "2", "3")
    # It offers no search for films, so they are looked for by their text.
    assert (films["t"], films["q"], films["cat"], films["apikey"]) == ("search", "Kura", "2000,5000", KEY)


async def test_only_one_spelling_costs_the_request_for_season_and_episode(outbound: Outbound) -> None:
    query = SearchQuery(text="蔵人", also=("Kurabito", "Brewer"), kind=SearchKind.TV, season=1, episode=3)
    async with standing_in(of_torznab(Answered(channel()))) as server:
        await ask_each(torznab(outbound, server).search, query.each())
    asked = [(one["q"], one.get("season")) for _, one in server.asked if one["t"] != "caps"]
    assert asked == [("蔵人 03", None), ("Kurabito 03", None), ("Kurabito", "1"), ("Brewer 03", None)]


async def test_pages_are_asked_for_until_one_is_not_full(outbound: Outbound) -> None:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        if query["t"] == "caps":
            return Answered(caps(limit=2))
        first = int(query.get("offset", 0))
        return Answered(channel(*(jackett_item(server.url(), one) for one in range(first, min(first + 2, 5)))))

    async with standing_in(respond) as server:
        reply = await torznab(outbound, server).search(SHOW)
    assert (len(reply.items), reply.is_whole) == (5, True)
    assert [asked.get("offset") for _, asked in server.asked if asked["t"] != "caps"] == [None, "2", "4"]


@pytest.mark.parametrize(
    ("number", "raised"),
    [
        (100, IndexerKeyRefused), (102, IndexerKeyRefused), (200, IndexerRefused), (201, IndexerRefused),
        (300, IndexerRefused), (500, IndexerLimited), (501, IndexerLimited), (900, IndexerRefused),
        (910, IndexerRefused),
    ],
)  # fmt: skip
async def test_errors_of_torznab_are_told_apart(outbound: Outbound, number: int, raised: type[IndexerRefused]) -> None:
    answer = Answered(error(number, f"no, apikey={KEY} is not it"))
    async with standing_in(lambda _path, _query: answer) as server:
        with pytest.raises(IndexerRefused) as refused:
            await torznab(outbound, server).caps()
    assert type(refused.value) is raised
    assert refused.value.number == number
    assert KEY not in str(refused.value)


async def test_a_rate_limit_says_when_to_come_back(outbound: Outbound) -> None:
    answer = Answered(error(900, "Rate limited"), "429 Too Many Requests", {"retry-after": "120"})
    async with standing_in(of_torznab(answer)) as server:
        with pytest.raises(IndexerLimited) as limited:
            await torznab(outbound, server).search(SHOW)
        with pytest.raises(IndexerLimited) as limited_site:
            await site(outbound, server).search(SHOW)
    assert (limited.value.retry_after, limited_site.value.retry_after) == (120.0, 120.0)


@pytest.mark.parametrize(
    ("header", "most"), [("999999999", 86_400), ("Wed, 21 Oct 2099 07:28:00 GMT", 86_400), ("-5", 0), ("soon", 0)]
)
async def test_no_indexer_keeps_us_away_for_years(outbound: Outbound, header: str, most: int) -> None:
    answer = Answered(error(429, "Indexer is disabled"), "429 Too Many Requests", {"retry-after": header})
    async with standing_in(of_torznab(answer)) as server:
        with pytest.raises(IndexerLimited) as limited:
            await torznab(outbound, server).search(SHOW)
    assert (limited.value.number, (limited.value.retry_after or 0) <= most) == (429, True)


async def test_a_private_host_has_to_be_allowed(outbound: Outbound) -> None:
    async with standing_in(of_torznab(Answered(channel()))) as server:
        with pytest.raises(HostNotAllowed):
            await torznab(outbound, server, allows_private=False).caps()
        assert server.asked == []


@pytest.mark.parametrize("key", SITE_ITEMS)
async def test_each_site_is_read_in_its_own_shape(outbound: Outbound, key: str) -> None:
    async with standing_in(lambda _path, _query: Answered(channel(SITE_ITEMS[key]))) as server:
        (item,) = (await site(outbound, server, key).search(SHOW)).items
    release = read_release(item, ())
    assert isinstance(release, Release)
    assert (release.names[0].shown, release.episodes) == ("Yoru no Kurabito", (7,))
    assert release.download_type in (DownloadType.TORRENT, DownloadType.MAGNET)
    if key not in ("acgrip", "bangumi_moe"):
        assert release.identity.release_key == HASH
    if key in ("bangumi_moe", "tokyotosho"):
        assert item.size_bytes == (639_212_749 if key == "bangumi_moe" else round(609.6 * 2**20))
    if key == "nyaa":
        assert (item.seeders, item.leechers, item.size_bytes) == (4, 3, round(609.6 * 2**20))


async def test_a_site_gets_what_it_can_look_for(outbound: Outbound) -> None:
    async with standing_in(lambda _path, _query: Answered(b"</channel></rss>")) as server:
        tosho = site(outbound, server, "tokyotosho")
        query = SearchQuery(text="Kura! & 蔵人 [1080p]", episode=19, season_episode=7, season=2)
        assert (await tosho.search(query)).items == ()
        assert (await tosho.search(SearchQuery(text="蔵人"))).items == ()
        await site(outbound, server, "bangumi_moe").search(SearchQuery(text="蔵人/2期"))
    assert server.asked == [
        ("/rss.php", {"terms": "Kura 1080p 19"}),
        ("/rss.php", {"terms": "Kura 1080p S02E07"}),
        ("/rss/search/%E8%94%B5%E4%BA%BA%2F2%E6%9C%9F", {}),
    ]


HOSTILE = """<item><title>&lt;script&gt;alert(1)&lt;/script&gt; [Kura] Yoru - 07</title><guid>javascript:alert(1)</guid>
<link>{url}</link><enclosure url="{url}" length="99999999999999999999999" type="application/x-bittorrent" />
<torznab:attr name="seeders" value="99999999999999999999" /><torznab:attr name="peers" value="-3" />
<torznab:attr name="infohash" value="{hash}" /><pubDate>Mon, 99 Foo 20211 99:99:99</pubDate></item>"""


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://nas/x", "javascript:alert(1)", "data:text/html,x", "//evil", ""]
)
async def test_what_a_link_may_not_be_is_no_link(outbound: Outbound, url: str) -> None:
    item = HOSTILE.format(url=url, hash="z" * 9_000)
    async with standing_in(of_torznab(Answered(channel(item)))) as server:
        for indexer in indexers(outbound, server):
            items = (await indexer.search(SHOW)).items
            for one in items:
                assert (one.download_url or "http://").startswith(("http://", "https://"))
                assert (one.seeders, one.info_hash) == (None, None)


async def test_attributes_and_categories_without_end_are_cut(outbound: Outbound) -> None:
    many = "".join(f'<category id="{one}" name="{"x" * 300}" />' for one in range(2_500))
    large = caps().replace(b'<category id="2000" name="Movies" />', many.encode())
    trackers = "".join(f"&amp;tr=http%3A%2F%2Ft{one}.example" for one in range(10_000))
    magnet = f'<torznab:attr name="magneturl" value="magnet:?xt=urn:btih:{HASH}{trackers}" />'
    attributes = '<torznab:attr name="x" value="y" />' * 10_000
    item = jackett_item("http://127.0.0.1", 7).replace("</item>", f"{attributes}</item>")
    huge = re.sub('<torznab:attr name="magneturl" [^>]*>', magnet, item)
    async with standing_in(
        lambda _path, query: Answered(large if query.get("t") == "caps" else channel(huge, item))
    ) as server:
        indexer = torznab(outbound, server)
        assert len((await indexer.caps()).categories) <= 1_000
        for one in (await indexer.search(SHOW)).items:
            assert len(one.download_url or "") <= 100_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text", [b"<caps>" * 2_000_000, b"<caps><categories>" * 500_000 + b"</caps>"], ids=["caps", "lists"]
)
async def test_beginnings_without_an_end_take_no_time(outbound: Outbound, text: bytes) -> None:
    async with standing_in(lambda _path, _query: Answered(text)) as server:
        with pytest.raises(IndexerUnreadable):
            await torznab(outbound, server).caps()


async def test_an_indexer_that_leads_elsewhere_does_not_lead_inside(outbound: Outbound) -> None:
    """Another host is not trusted because the indexer's own is."""
    reached: list[str] = []

    def inside(path: str, _query: dict[str, str]) -> Answered:
        reached.append(path)
        return Answered(caps())

    async with standing_in(inside) as other:
        there = other.url("/admin").replace("127.0.0.1", "127.0.0.2")
        async with standing_in(
            lambda _path, _query: Answered(status="302 Found", headers={"location": there})
        ) as server:
            for indexer in indexers(outbound, server):
                with pytest.raises((IndexerError, OutboundError)):
                    await indexer.search(SHOW)
    assert reached == []


def indexers(outbound: Outbound, server: StandIn) -> list[Indexer]:
    return [torznab(outbound, server), site(outbound, server)]


@pytest.mark.parametrize(
    "answer",
    [
        Answered(b"\x00\xff garbage \xfe" * 100),
        Answered(b"<html><body>Log in</body></html>"),
        Answered(b""),
        Answered(status="302 Found", headers={"location": "/again"}),
        Answered(status="500 Internal Server Error"),
        Answered(b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><caps>&b;</caps>"),
    ],
    ids=["garbage", "page", "empty", "redirects", "status", "entities"],
)
async def test_what_is_no_answer_is_an_error(outbound: Outbound, answer: Answered) -> None:
    async with standing_in(lambda _path, _query: answer) as server:
        for indexer in indexers(outbound, server):
            with pytest.raises((IndexerError, OutboundError)) as raised:
                await indexer.search(SHOW)
            assert KEY not in str(raised.value)


async def test_an_answer_without_an_end_is_cut(outbound: Outbound) -> None:
    endless = Answered(b"<rss><channel>" + b" " * 2**20, forever=True)
    async with standing_in(of_torznab(endless)) as server:
        for indexer in indexers(outbound, server):
            with pytest.raises((TooLarge, IndexerUnreadable)):
                await indexer.search(SHOW)


async def test_ten_thousand_results_are_bounded(outbound: Outbound) -> None:
    def respond(path: str, query: dict[str, str]) -> Answered:
        if query.get("t") == "caps":
            return Answered(caps())
        # Whatever is asked for, there is always more.
        first = 10_000 * len(server.asked)
        return Answered(channel(*(jackett_item(server.url(), one) for one in range(first, first + 2_000))))

    async with standing_in(respond) as server:
        for indexer in indexers(outbound, server):
            reply = await indexer.search(SHOW)
            assert (len(reply.items), reply.is_whole) == (MOST_RESULTS, False)
    assert len(server.asked) <= 2 * MOST_PAGES + 1

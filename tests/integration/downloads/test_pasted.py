"""What is pasted into the search is recognised by what it leads to."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpcore2
import pytest
from tests.support.indexers import HASH, SITE_ITEMS, Answered, StandIn, channel, standing_in

from kurabito.downloads.errors import NothingPasted
from kurabito.downloads.search.pasted_links import PastedLinks, is_pasted
from kurabito.http import Outbound
from kurabito.http.errors import HostNotAllowed
from kurabito.modules.download_types import DownloadType

MAGNET = f"magnet:?xt=urn:btih:{HASH}&dn=%5BKura%5D%20Yoru%20-%2007"
TORRENT = b"d4:infod6:lengthi5e4:name8:Kura.mkv12:piece lengthi16384e6:pieces20:" + b"x" * 20 + b"ee"
PAGE = f"""<html><head><title>[Kura] Yoru - 07 &amp; more</title>
<link rel="alternate" type="application/rss+xml" href="/feed"></head>
<body><a href="/7.torrent">File</a> <a class='m' href='{MAGNET.replace("&", "&amp;")}'>Magnet</a></body></html>"""


@pytest.fixture
async def host() -> AsyncIterator[StandIn]:
    pages = {
        "/7": Answered(PAGE.encode()),
        "/list": Answered(b"<html><a href='/1.torrent'>1</a><a href='/2.torrent?a=b'>2</a></html>"),
        "/about": Answered(b"<html><link type='application/atom+xml' href='feed'><a href='/other'>Other</a></html>"),
        "/feed": Answered(channel(SITE_ITEMS["nyaa"])),
        "/7.torrent": Answered(TORRENT),
        "/broken.torrent": Answered(b"d4:info"),
        "/moved": Answered(status="302 Found", headers={"location": MAGNET}),
        "/endless": Answered(b"<a href='" + b"x" * 2**20, forever=True),
        "/none": Answered(b"<html>" + b"<a href=" * 50_000),
        "/nowhere": Answered(b"<html><a href='http://[x'>1</a><a href='//[y.torrent'>2</a><a href='/3.torrent'>3</a>"),
    }
    async with standing_in(lambda path, _query: pages[path]) as server:
        yield server


async def test_each_link_is_recognised_by_what_it_leads_to(host: StandIn) -> None:
    async with Outbound(private_hosts=["127.0.0.1"], tls=httpcore2.default_ssl_context()) as outbound:
        links = PastedLinks(outbound)

        async def found(path: str) -> tuple[str | None, list[tuple[str, DownloadType | None]]]:
            opened = await links.open(path if path.startswith("magnet") else host.url(path))
            return opened.feed_url, [(item.title, item.download_type) for item in opened.items]

        magnet = [("[Kura] Yoru - 07", DownloadType.MAGNET)]
        assert await found(MAGNET) == (None, magnet)
        assert await found("/moved") == (None, magnet)
        # The page has both links of one release, and a feed of others.
        assert await found("/7") == (None, magnet)
        assert await found("/list") == (None, [("1", DownloadType.TORRENT), ("2", DownloadType.TORRENT)])
        assert await found("/7.torrent") == (None, [("Kura.mkv", DownloadType.TORRENT)])
        assert await found("/feed") == (host.url("/feed"), [])
        assert await found("/nowhere") == (None, [("3", DownloadType.TORRENT)])
        assert await found("/about") == (host.url("/feed"), [])
        for path in ("/broken.torrent", "/none", "magnet:?dn=nothing"):
            with pytest.raises(NothingPasted):
                await found(path)


async def test_a_private_host_is_not_opened(host: StandIn) -> None:
    async with Outbound(tls=httpcore2.default_ssl_context()) as outbound:
        with pytest.raises(HostNotAllowed):
            await PastedLinks(outbound).open(host.url("/7"))
    assert host.asked == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MAGNET, True),
        ("HTTPS://a.example/x", True),
        ("Fate: stay night", False),
        ("https://a b", False),
        ("magnet", False),
    ],
)
def test_a_name_is_no_link(text: str, expected: bool) -> None:
    assert is_pasted(text) is expected

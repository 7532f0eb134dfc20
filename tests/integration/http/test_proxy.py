"""Through a proxy, which resolves names itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from kurabito.http import Limits, Outbound
from kurabito.http.errors import HostNotAllowed, Unreachable

if TYPE_CHECKING:
    from tests.integration.http.conftest import Names, OpenSite, Site

ONCE = Limits(attempts=1)


async def test_names_are_left_to_the_proxy(site: Site, names: Names) -> None:
    """The site stands for the proxy: it hears the whole URL."""
    site.says("http://example.org/feed", b"feed")
    async with Outbound(proxy=site.url(host="me:pass@127.0.0.1"), resolver=names) as outbound:
        reply = await outbound.get("http://example.org/feed?a=1")
    assert (reply.content, reply.url) == (b"feed", "http://example.org/feed?a=1")
    assert names.asked == []
    assert (site.asked[0].target, site.asked[0].headers["host"]) == ("http://example.org/feed?a=1", "example.org")
    assert site.asked[0].headers["proxy-authorization"] == "Basic bWU6cGFzcw=="


async def test_https_goes_through_a_tunnel_that_the_proxy_may_refuse(site: Site) -> None:
    site.says("example.org:443", status="403 Forbidden")
    async with Outbound(proxy=site.url(host="127.0.0.1")) as outbound:
        with pytest.raises(Unreachable, match=r"the proxy did not connect us to https://example\.org/: 403 Forbidden"):
            await outbound.get("https://example.org/?key=1", limits=ONCE)
    assert site.asked[0].method == "CONNECT"


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::ffff:10.0.0.1]", "169.254.169.254", "localhost", "nas", "db.internal", "127.1"]
)
async def test_what_is_written_as_inside_is_refused(site: Site, host: str) -> None:
    site.moves("http://example.org/", f"http://{host}/")
    async with Outbound(proxy=site.url(host="127.0.0.1")) as outbound:
        for url in (f"http://{host}/", "http://example.org/"):
            with pytest.raises(HostNotAllowed):
                await outbound.get(url)
    assert site.paths == ["http://example.org/"]


async def test_trusted_hosts_inside_are_reached_without_the_proxy(open_site: OpenSite, names: Names) -> None:
    proxy, inside = await open_site(), await open_site()
    inside.says("/", b"inside")
    async with Outbound(proxy=proxy.url(host="127.0.0.1"), private_hosts=["nas.example"], resolver=names) as outbound:
        assert (await outbound.get(inside.url(host="nas.example"))).content == b"inside"
        assert (await outbound.get(inside.url(host="nas.local"), trusted=["nas.local"])).content == b"inside"
        assert (await outbound.get(inside.url(host="127.0.0.1"), trusted=["127.0.0.1"])).content == b"inside"
    assert proxy.asked == []


async def test_a_proxy_that_is_away_is_named(names: Names) -> None:
    names.answers["proxy.test"] = [[]]
    async with Outbound(proxy="http://proxy.test:3128", resolver=names) as outbound:
        with pytest.raises(Unreachable, match=r"proxy\.test has no address"):
            await outbound.get("http://example.org/", limits=ONCE)


async def test_a_socks_proxy_is_given_the_name() -> None:
    wanted: list[bytes] = []

    async def socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(3)
        writer.write(b"\x05\x00")
        head = await reader.readexactly(5)
        wanted.append(head[3:4] + await reader.readexactly(head[4] + 2))
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfeed")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(socks, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        async with Outbound(proxy=f"socks5://127.0.0.1:{port}") as outbound:
            assert (await outbound.get("http://example.org/", limits=ONCE)).content == b"feed"
    assert wanted == [b"\x03example.org\x00\x50"]

"""Nothing that others wrote leads into our own network."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.http import Limits, Outbound
from kurabito.http.errors import HostNotAllowed, Unreachable, UrlNotAllowed

if TYPE_CHECKING:
    from tests.integration.http.conftest import Names, OpenSite, Site

ONCE = Limits(attempts=1)
INSIDE = [
    "127.0.0.1",
    "[::1]",
    "169.254.169.254",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "0.0.0.0",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "224.0.0.1",
    "255.255.255.255",
    "2130706433",
    "0x7f.0.0.1",
    "017700000001",
    "127.1",
]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://site.test/", "data:text/plain,x", "http://0177.0.0.1/"])
async def test_other_schemes_and_malformed_hosts_are_refused(outbound: Outbound, url: str) -> None:
    with pytest.raises(UrlNotAllowed):
        await outbound.get(url, trusted=["site.test"])


@pytest.mark.parametrize("host", INSIDE)
async def test_an_address_inside_is_refused(outbound: Outbound, site: Site, host: str) -> None:
    with pytest.raises(HostNotAllowed):
        await outbound.get(f"http://{host}:{site.port}/")
    assert site.connections == 0


@pytest.mark.parametrize(
    "answer", [["127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"], ["169.254.169.254"], ["8.8.8.8", "10.0.0.1"]]
)
async def test_a_name_that_leads_inside_is_refused(
    outbound: Outbound, site: Site, names: Names, answer: list[str]
) -> None:
    names.answers["evil.test"] = [answer]
    with pytest.raises(
        HostNotAllowed, match=r"evil\.test is not fetched from: it leads to .*KURABITO_ALLOW_PRIVATE_HOSTS"
    ):
        await outbound.get(site.url(host="evil.test"))
    assert site.connections == 0


async def test_the_machines_own_resolver_is_checked_too(site: Site) -> None:
    async with Outbound() as outbound:
        with pytest.raises(HostNotAllowed, match=r"localhost is not fetched from: it leads to .*, a loopback address"):
            await outbound.get(site.url(host="localhost"))
        site.says("/", b"welcome")
        assert (await outbound.get(site.url(host="localhost"), trusted=["localhost"])).content == b"welcome"


@pytest.mark.parametrize("host", [*INSIDE, "evil.test"])
async def test_a_redirect_inside_is_refused(outbound: Outbound, site: Site, host: str) -> None:
    site.moves("/", f"http://{host}:{site.port}/secret")
    with pytest.raises(HostNotAllowed):
        await outbound.get(site.url())
    assert site.paths == ["/"]


async def test_a_redirect_to_a_file_is_refused(outbound: Outbound, site: Site) -> None:
    site.moves("/", "file:///etc/passwd")
    with pytest.raises(UrlNotAllowed, match="only http and https"):
        await outbound.get(site.url())


async def test_hosts_are_trusted_for_the_request_that_says_so(outbound: Outbound, site: Site) -> None:
    site.says("/", b"feed")
    url = site.url(host="mine.test")
    assert (await outbound.get(url, trusted=["mine.test"])).content == b"feed"
    # The connection is still open, and must not be a way in for whoever does not trust the host.
    with pytest.raises(HostNotAllowed):
        await outbound.get(url)
    assert len(site.asked) == 1


async def test_connections_are_kept_for_the_next_request(outbound: Outbound, site: Site) -> None:
    site.says("/", b"x")
    for _ in range(3):
        await outbound.get(site.url())
    assert (len(site.asked), site.connections) == (3, 1)


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to(open_site: OpenSite, names: Names) -> None:
    """The name leads to a good address when it is checked, and inside whenever it is asked again."""
    good = await open_site("127.0.0.2")
    secret = await open_site("127.0.0.1", good.port)
    good.says("/", b"good", connection="close")
    secret.says("/", b"secret")
    names.answers["rebinding.test"] = [["127.0.0.2"], ["127.0.0.1"]]
    async with Outbound(private_hosts=["127.0.0.2"], resolver=names) as outbound:
        assert (await outbound.get(good.url(host="rebinding.test"))).content == b"good"
        assert names.asked == ["rebinding.test"]
        with pytest.raises(HostNotAllowed, match=r"127\.0\.0\.1"):
            await outbound.get(good.url(host="rebinding.test"), limits=ONCE)
    assert secret.connections == 0


async def test_the_host_keeps_its_name_in_the_request(outbound: Outbound, site: Site) -> None:
    site.says("/x")
    await outbound.get(site.url("/x?y=1"))
    assert site.asked[0].headers["host"] == f"site.test:{site.port}"
    assert site.asked[0].target == "/x?y=1"


async def test_the_host_keeps_its_name_in_tls(names: Names) -> None:
    hello = asyncio.get_running_loop().create_future()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello.set_result(await reader.read(4096))
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        async with Outbound(resolver=names) as outbound:
            with pytest.raises(Unreachable, match=r"the connection to https://tls\.test"):
                await outbound.get(f"https://tls.test:{port}/", trusted=["tls.test"], limits=ONCE)
    assert b"tls.test" in await hello


async def test_a_download_is_guarded_as_well(outbound: Outbound, site: Site, tmp_path: Path) -> None:
    with pytest.raises(HostNotAllowed):
        await outbound.download(f"http://127.0.0.1:{site.port}/", tmp_path / "x")
    assert list(tmp_path.iterdir()) == []

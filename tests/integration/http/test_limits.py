"""Answers that are too large, too slow or broken."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.clock import ManualClock
from kurabito.errors import InvalidInput
from kurabito.http import Limits, Outbound
from kurabito.http.addresses import Address
from kurabito.http.errors import BadAnswer, TimedOut, TooLarge, Unreachable

if TYPE_CHECKING:
    from tests.integration.http.conftest import Answer, Asked, Names, Site, Waiting

SMALL = Limits(max_bytes=1000, attempts=1)
PATIENT = Limits(seconds=1e6, connect_seconds=1e6)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def endless(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(CHUNKED)
    while True:
        writer.write(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
        await writer.drain()


def cut_off(body: bytes) -> Answer:
    """An answer that announces more than it sends, and hangs up."""

    async def answer(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + body)
        writer.close()

    return answer


class Stuck:
    """Begins an answer and never ends it."""

    def __init__(self, head: bytes) -> None:
        self._head = head
        self.begun = asyncio.Event()

    async def __call__(self, _asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self._head)
        await writer.drain()
        self.begun.set()


@contextmanager
def full_house(address: str, port: int) -> Iterator[None]:
    """A server that has no room left, so that whoever comes gets neither a connection nor a refusal."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(0)
        for _ in range(4):
            guest = stack.enter_context(socket.socket())
            guest.setblocking(False)
            guest.connect_ex((address, port))
        yield


async def test_an_answer_of_the_largest_size_is_taken(outbound: Outbound, site: Site) -> None:
    site.says("/", b"x" * 1000)
    assert (await outbound.get(site.url(), limits=SMALL)).size == 1000


async def test_a_declared_size_is_refused_before_anything_is_read(outbound: Outbound, site: Site) -> None:
    site.sends("/", b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
    with pytest.raises(TooLarge, match=r"http://site\.test:\d+/ has more than 1,000 bytes"):
        await outbound.get(site.url(), limits=SMALL)


async def test_an_endless_body_is_left(outbound: Outbound, site: Site) -> None:
    site.does("/", endless)
    with pytest.raises(TooLarge):
        await outbound.get(site.url(), limits=SMALL)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip"])
async def test_a_packed_body_is_left_at_the_limit(outbound: Outbound, site: Site, encoding: str) -> None:
    """A bomb of 50 MB in a body of 50 kB or less."""
    zeros = b"\0" * 50_000_000
    packed = zlib.compress(zeros) if encoding == "deflate" else gzip.compress(zeros, 6)
    packed = gzip.compress(packed) if encoding == "gzip, gzip" else packed
    site.says("/", packed, content_encoding=encoding)
    tracemalloc.start()
    with pytest.raises(TooLarge):
        await outbound.get(site.url(), limits=Limits(max_bytes=5_000_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000


async def test_packed_bodies_are_unpacked(outbound: Outbound, site: Site) -> None:
    site.says("/", gzip.compress(b"feed"), content_encoding="gzip")
    assert (await outbound.get(site.url())).content == b"feed"
    assert site.asked[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"not gzip at all"), ("br", b"whatever")])
async def test_what_cannot_be_unpacked_makes_no_sense(
    outbound: Outbound, site: Site, encoding: str, body: bytes
) -> None:
    site.says("/", body, content_encoding=encoding)
    with pytest.raises(BadAnswer, match=r"cannot be unpacked|which was not asked for"):
        await outbound.get(site.url())


async def test_a_body_shorter_than_declared_is_a_broken_connection(outbound: Outbound, site: Site) -> None:
    site.does("/", cut_off(b"only this"))
    with pytest.raises(Unreachable, match="broke"):
        await outbound.get(site.url(), limits=SMALL)


async def test_a_caller_can_take_what_came_of_a_broken_body(outbound: Outbound, site: Site, waiting: Waiting) -> None:
    site.does("/", cut_off(b"half"))
    site.does("/", cut_off(b"hal"))
    site.says("/", status="404 Not Found")
    reply = await waiting(outbound.get(site.url(), limits=PATIENT, may_break=True))
    assert (reply.content, reply.size, len(site.asked)) == (b"half", 4, 3)
    assert isinstance(reply.broke, Unreachable)


async def test_a_body_that_comes_whole_the_second_time_is_not_broken(
    outbound: Outbound, site: Site, waiting: Waiting
) -> None:
    site.does("/", cut_off(b"half"))
    site.says("/", b"whole")
    reply = await waiting(outbound.get(site.url(), limits=PATIENT, may_break=True))
    assert (reply.content, reply.broke) == (b"whole", None)


async def test_a_body_longer_than_declared_ends_where_it_was_declared(
    outbound: Outbound, site: Site, waiting: Waiting
) -> None:
    site.sends("/", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfeed and more")
    assert (await outbound.get(site.url())).content == b"feed"
    # The rest is not taken for the next answer: that connection is given up, and another is opened.
    assert (await waiting(outbound.get(site.url(), limits=PATIENT))).content == b"feed"
    assert site.connections == 2


@pytest.mark.parametrize("raw", [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b"\0" * 10_000])
async def test_something_that_is_not_http_is_a_broken_connection(outbound: Outbound, site: Site, raw: bytes) -> None:
    site.sends("/", raw)
    with pytest.raises(Unreachable):
        await outbound.get(site.url(), limits=SMALL)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab"])
async def test_the_time_for_an_answer_is_bounded(
    outbound: Outbound, site: Site, clock: ManualClock, head: bytes
) -> None:
    stuck = Stuck(head)
    site.does("/", stuck)
    asking = asyncio.create_task(outbound.get(site.url(), limits=Limits(seconds=30)))
    await stuck.begun.wait()
    clock.advance(30)
    with pytest.raises(TimedOut, match=r"http://site\.test:\d+/ was not answered within 30 s"):
        await asking
    assert len(site.asked) == 1


async def test_the_time_for_an_answer_is_shared_by_its_redirects(
    outbound: Outbound, site: Site, clock: ManualClock
) -> None:
    async def slowly_on(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        clock.advance(20)
        writer.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /stuck\r\n\r\n")

    stuck = Stuck(b"")
    site.does("/", slowly_on)
    site.does("/stuck", stuck)
    asking = asyncio.create_task(outbound.get(site.url(), limits=Limits(seconds=30)))
    await stuck.begun.wait()
    clock.advance(10)
    with pytest.raises(TimedOut):
        await asking


async def test_a_body_that_stops_is_given_up(outbound: Outbound, site: Site) -> None:
    site.sends("/", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab")
    with pytest.raises(TimedOut, match="stopped in the middle of its answer"):
        await outbound.get(site.url(), limits=Limits(idle_seconds=0.01))


async def test_the_time_to_find_a_host_is_bounded(clock: ManualClock) -> None:
    asked = asyncio.Event()

    async def silent(_host: str, /) -> list[Address]:
        asked.set()
        await asyncio.Event().wait()
        return []

    async with Outbound(resolver=silent, clock=clock) as outbound:
        asking = asyncio.create_task(outbound.get("http://far.test/", limits=Limits(attempts=1, connect_seconds=10)))
        await asked.wait()
        clock.advance(10)
        with pytest.raises(Unreachable, match=r"far\.test did not take a connection within 10 s"):
            await asking


async def test_the_next_address_is_tried_when_one_does_not_answer(outbound: Outbound, site: Site, names: Names) -> None:
    site.says("/", b"here")
    names.answers["site.test"] = [["127.0.0.3", "::1", "127.0.0.1"]]
    assert (await outbound.get(site.url(), limits=SMALL)).content == b"here"


async def test_both_families_are_tried_however_many_addresses_one_of_them_has(
    outbound: Outbound, site: Site, names: Names
) -> None:
    site.says("/", b"here")
    names.answers["site.test"] = [[*["::1"] * 5, "127.0.0.1"]]
    assert (await outbound.get(site.url(), limits=SMALL)).content == b"here"


async def test_an_address_that_swallows_packets_leaves_time_for_the_next(
    site: Site, names: Names, tls: ssl.SSLContext
) -> None:
    site.says("/", b"here")
    names.answers["site.test"] = [["127.0.0.4", "127.0.0.1"]]
    with full_house("127.0.0.4", site.port):
        async with Outbound(private_hosts=["site.test"], resolver=names, tls=tls) as outbound:
            reply = await outbound.get(site.url(), limits=Limits(attempts=1, connect_seconds=1.0))
    assert reply.content == b"here"


async def test_a_name_without_an_address_is_unreachable(names: Names) -> None:
    names.answers["nowhere.test"] = [[]]
    async with Outbound(resolver=names) as outbound:
        with pytest.raises(Unreachable, match=r"nowhere\.test has no address"):
            await outbound.get("http://nowhere.test/", limits=SMALL)


async def test_a_download_appears_when_it_is_whole(outbound: Outbound, site: Site, tmp_path: Path) -> None:
    content = bytes(range(256)) * 4000
    site.says("/", gzip.compress(content), content_encoding="gzip", content_type="Image/JPEG; q=1")
    reply = await outbound.download(site.url(), tmp_path / "poster.jpg")
    assert (reply.size, reply.content, reply.content_type) == (len(content), b"", "image/jpeg")
    assert [path.name for path in tmp_path.iterdir()] == ["poster.jpg"]
    assert (tmp_path / "poster.jpg").read_bytes() == content
    # As readable as any other file that we make: what is downloaded is served by others too.
    (tmp_path / "other").touch()
    assert (tmp_path / "poster.jpg").stat().st_mode == (tmp_path / "other").stat().st_mode


async def test_a_download_that_fails_leaves_what_was_there(outbound: Outbound, site: Site, tmp_path: Path) -> None:
    kept = tmp_path / "poster.jpg"
    kept.write_bytes(b"old")
    site.does("/", endless)
    with pytest.raises(TooLarge):
        await outbound.download(site.url(), kept, limits=Limits(max_bytes=2_000_000))
    assert [path.name for path in tmp_path.iterdir()] == ["poster.jpg"]
    assert kept.read_bytes() == b"old"


async def test_a_download_that_is_cancelled_leaves_nothing(outbound: Outbound, site: Site, tmp_path: Path) -> None:
    stuck = Stuck(CHUNKED + b"3\r\nabc\r\n")
    site.does("/", stuck)
    downloading = asyncio.create_task(outbound.download(site.url(), tmp_path / "poster.jpg"))
    await stuck.begun.wait()
    downloading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await downloading
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["seconds", "connect_seconds", "idle_seconds", "max_bytes", "attempts"])
def test_limits_are_more_than_nothing(name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        Limits(**{name: 0})

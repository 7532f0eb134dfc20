"""What two programs could read differently, and what is too large, is refused before any route sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.site.conftest import Serve

HIDDEN = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
START = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "head",
    [
        START + b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        START + b"Transfer-Encoding: chunked\r\nContent-Length: 0",
        START + b"transfer-encoding: chunked\r\nCONTENT-LENGTH: 50",
        START + b"Transfer-Encoding: chunked, chunked",
        START + b"Transfer-Encoding: identity",
        START + b"Transfer-Encoding: xchunked",
        START + b"Transfer-Encoding : chunked",
        START + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        START + b"Content-Length: 5\r\nContent-Length: 6",
        START + b"Content-Length: 5, 6",
        START + b"Content-Length: +5",
        START + b"Content-Length: -1",
        START + b"Content-Length: 0x5",
        START + b"Content-Length: 5 5",
        START + b"Content Length: 5",
        START + b"Host: evil.example",
        START + b"X-Null: a\0b",
        START + b"X-Bare-Return: a\rb",
        b"POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked",
        b"POST / HTTP/1.1\r\nContent-Length: 5",
        b"POST /a b HTTP/1.1\r\nHost: localhost",
        b"POST / HTTP/2.0\r\nHost: localhost",
        b"POST evil.example/ HTTP/1.1\r\nHost: localhost",
        b"POST ftp://evil.example/ HTTP/1.1\r\nHost: localhost",
        b"POST http://localhost@evil.example/ HTTP/1.1\r\nHost: localhost",
        b"POST http:///path HTTP/1.1\r\nHost: localhost",
        b"POST http://[/ HTTP/1.1\r\nHost: localhost",
        b"PRI * HTTP/2.0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
async def test_a_request_in_doubt_is_refused_and_the_connection_ends(serve: Serve, head: bytes) -> None:
    async with serve() as serving:
        line = await serving.line()
        await line.say(head + b"\r\n\r\n" + HIDDEN)
        heard = await line.ends()
    # 501 is for codings and 505 for versions that are not known here.
    assert heard.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 501 ", b"HTTP/1.1 505 ")), heard
    assert b'{"error": {"code": "bad_request"' in heard
    assert heard.count(b"\r\nconnection: close\r\n") == 1
    assert serving.site.seen == []


async def test_a_whole_url_is_its_path_at_that_host(serve: Serve) -> None:
    async with serve() as serving:
        line = await serving.line()
        await line.say(b"GET http://evil.example/path?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"answered" in await line.hear()
    (scope,) = serving.site.seen
    assert (scope["path"], scope["query_string"]) == ("/path", b"a=b")
    assert [value for name, value in scope["headers"] if name == b"host"] == [b"evil.example"]


@pytest.mark.parametrize(
    "headers",
    [
        b"A: b\r\n" * 1000,
        b"A: b\r\n" * 50_000,
        b"A: " + b"b" * 40_000,
        b"A: " + b"b" * 500_000,
    ],
)
async def test_a_head_that_is_too_large_is_refused(serve: Serve, headers: bytes) -> None:
    async with serve() as serving:
        line = await serving.line()
        await line.say(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n\r\n")
        assert (await line.ends()).startswith(b"HTTP/1.1 431 ")
    assert serving.site.seen == []


async def test_a_body_in_crumbs_is_refused(serve: Serve) -> None:
    async with serve() as serving:
        line = await serving.line()
        await line.say(
            START.replace(b" / ", b" /body ") + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 20_000
        )
        assert (await line.ends()).startswith(b"HTTP/1.1 400 ")


async def test_a_body_in_chunks_of_a_usual_size_is_read(serve: Serve) -> None:
    async with serve() as serving:
        line = await serving.line()
        chunks = (b"40\r\n" + b"x" * 64 + b"\r\n") * 20_000
        await line.say(
            START.replace(b" / ", b" /body ") + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
        )
        assert b"answered" in await line.hear()


async def test_trailers_and_requests_behind_one_another_are_read(serve: Serve) -> None:
    async with serve() as serving:
        line = await serving.line()
        body = b"5\r\nhello\r\n0\r\nHost: evil.example\r\n\r\n"
        request = START.replace(b" / ", b" /body ") + b"Transfer-Encoding: chunked\r\n\r\n" + body
        await line.say(request * 50)
        for _ in range(50):
            assert b"answered" in await line.hear()
    assert all((b"host", b"evil.example") not in scope["headers"] for scope in serving.site.seen)


async def test_a_wish_for_another_protocol_is_passed_over(serve: Serve) -> None:
    async with serve() as serving:
        line = await serving.line()
        await line.say(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert b"answered" in await line.hear()


async def test_nonsense_in_the_middle_of_a_body_ends_the_request(serve: Serve) -> None:
    async with serve() as serving:
        line = await serving.line()
        await line.say(
            START.replace(b" / ", b" /body ") + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nnonsense\r\n"
        )
        heard = await line.ends()
    assert heard.startswith(b"HTTP/1.1 400 ")
    assert heard.count(b"\r\nconnection: close\r\n") == 1

"""What is too large or too slow is refused before it costs anything."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from kurabito.site.gate import BodyLimit

if TYPE_CHECKING:
    from tests.integration.site.gate.conftest import House, Line, Serving

LARGEST = 2 << 20
CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


async def head(house: House, *further: str, path: str = "/api/v1/bodies") -> list[str]:
    return [f"POST {path} HTTP/1.1", "Host: localhost", f"X-Api-Key: {await house.key('write')}", *further]


async def send_chunks(line: Line, count: int) -> None:
    for _ in range(count):
        await line.push(CHUNK)


async def test_an_announced_size_is_refused_before_anything_of_it_is_sent(house: House) -> None:
    async with house.line() as line:
        await line.say(*await head(house, f"Content-Length: {LARGEST + 1}"))
        answer = await line.hear()
        assert (answer.status, answer.code) == (413, "payload_too_large")
        assert answer.headers["connection"] == "close"
    assert not house.reading.is_set()


async def test_whoever_asks_first_whether_to_send_a_large_body_is_told_not_to(house: House) -> None:
    async with house.line() as line:
        await line.say(*await head(house, f"Content-Length: {LARGEST + 1}", "Expect: 100-continue"))
        assert (await line.hear()).status == 413


async def test_a_body_without_a_size_is_refused_as_soon_as_it_is_too_large(house: House) -> None:
    async with house.line() as line:
        await line.say(*await head(house, "Transfer-Encoding: chunked"))
        await send_chunks(line, 33)
        answer = await line.hear()
        assert (answer.status, answer.code) == (413, "payload_too_large")
    assert house.reading.is_set()


async def test_a_route_that_parses_its_body_does_not_take_a_large_one_for_bad_json(house: House) -> None:
    async with house.line() as line:
        await line.say(*await head(house, "Transfer-Encoding: chunked", path="/api/v1/keys"))
        await send_chunks(line, 33)
        assert (await line.hear()).status == 413


@pytest.mark.parametrize("announced", [True, False])
async def test_a_client_that_sends_before_it_reads_still_sees_its_answer(house: House, announced: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(128):
            yield b"x" * 0x10000

    body = b"x" * (128 * 0x10000) if announced else pieces()
    async with house.browser(X_Api_Key=await house.key("write")) as browser:
        answer = await browser.post("/api/v1/bodies", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "payload_too_large")


@pytest.mark.parametrize("announced", [True, False])
async def test_the_largest_body_is_read(house: House, announced: bool) -> None:
    async with house.line() as line:
        if announced:
            await line.say(*await head(house, f"Content-Length: {LARGEST}"), body=b"x" * LARGEST)
        else:
            await line.say(*await head(house, "Transfer-Encoding: chunked"))
            await send_chunks(line, 32)
            await line.push(b"0\r\n\r\n")
        answer = await line.hear()
    assert json.loads(answer.body) == {"bytes": LARGEST}
    assert "connection" not in answer.headers


async def test_a_route_may_have_a_limit_of_its_own(serving: Serving) -> None:
    async with (
        serving(bodies={"/large/": BodyLimit(largest=3 << 20)}) as house,
        house.browser(X_Api_Key=await house.key("write")) as browser,
    ):
        assert (await browser.post("/large/bodies", content=b"x" * (3 << 20))).status_code == 200
        assert (await browser.post("/large/bodies", content=b"x" * ((3 << 20) + 1))).status_code == 413
        assert (await browser.post("/api/v1/bodies", content=b"x" * (3 << 20))).status_code == 413


@pytest.mark.parametrize("announcement", ["Content-Length: 100", "Transfer-Encoding: chunked"])
async def test_a_client_that_never_finishes_is_sent_away(house: House, announcement: str) -> None:
    async with house.line() as line:
        await line.say(*await head(house, announcement), body=b"5\r\nhello\r\n")
        await house.reading.wait()
        house.clock.advance(30)
        answer = await line.hear()
        assert (answer.status, answer.code) == (408, "body_too_slow")
        # It is listened to for a moment longer, in case that it was about to read, and then no more.
        house.clock.advance(2)
        assert await line.hear_the_end() == b""


async def test_each_piece_that_comes_does_not_begin_the_time_anew(house: House) -> None:
    async with house.line() as line:
        await line.say(*await head(house, "Content-Length: 100"))
        await house.reading.wait()
        for _ in range(6):
            await line.push(b"x")
            house.clock.advance(5)
        assert (await line.hear()).status == 408


async def test_a_stranger_who_never_finishes_is_sent_away_at_once(house: House) -> None:
    async with house.line() as line:
        await line.say("POST /api/v1/bodies HTTP/1.1", "Host: localhost", "Content-Length: 100", body=b"x")
        answer = await line.hear()
        assert (answer.status, answer.headers["connection"]) == (401, "close")
    assert not house.reading.is_set()


async def test_one_connection_serves_many_requests(house: House) -> None:
    async with house.line() as line:
        for length in (5, 0, 7):
            await line.say(*await head(house, f"Content-Length: {length}"), body=b"x" * length)
            assert json.loads((await line.hear()).body) == {"bytes": length}

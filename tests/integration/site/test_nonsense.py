"""Whatever a client sends, the server goes on and nothing fails in it."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from tests.integration.site.conftest import Serve

REQUESTS: Final = [
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n0123456789",
    b"POST /body HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n",
    b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"HEAD / HTTP/1.0\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://localhost/ HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    b"POST /body HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
]
SNIPPETS: Final = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b":",
    b"\xff",
    b"\r\nContent-Length: 3",
    b"\r\nTransfer-Encoding: chunked",
    b"x" * 70_000,
]


def garbled(chance: random.Random) -> bytes:
    """A request, or several, that something happened to."""
    data = bytearray(chance.choice(REQUESTS))
    for _ in range(chance.choice([0, 1, 2, 5])):
        place = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[place:place] = chance.choice(SNIPPETS)
            case 1:
                data[place : place + 1] = bytes([chance.randrange(256)])
            case 2:
                del data[place : place + chance.randrange(1, 8)]
            case 3:
                data += chance.choice(REQUESTS)
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
async def test_nonsense_is_answered_or_hung_up_on(serve: Serve, caplog: pytest.LogCaptureFixture, seed: int) -> None:
    chance = random.Random(seed)
    async with serve(most=64, per_address=16) as serving:
        for _ in range(150):
            line = await serving.line()
            data = garbled(chance)
            cut = chance.randrange(len(data) + 1)
            try:
                for piece in (data[:cut], data[cut:]):
                    await line.say(piece)
                    await asyncio.sleep(0)
            except ConnectionError:
                # Refused after the first piece, or made room for another.
                continue
            if chance.random() < 0.5:
                line.hang_up()
        assert b"answered" in await (await serving.line("127.0.0.4")).ask()
    assert [record.getMessage() for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []
    assert "Traceback" not in caplog.text

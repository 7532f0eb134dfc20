"""How long a client may take to send and to read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.waiting import PATIENCE

from kurabito.site.connections import ConnectionPhase, OpenConnection
from kurabito.site.protocol import GuardedProtocol

if TYPE_CHECKING:
    from tests.integration.site.conftest import Serve

LARGE = 32 << 20


def heard_something(connection: OpenConnection) -> bool:
    assert isinstance(connection, GuardedProtocol)
    return bool(connection.conn.trailing_data[0])


async def test_a_head_that_does_not_end_is_refused(serve: Serve) -> None:
    async with serve(header_seconds=10) as serving:
        (line,) = await serving.half_sent(1)
        await serving.settle(1)
        await serving.until(heard_something)
        serving.pass_time(9)
        assert serving.open == 1
        serving.pass_time(11)
        refused = await line.ends()
        assert refused.startswith(b"HTTP/1.1 408 ")
        assert b'"head_too_slow"' in refused


async def test_each_byte_that_comes_does_not_give_more_time(serve: Serve) -> None:
    async with serve(ticks=True, header_seconds=0.5) as serving:
        (line,) = await serving.half_sent(1)

        async def drip() -> None:
            while True:
                await line.say(b"x")
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        try:
            assert (await line.hear()).startswith(b"HTTP/1.1 408 ")
        finally:
            dripping.cancel()
            await asyncio.wait({dripping})


async def test_a_connection_on_which_nothing_was_said_ends_without_a_word(serve: Serve) -> None:
    async with serve() as serving:
        line = await serving.line()
        await serving.settle(1)
        serving.pass_time(11)
        assert await line.ends() == b""


async def test_the_second_request_of_a_connection_has_to_arrive_as_well(serve: Serve) -> None:
    async with serve(keep_alive_seconds=600) as serving:
        line = await serving.line()
        assert b"answered" in await line.ask()
        serving.pass_time(11)
        assert b"answered" in await line.ask()
        await line.say(b"GET / HTT")
        await serving.until(lambda connection: connection.phase() is ConnectionPhase.HALF_SENT)
        serving.pass_time(11)
        assert (await line.ends()).startswith(b"HTTP/1.1 408 ")


async def test_an_idle_connection_ends_after_a_while(serve: Serve) -> None:
    async with serve(keep_alive_seconds=0.2) as serving:
        line = await serving.line()
        assert b"answered" in await line.ask()
        assert await line.ends() == b""


async def test_an_answer_that_is_not_read_is_thrown_away(serve: Serve) -> None:
    async with serve(unread_seconds=30) as serving:
        line = await serving.line()
        await line.say(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await serving.until(lambda connection: connection.phase() is ConnectionPhase.UNREAD)
        later = 0
        async with asyncio.timeout(PATIENCE):
            # Until its client's own buffers are full, something still moves between two looks.
            while serving.open:
                later += 31
                serving.pass_time(later)
                await asyncio.sleep(0.01)


async def test_a_client_that_reads_slowly_gets_all_of_it(serve: Serve) -> None:
    async with serve(unread_seconds=30) as serving:
        line = await serving.line()
        await line.say(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        heard, later = 0, 0
        async with asyncio.timeout(PATIENCE):
            while heard < LARGE:
                heard += len(await line._reader.read(1 << 20))
                later += 5
                serving.pass_time(later)
        assert heard >= LARGE

"""No client keeps the others out, however many connections it opens."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.site.addresses import networks

if TYPE_CHECKING:
    from tests.integration.site.conftest import Serve


async def test_an_address_has_its_share_and_its_oldest_half_sent_request_goes(serve: Serve) -> None:
    async with serve(most=16, per_address=4) as serving:
        lines = await serving.half_sent(4)
        await serving.settle(4)
        await serving.half_sent(3)
        for line in lines[:3]:
            assert await line.ends() == b""
        await serving.settle(4)
        await lines[3].say(b"host\r\n\r\n")
        assert b"answered" in await lines[3].hear()


async def test_at_the_limit_idle_connections_go_first_and_the_oldest_of_them(serve: Serve) -> None:
    async with serve(most=8, per_address=8) as serving:
        idle = [await serving.line(f"127.0.0.{number}") for number in (1, 2)]
        for line in idle:
            assert b"answered" in await line.ask()
        waiting = await serving.half_sent(6, "127.0.0.3")
        await serving.settle(8)
        assert b"answered" in await (await serving.line("127.0.0.4")).ask()
        assert await idle[0].ends() == b""
        assert b"answered" in await idle[1].ask()
        await waiting[0].say(b"host\r\n\r\n")
        assert b"answered" in await waiting[0].hear()


async def test_then_a_half_sent_request_of_the_greediest_address(serve: Serve) -> None:
    async with serve(most=8, per_address=8) as serving:
        modest = await serving.half_sent(2, "127.0.0.2")
        greedy = await serving.half_sent(6, "127.0.0.3")
        await serving.settle(8)
        assert b"answered" in await (await serving.line("127.0.0.4")).ask()
        assert await greedy[0].ends() == b""
        for line in modest:
            await line.say(b"host\r\n\r\n")
            assert b"answered" in await line.hear()


async def test_a_burst_of_half_sent_requests_turns_no_newcomer_away(serve: Serve) -> None:
    async with serve(most=8, per_address=8) as serving:
        # All at once: the server does not run while they are made.
        burst = [serving.half_sent_at_once(f"127.0.1.{number + 1}") for number in range(60)]
        assert b"answered" in await (await serving.line("127.0.0.4")).ask()
        for line in burst:
            line.close()


async def test_requests_that_are_being_answered_and_streams_do_not_count_for_an_address(serve: Serve) -> None:
    async with serve(most=40, per_address=4) as serving:
        streams = await serving.asking("/stream", 10)
        held = await serving.asking("/held", 10)
        await serving.half_sent(10)
        await serving.settle(24)
        serving.site.release.set()
        for line in held:
            assert b"answered" in await line.hear()
        for line in streams:
            assert b"200 OK" in await line.hear()


async def test_a_proxy_speaks_for_many_and_has_no_share(serve: Serve) -> None:
    async with serve(most=40, per_address=4, trusted=networks(["127.0.0.9"])) as serving:
        of_proxy = await serving.half_sent(20, "127.0.0.9")
        await serving.settle(20)
        await serving.half_sent(20, "127.0.0.3")
        await serving.settle(24)
        for line in of_proxy:
            await line.say(b"host\r\n\r\n")
            assert b"answered" in await line.hear()


async def test_at_the_limit_a_stream_goes_before_a_newcomer_is_refused(serve: Serve) -> None:
    async with serve(most=4, per_address=4) as serving:
        streams = await serving.asking("/stream", 4)
        assert b"answered" in await (await serving.line("127.0.0.4")).ask()
        assert b": here" in await streams[0].ends()


async def test_when_all_are_being_answered_the_newcomer_is_told_to_come_again(serve: Serve) -> None:
    async with serve(most=4, per_address=4) as serving:
        held = await serving.asking("/held", 4)
        refused = await (await serving.line("127.0.0.4")).hear()
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 5" in refused
        assert b'"too_many_connections"' in refused
        serving.site.release.set()
        for line in held:
            assert b"answered" in await line.hear()
        assert b"answered" in await (await serving.line("127.0.0.4")).ask()


async def test_an_address_that_keeps_more_than_its_share_busy_makes_room_for_another(serve: Serve) -> None:
    async with serve(most=8, per_address=4) as serving:
        held = await serving.asking("/held", 8)
        newcomer = await serving.line("127.0.0.4")
        assert b"answered" in await newcomer.ask()
        assert await held[-1].ends() == b""
        serving.site.release.set()
        for line in held[:-1]:
            assert b"answered" in await line.hear()


async def test_a_body_that_does_not_come_makes_room_like_a_head(serve: Serve) -> None:
    async with serve(most=4, per_address=4) as serving:
        for _ in range(4):
            line = await serving.line("127.0.0.3")
            await line.say(b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx")
        await serving.site.have_seen(4)
        assert b"answered" in await (await serving.line("127.0.0.4")).ask()


class Exhausted(socket.socket):
    """A listening socket of a process that has no descriptor left, the first few times."""

    failures = 0

    def accept(self) -> tuple[socket.socket, Any]:
        if Exhausted.failures < 3:
            Exhausted.failures += 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_without_a_descriptor_left_another_connection_goes_and_the_newcomer_waits(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    Exhausted.failures = 3
    async with serve(kind=Exhausted) as serving:
        (half_sent,) = await serving.half_sent(1)
        await serving.settle(1)
        Exhausted.failures = 0
        line = await serving.line("127.0.0.4")
        assert await half_sent.ends() == b""
        assert b"answered" in await line.ask()
    assert Exhausted.failures == 3
    assert "Too many open files" in caplog.text
    assert "Traceback" not in caplog.text

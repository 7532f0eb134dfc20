"""What happens, as server-sent events over real sockets."""

from __future__ import annotations

import asyncio
import json
import resource
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from fastapi import FastAPI

from kurabito.api import Live
from kurabito.api.tasks import events
from kurabito.runtime import Queue, open_queue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site
    from tests.support.waiting import Eventually

CLIENTS = 200
KEY = "a key for the tests"


class Event(NamedTuple):
    id: str
    name: str
    data: dict[str, object]


class Stream:
    """A client of the stream, as a browser would be one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def begin(self, last_event_id: str | None = None) -> str:
        """Ask for the stream; the head of the answer."""
        resume = f"Last-Event-ID: {last_event_id}\r\n" if last_event_id is not None else ""
        self._writer.write(
            f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {KEY}\r\n{resume}\r\n".encode()
        )
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        assert await self.block() == "retry: 2000"
        return head

    async def block(self) -> str:
        """The next block of lines."""
        lines: list[str] = []
        while True:
            line = (await self._reader.readuntil(b"\n")).rstrip(b"\r\n").decode()
            # Sizes of HTTP's chunks, and the line breaks between them.
            if line.startswith((":", "id:", "event:", "data:", "retry:")):
                lines.append(line)
            elif not line and lines:
                return "\n".join(lines)

    async def event(self) -> Event:
        fields = dict(line.split(": ", 1) for line in (await self.block()).splitlines())
        return Event(fields["id"], fields["event"], json.loads(fields["data"]))

    async def rest(self) -> bytes:
        """Everything until the server closes the connection or the answer ends."""
        return await self._reader.readuntil(b"0\r\n\r\n")

    async def leave(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


@asynccontextmanager
async def streaming(address: tuple[str, int], last_event_id: str | None = None) -> AsyncIterator[Stream]:
    stream = Stream(*await asyncio.open_connection(*address))
    try:
        await stream.begin(last_event_id)
        yield stream
    finally:
        await stream.leave()


async def test_what_happens_arrives_with_its_name_and_values(site: Site) -> None:
    async with streaming(site.address) as stream:
        task = await site.queue.enqueue("scan", unique_key="films")
        event = await stream.event()
        await site.queue.cancel(task.id)
        assert (await stream.event()).name == "Cancelled"
    assert event.name == "Enqueued"
    assert (event.data["task_id"], event.data["task_type"]) == (str(task.id), "scan")
    assert str(event.data["at"]).endswith("Z")
    assert "cursor" not in event.data


async def test_the_head_of_the_stream_keeps_proxies_from_holding_it_back(quick_site: Site) -> None:
    stream = Stream(*await quick_site.stream())
    head = (await stream.begin()).lower()
    await stream.leave()
    assert head.startswith("http/1.1 200")
    assert "content-type: text/event-stream" in head
    assert "x-accel-buffering: no" in head
    assert "content-length" not in head


async def test_a_client_that_comes_back_goes_on_after_the_last_event_it_saw(site: Site) -> None:
    async with streaming(site.address) as stream:
        await site.queue.enqueue("first")
        seen = await stream.event()
    await site.queue.enqueue_many([("second",), ("third",)])
    async with streaming(site.address, seen.id) as stream:
        assert [(await stream.event()).data["task_type"] for _ in range(2)] == ["second", "third"]


async def test_a_client_whose_last_event_is_no_longer_known_is_told_to_look_again(site: Site) -> None:
    async with streaming(site.address) as stream:
        await site.queue.enqueue("before")
        newest = (await stream.event()).id
    async with streaming(site.address, "long gone") as stream:
        assert await stream.event() == Event(newest, "reset", {})
        await site.queue.enqueue("after")
        assert (await stream.event()).data["task_type"] == "after"


async def test_a_client_that_vanishes_is_freed(quick_site: Site, eventually: Eventually) -> None:
    async with streaming(quick_site.address):
        assert quick_site.live.listeners == 1
    await eventually(lambda: quick_site.live.listeners == 0)


async def test_two_hundred_clients_hear_the_same_and_are_freed(site: Site, eventually: Eventually) -> None:
    _allow_files(4 * CLIENTS)
    streams = [Stream(*await site.stream()) for _ in range(CLIENTS)]
    await asyncio.gather(*(stream.begin() for stream in streams))
    assert site.live.listeners == CLIENTS
    tasks = await site.queue.enqueue_many([("scan", place) for place in range(50)])
    heard = await asyncio.gather(*(_task_ids(stream, len(tasks)) for stream in streams))
    assert heard == [[str(task.id) for task in tasks]] * CLIENTS
    await asyncio.gather(*(stream.leave() for stream in streams))
    await eventually(lambda: site.live.listeners == 0)


async def test_streams_end_at_once_when_the_server_stops(quick_site: Site) -> None:
    async with streaming(quick_site.address) as stream:
        quick_site.live.end()
        assert (await stream.rest()).strip() == b"0"


async def test_a_quiet_stream_is_kept_alive(listen: Callable[..., AbstractAsyncContextManager[str]]) -> None:
    async with _stream_alone(listen, keep_alive=0.01) as (address, _, _), streaming(address) as stream:
        assert [await stream.block() for _ in range(3)] == [": still here"] * 3


async def test_a_client_that_does_not_read_is_dropped(
    listen: Callable[..., AbstractAsyncContextManager[str]], eventually: Eventually
) -> None:
    async with _stream_alone(listen, patience=0.2) as (address, queue, live):
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            await asyncio.get_running_loop().sock_connect(client, address)
            await asyncio.get_running_loop().sock_sendall(
                client, b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
            await eventually(lambda: live.listeners == 1)
            await queue.enqueue_many([("scan", place) for place in range(3000)])
            await eventually(lambda: live.listeners == 0)


@asynccontextmanager
async def _stream_alone(
    listen: Callable[..., AbstractAsyncContextManager[str]], *, keep_alive: float = 15.0, patience: float = 30.0
) -> AsyncIterator[tuple[tuple[str, int], Queue, Live]]:
    """The stream's route with times of our own, on a socket with a small buffer."""
    async with open_queue("memory://") as queue, Live(queue) as live:
        app = FastAPI()
        app.include_router(events.router(live, keep_alive=keep_alive, patience=patience))
        async with listen(app, live, send_buffer=4096) as url:
            host, port = url.removeprefix("http://").split(":")
            yield (host, int(port)), queue, live


async def _task_ids(stream: Stream, count: int) -> list[object]:
    return [(await stream.event()).data["task_id"] for _ in range(count)]


def _allow_files(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))

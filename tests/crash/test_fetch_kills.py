"""A worker that is killed while it reads and stores a feed loses no item and stores none twice.

Each version of the feed has items of its own and is there for one reading only, and the server says "not modified" to
whoever claims to have it: an item that was not stored when that was noted would never come again.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Command
from tests.support.waiting import PATIENCE

from kurabito.feeds.service import Subscriptions
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.runtime.sql.queue import SqlQueue

PROGRAM = Path(__file__).with_name("fetch_program.py")
ITEMS = 40
# On SQLite a lock tells at once that a worker died. On PostgreSQL it is the end of its lease.
LEASES = {"sqlite": 30.0, "postgresql": 0.5}


class Feed:
    """A feed of which one version is there at a time."""

    def __init__(self) -> None:
        self.version = 0
        self.asked = asyncio.Event()

    def renew(self) -> None:
        self.version += 1
        self.asked.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.asked.set()
                etag = f'"{self.version}"'
                known = f"if-none-match: {etag}".encode() in head.lower()
                body = b"" if known else self._body()
                status = "304 Not Modified" if known else "200 OK"
                writer.write(
                    f"HTTP/1.1 {status}\r\nETag: {etag}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _body(self) -> bytes:
        items = (
            f"<item><title>[Kura] Yoru no Kurabito {self.version} - {number:02} [1080p]</title>"
            f"<link>https://feeds.example/{self.version}/{number}.torrent</link></item>"
            for number in range(ITEMS)
        )
        return f"<rss><channel><title>Kura</title>{''.join(items)}</channel></rss>".encode()


@contextmanager
def living(url: str) -> Iterator[subprocess.Popen[str]]:
    lease = LEASES[url.partition(":")[0]]
    with Command(
        [sys.executable, str(PROGRAM), url, str(lease)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        yield program
        assert program.stdin is not None
        program.stdin.close()


async def start(program: subprocess.Popen[str]) -> int:
    """The id of a new worker's process."""
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write("\n")
    program.stdin.flush()
    return int(await asyncio.to_thread(program.stdout.readline))


@pytest.mark.parametrize("seed", [5])
async def test_no_item_is_lost_or_doubled_by_kills(queue: SqlQueue, url: str, seed: int) -> None:
    await kill_and_check(queue, url, random.Random(seed), kills=20 if url.startswith("sqlite") else 8)


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_no_item_is_lost_or_doubled_by_three_hundred_kills(queue: SqlQueue, url: str) -> None:
    await kill_and_check(queue, url, random.Random(2026), kills=300)


async def kill_and_check(queue: SqlQueue, url: str, chance: random.Random, kills: int) -> None:
    feed, subscriptions = Feed(), Subscriptions(queue)
    server = await asyncio.start_server(feed.serve, "127.0.0.1", 0)
    settings = SubscriptionSettings(
        name="Kura",
        url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/rss",
        new_series=NewSeries.ADD,
        allows_private=True,
        is_enabled=False,
    )
    subscription = await subscriptions.create(settings, StartWith.MISSING)
    interrupted = 0
    with living(url) as program:
        worker = await start(program)
        try:
            for _ in range(kills):
                feed.renew()
                task = await subscriptions.fetch_now(subscription.id)
                if chance.random() < 0.9:
                    await feed.asked.wait()
                # About as long as it takes from there to the end, so that the kills fall everywhere.
                await asyncio.sleep(chance.uniform(0.0, 0.06))
                os.kill(worker, signal.SIGKILL)
                worker = await start(program)
                done = await queue.wait(task.id, timeout=PATIENCE)
                assert done.state == "succeeded", done.last_error
                interrupted += done.lost_leases
        finally:
            os.kill(worker, signal.SIGKILL)
    server.close()
    assert interrupted
    await check(queue, {f"https://feeds.example/{v + 1}/{n}.torrent" for v in range(kills) for n in range(ITEMS)})


async def check(queue: SqlQueue, expected: set[str]) -> None:
    async def all_of(sql: str) -> list[Any]:
        return [value for (value,) in await queue.database.read(lambda conn: conn.all(sql))]

    assert sorted(await all_of("SELECT download_url FROM raw_anime_items")) == sorted(expected)
    assert sorted(await all_of("SELECT url FROM anime_links")) == sorted(expected)
    assert await all_of("SELECT failures FROM subscriptions") == [0]

"""A worker that could not renew its leases for their whole length stops what it runs, where others may have taken it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import ManualClock
from kurabito.errors import DatabaseUnavailable
from kurabito.runtime import Queue, Registry, TaskContext, Worker, open_queue
from kurabito.runtime.outcomes import Claim

Eventually = Callable[[Callable[[], Any]], Awaitable[Any]]


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
@pytest.mark.parametrize("silent", [True, False])
async def test_a_worker_that_cannot_reach_postgres_for_a_lease_stops_what_it_runs(
    url: str, eventually: Eventually, silent: bool
) -> None:
    registry, stopped = Registry(), []
    running = asyncio.Event()

    @registry.task("long")
    async def long(ctx: TaskContext) -> str:
        if ctx.claim.lost_leases:
            return "again"
        running.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(time.monotonic())
            raise
        return "never"

    async with open_queue(url) as direct:
        task = await direct.enqueue("long")
        async with (
            wire(url) as (far, cable),
            open_queue(far) as queue,
            Worker(queue, registry, lease=2.0, heartbeat=0.2),
        ):
            await running.wait()
            cable.cut(silent=silent)
            began = time.monotonic()
            await eventually(lambda: stopped)
            assert stopped[0] - began > 1.0, "the lease was not over yet"
            await eventually(direct.work.recover)
            cable.mend()
            assert (await direct.wait(task.id, timeout=PATIENCE)).result == "again"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_full_disk_is_no_lost_lease_on_sqlite(
    queue: Queue, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, gate, clock = Registry(), asyncio.Event(), ManualClock()
    failed: list[int] = []

    @registry.task("long")
    async def long() -> str:
        await gate.wait()
        return "kept"

    task = await queue.enqueue("long")
    async with Worker(queue, registry, lease=30.0, heartbeat=5.0, clock=clock) as worker:
        await eventually(lambda: worker._dispatcher.slots.busy)
        beat = queue.work.heartbeat

        def full(*_args: Any, **_options: Any) -> list[Claim]:
            failed.append(1)
            raise DatabaseUnavailable("the disk is full")

        monkeypatch.setattr(queue.work, "heartbeat", full)
        began = clock.monotonic()

        def beats_in_vain() -> bool:
            clock.advance(5.0)
            return len(failed) > 3 and clock.monotonic() - began > 60.0

        await eventually(beats_in_vain)
        assert worker.trouble == "the disk is full"
        assert worker._dispatcher.slots.busy, "it was stopped although nobody else could have taken it"
        monkeypatch.setattr(queue.work, "heartbeat", beat)
        gate.set()
        assert (await queue.wait(task.id, timeout=PATIENCE)).result == "kept"


class Cable:
    """The way to the server, which can be cut: with a word to both ends, or without one."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._passing = asyncio.Event()
        self._passing.set()
        self._is_closed = False
        self._writers: list[asyncio.StreamWriter] = []

    def cut(self, *, silent: bool) -> None:
        self._passing.clear()
        if not silent:
            self._is_closed = True
            for writer in self._writers:
                writer.close()

    def mend(self) -> None:
        self._is_closed = False
        self._passing.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        if self._is_closed:
            writer.close()
            return
        theirs, ours = await asyncio.open_unix_connection(self._server)
        self._writers.append(ours)
        await asyncio.gather(self._pass_on(reader, ours), self._pass_on(theirs, writer), return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                await self._passing.wait()
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def wire(url: str) -> AsyncIterator[tuple[str, Cable]]:
    """A DSN for the same database that goes through a cable."""
    folder = Path(tempfile.mkdtemp(prefix="kb-cable-"))
    folder.chmod(0o755)
    (host,) = parse_qs(urlsplit(url).query)["host"]
    name = ".s.PGSQL.5432"
    cable = Cable(str(next(Path(host).glob(".s.PGSQL.*[0-9]"))))
    server = await asyncio.start_unix_server(cable.carry, folder / name)
    (folder / name).chmod(0o777)
    try:
        yield url.replace(host, str(folder)).replace(host.replace("/", "%2F"), str(folder)), cable
    finally:
        cable.mend()
        server.close()
        for writer in cable._writers:
            writer.close()
        shutil.rmtree(folder, ignore_errors=True)

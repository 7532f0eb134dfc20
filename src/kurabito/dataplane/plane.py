"""The daemon: says that it lives, and lets each runner look for rows whenever there may be some.

Runners work in threads and call the database directly. The loop here only wakes them; without anything to do it sleeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Final, Protocol

from kurabito.clock import Clock, SystemClock
from kurabito.db import Database
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.protocol import planes
from kurabito.protocol.terms import LOOK_SECONDS
from kurabito.wakeup import Bell

_BACKOFF: Final = 1.0

_log = get_logger(__name__)


class RowRunner(Protocol):
    """What a data plane keeps at work: `Runner`."""

    @property
    def name(self) -> str: ...

    def work(self) -> bool:
        """Claim a row, do what it asks for and settle it; false when there was none. Called in a thread."""
        ...

    def stop(self) -> None:
        """Come to an end soon: give back what was not finished. Called in any thread."""
        ...


class DataPlane:
    """Keeps runners at work on one open database until it is asked to stop.

    plane = DataPlane(database, runners, name="nas-4711")
    await plane.run()        # until plane.stop()
    await plane.drain()      # until there is nothing left to do
    """

    def __init__(
        self,
        database: Database,
        runners: Sequence[RowRunner],
        *,
        name: str,
        lease: float = 30.0,
        heartbeat: float = 5.0,
        capabilities: Sequence[str] = (),
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self._capabilities = tuple(capabilities)
        self._database = database
        self._runners = tuple(runners)
        self._lease = lease
        self._heartbeat = heartbeat
        self._clock = clock or SystemClock()
        self._stopping = asyncio.Event()
        self._news = Bell()

    def stop(self) -> None:
        """Ask for the end; `run` returns when every runner has come to one."""
        self._stopping.set()
        for runner in self._runners:
            runner.stop()

    async def run(self) -> None:
        """Work until `stop`."""
        async with AsyncExitStack() as open_until_the_end:
            if self._runners:
                watching = self._database.watching(lambda _: self._news.ring())
                await open_until_the_end.enter_async_context(watching)
            await self._announce()
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._beat())
                    for runner in self._runners:
                        group.create_task(self._keep(runner))
            finally:
                await self._depart()

    async def drain(self) -> None:
        """Work until there is nothing left to do, then return."""
        await self._announce()
        try:
            while not self._stopping.is_set():
                if not any(await asyncio.gather(*(asyncio.to_thread(runner.work) for runner in self._runners))):
                    return
        finally:
            await self._depart()

    async def _keep(self, runner: RowRunner) -> None:
        """Let a runner work as long as it finds something; then wait for news."""
        roused = asyncio.Event()
        with self._news.listen(roused.set):
            while not self._stopping.is_set():
                roused.clear()
                if not await self._let_work(runner):
                    await self._rest(roused)

    async def _let_work(self, runner: RowRunner) -> bool:
        try:
            return await asyncio.to_thread(runner.work)
        except KurabitoError as problem:
            _log.warning("runner failed", runner=runner.name, problem=str(problem))
        except Exception:  # noqa: BLE001 - one runner's fault must not end the others
            _log.exception("runner failed", runner=runner.name)
        await self._clock.wait(self._stopping, _BACKOFF)
        return False

    async def _rest(self, roused: asyncio.Event) -> None:
        stopping = asyncio.ensure_future(self._stopping.wait())
        news = asyncio.ensure_future(self._clock.wait(roused, LOOK_SECONDS))
        await asyncio.wait({stopping, news}, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (stopping, news):
            waiting.cancel()

    async def _beat(self) -> None:
        while not await self._clock.wait(self._stopping, self._heartbeat):
            try:
                await self._announce()
            except KurabitoError as problem:
                _log.warning("data plane heartbeat failed", problem=str(problem))

    async def _announce(self) -> None:
        # Several runners may do the same work.
        names = list(dict.fromkeys(runner.name for runner in self._runners))
        release = version("kurabito")
        await self._database.write(
            lambda conn: planes.announce(conn, self.name, names, release, self._lease, self._capabilities)
        )

    async def _depart(self) -> None:
        try:
            await self._database.write(lambda conn: planes.depart(conn, self.name))
        except KurabitoError as problem:
            _log.warning("data plane departure failed", problem=str(problem))

"""Half of the torrents are the user's own, at three real programs, while the core and its services are killed.

In each round the user adds a torrent by hand somewhere, feeds bring that one and another, some downloads are cancelled, removed,
paused, filtered or sent elsewhere, and a process is killed somewhere in between. In the end the user finds everything
as it was, and what is ours is in one place or in none.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpcore2
import httpx2
import pytest
from tests.support.commands import Command
from tests.support.waiting import PATIENCE

from kurabito.app.compose.downloads import DownloadParts, open_downloads
from kurabito.app.compose.feeds import FeedParts, open_feeds
from kurabito.db.migrate import PRODUCT, migrate
from kurabito.downloads.announcer import Credentials
from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.dispatch.poller import PollResult
from kurabito.downloads.errors import DownloadConflict
from kurabito.downloads.filters.model import Action, FilterRule
from kurabito.downloads.tasks import CLEAR, DISPATCH, POLL
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.http import Outbound
from kurabito.http.errors import OutboundError
from kurabito.modules.download_types import DownloadType
from kurabito.modules.services import Capabilities, Registration, ServiceType
from kurabito.runtime import TaskState, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import EveryProgram, Program, Release, Rig, Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")
PROGRAMS: Final = Path(__file__).parents[2] / "crash"
TLS: Final = httpcore2.default_ssl_context()
KILLS: Final = int(os.environ.get("KURABITO_SOAK_KILLS", "500"))
AT_A_TIME: Final = 50
LEASE: Final = 30.0


@contextmanager
def living(*command: str) -> Iterator[subprocess.Popen[str]]:
    with Command([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield program
        assert program.stdin is not None
        program.stdin.close()


class Lives:
    """A process that is killed and started again."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program
        self._pid: int | None = None

    @property
    def is_over(self) -> bool:
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, 0)
                return False
        return True

    async def start(self, fuse: int = 0) -> None:
        """A new process; a service kills itself after so many requests to its program, 0 is never."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"{fuse}\n")
        self._program.stdin.flush()
        self._pid = int(await asyncio.to_thread(self._program.stdout.readline))

    def end(self) -> None:
        """SIGKILL; it may have killed itself."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.end()
        while not self.is_over:
            await asyncio.sleep(0.001)


class Household:
    """A user, three programs, and a core with its services."""

    def __init__(
        self,
        queue: SqlQueue,
        feeds: FeedParts,
        downloads: DownloadParts,
        programs: list[Program],
        swarm: Swarm,
        folder: Path,
        chance: random.Random,
    ) -> None:
        self.queue = queue
        self.feeds = feeds
        self.downloads = downloads
        self.programs = programs
        self.swarm = swarm
        self.folder = folder
        self.chance = chance
        self.subscription_id = 0
        self.releases: dict[str, Release] = {}
        self.own: dict[str, tuple[Program, Path, bool]] = {}
        """What the user has: at which program, where, and whether all of it."""
        self.done: Counter[str] = Counter()

    async def prepare(self, state: Path) -> None:
        settings = SubscriptionSettings(
            name="Kura", url="https://feeds.example/rss", new_series=NewSeries.ADD, is_enabled=False
        )
        self.subscription_id = (await self.feeds.subscriptions.create(settings, StartWith.MISSING)).id
        for place, program in enumerate(self.programs):
            folder = state / "downloaders" / program.name.value
            folder.mkdir(parents=True)
            credentials = Credentials.kept_in(folder / "credentials.json")
            service = await self.feeds.services.register(
                Registration(
                    service_type=ServiceType.DOWNLOADER,
                    service_name=program.name.value,
                    host="127.0.0.1",
                    port=program.service_port,
                    instance_id=credentials.instance_id,
                    token=credentials.token,
                    capabilities=Capabilities(supported_download_types=(DownloadType.MAGNET, DownloadType.TORRENT)),
                )
            )
            await self.feeds.services.change(service.id, priority=90 - place)

    async def ask(self, number: int) -> None:
        """The user adds something, feeds bring it and something else, and some wishes come."""
        mine, other = (self._release(f"Kura {number} - {part:02}.mkv") for part in (1, 2))
        program, whole = self.chance.choice(self.programs), self.chance.random() < 0.5
        folder = self.folder / "mine" / mine.hash[:12]
        folder.mkdir(parents=True)
        if whole:
            (folder / mine.name).write_bytes(mine.content)
        await program.add_by_hand(mine, folder)
        self.own[mine.hash] = (program, folder, whole)
        items = tuple(
            FeedItem(title=f"[Kura] Yoru no Kurabito {number} - {part:02}", download_url=self._url(release))
            for part, release in enumerate((mine, other), start=1)
        )
        await self.feeds.intake.receive(FetcherResults(subscription_id=self.subscription_id, items=items))
        await self.queue.enqueue(POLL)
        for _ in range(self.chance.randint(1, 2)):
            await self._wish()

    def _release(self, name: str) -> Release:
        release = self.swarm.release(name, seeded=False, size=20_000)
        self.releases[release.hash] = release
        return release

    def _url(self, release: Release) -> str:
        return release.magnet if self.chance.random() < 0.5 else self.swarm.put("1.torrent", release.torrent)

    async def _wish(self) -> None:
        """What a keeper may want of any download that is shown; what is refused, or has nobody to be said to, is left."""
        listed = [download for download, _ in await self.downloads.downloads.page(limit=40)]
        download, downloads = self.chance.choice(listed), self.downloads.downloads
        wish = self.chance.choice(["cancel", "remove", "remove_files", "pause", "send_elsewhere", "filter", "retry"])
        try:
            if wish == "filter":
                rule = FilterRule(name=f"not {download.id}", action=Action.EXCLUDE, pattern=f"{download.title}$")
                await self.downloads.filters.add(rule)
            elif wish == "remove_files":
                await downloads.remove(download.id, delete_files=True)
            else:
                await getattr(downloads, wish)(download.id)
            self.done[wish] += 1
        except (DownloadConflict, OutboundError):
            self.done[f"{wish} refused"] += 1

    async def settle(self) -> None:
        """Wait until everything that was asked for is done, and what that asked for: a poll has things sent."""
        while waiting := [
            task
            for task_type in (DISPATCH, POLL, CLEAR)
            for task in (await self.queue.list(task_type=task_type, limit=100)).items
            if task.state is not TaskState.SUCCEEDED
        ]:
            for task in waiting:
                done = await self.queue.wait(task.id, timeout=PATIENCE)
                assert done.state == "succeeded", done.last_error

    async def two_good_polls(self) -> None:
        """Poll twice while every downloader answers; on a busy machine one of them may take too long, which is no poll."""
        unclear, good = -1, 0
        async with asyncio.timeout(600):
            while good < 2:
                poll = await self.queue.enqueue(POLL)
                await self.settle()
                told = (await self.queue.get(poll.id)).result_as(PollResult)
                before, unclear = unclear, (await self.losses())["unclear"]
                good = good + 1 if told.offline == 0 and unclear == before else int(told.offline == 0)

    async def check(self) -> None:
        seen = {program.name: await program.all_by_hand() for program in self.programs}
        for known, (program, folder, whole) in self.own.items():
            release, there = self.releases[known], seen[program.name].get(known)
            assert there is not None, f"{program.name} lost {release.name}, which was the user's"
            assert (Path(there.folder), there.is_paused) == (folder, False), release.name
            if whole:
                assert (folder / release.name).read_bytes() == release.content
        rows: dict[str, set[tuple[str, str]]] = {}
        for known, status, name, owner in await self.queue.database.read(
            lambda conn: conn.all(
                "SELECT hash, status, service_name, owner FROM downloads JOIN service_modules USING (module_id) "
                "WHERE status IN ('downloading', 'completed', 'downloader_error') AND forgotten_at IS NULL"
            )
        ):
            rows.setdefault(known, set()).add((name, owner))
            assert status == "downloading" or (status == "completed" and known in self.own), status
        for known, release in self.releases.items():
            ours = {
                name.value
                for name, listed in seen.items()
                if known in listed and Path(listed[known].folder).is_relative_to(self.folder / "state")
            }
            wanted = {name for name, owner in rows.get(known, ()) if owner == "kurabito"}
            assert ours == wanted, f"{release.name} is at {ours}, wanted at {wanted}: {await self.story(known)}"
            assert len(ours) <= 1, f"{release.name} is doubled"

    async def check_nothing_is_owed(self) -> None:
        owed = await self.queue.database.read(
            lambda conn: conn.all("SELECT hash FROM dispatch_attempts WHERE owed IS NOT NULL")
        )
        assert owed == [], [await self.story(known) for (known,) in owed]

    async def story(self, known: str) -> list[tuple[Any, ...]]:
        """What the core wrote about a release, for whoever has to find out what went wrong."""
        return await self.queue.database.read(
            lambda conn: conn.all(
                "SELECT download.id, download.status, download.module_id, download.owner, download.reason, download.hash, "
                "download.forgotten_at, attempt.id, attempt.module_name, attempt.outcome, attempt.owed, attempt.owner, "
                "attempt.missed_polls, attempt.hash, attempt.sent_at, attempt.reason, link.url "
                "FROM downloads AS download JOIN anime_links AS link ON link.id = download.link_id "
                "LEFT JOIN dispatch_attempts AS attempt ON attempt.download_id = download.id "
                "WHERE link.title IN (SELECT title FROM anime_links AS named JOIN downloads ON link_id = named.id "
                "LEFT JOIN dispatch_attempts ON download_id = downloads.id "
                "WHERE :known IN (named.hash, downloads.hash, dispatch_attempts.hash)) ORDER BY attempt.id",
                {"known": known},
            )
        )

    async def losses(self) -> dict[str, int]:
        """Whether the kills fell into anything."""
        (row,) = await self.queue.database.read(
            lambda conn: conn.all(
                "SELECT (SELECT coalesce(sum(lost_leases), 0) FROM tasks), "
                "(SELECT count(*) FROM dispatch_attempts WHERE outcome = 'unclear')"
            )
        )
        return {"leases lost": row[0], "unclear": row[1]}


async def answers(program: Program) -> None:
    """Wait until the service of a program is there."""
    async with httpx2.AsyncClient(trust_env=False) as http, asyncio.timeout(PATIENCE):
        while True:
            with suppress(httpx2.HTTPError):
                await http.get(f"http://127.0.0.1:{program.service_port}/health")
                return
            await asyncio.sleep(0.01)


@asynccontextmanager
async def household(
    url: str, rigs: list[Rig], swarm: Swarm, folder: Path, chance: random.Random
) -> AsyncIterator[Household]:
    async with AsyncExitStack() as stack:
        queue = await stack.enter_async_context(open_queue(url))
        outbound = await stack.enter_async_context(Outbound(tls=TLS))
        assert isinstance(queue, SqlQueue)
        migrate(queue.database, PRODUCT)
        downloads = open_downloads(queue, outbound, Settings(state=folder / "state"))
        feeds = open_feeds(queue, outbound, grabber=downloads.grabber)
        programs = [rig.program for rig in rigs if rig.program.name is not ClientName.EMBEDDED]
        home = Household(queue, feeds, downloads, programs, swarm, folder, chance)
        await home.prepare(folder / "services")
        yield home


@contextmanager
def processes(url: str, programs: list[Program], folder: Path) -> Iterator[tuple[Lives, dict[Program, Lives]]]:
    """The core's worker, and the service of each program."""
    with ExitStack() as stack:
        core = [str(PROGRAMS / "dispatch_program.py"), url, str(LEASE), str(folder / "state")]
        worker = Lives(stack.enter_context(living(*core)))
        services = {}
        for program in programs:
            told = [str(folder / "services"), program.name.value, program.url, str(program.service_port)]
            service = [str(PROGRAMS / "service_program.py"), *told, "kura", "s3cret-of-the-test"]
            services[program] = Lives(stack.enter_context(living(*service)))
        try:
            yield worker, services
        finally:
            for life in (worker, *services.values()):
                life.end()


async def restart(services: dict[Program, Lives], fuse: Callable[[], int]) -> int:
    """Start the services that are over; how many were."""
    over = [program for program, service in services.items() if service.is_over]
    for program in over:
        await services[program].start(fuse())
        await answers(program)
    return len(over)


async def kill_and_check(
    url: str, rigs: list[Rig], swarm: Swarm, folder: Path, seed: int, kills: int
) -> dict[str, int]:
    chance, deaths = random.Random(seed), 0
    async with household(url, rigs, swarm, folder, chance) as home:
        with processes(url, home.programs, folder) as (worker, services):
            await worker.start()
            await restart(services, lambda: 0)
            while deaths < kills:
                await home.ask(len(home.own))
                if chance.random() < 0.5:
                    # About as long as it takes to the end, so that the kills fall everywhere.
                    await asyncio.sleep(chance.uniform(0.0, 0.3))
                    await worker.kill()
                    await worker.start()
                    deaths += 1
                else:
                    await chance.choice(list(services.values())).kill()
                await home.settle()
                # Most die in the middle of what they are asked next.
                deaths += await restart(services, lambda: chance.choice([0, *range(1, 16)]))
            for service in services.values():
                await service.kill()
            await restart(services, lambda: 0)
            await home.two_good_polls()
            await home.check()
            # What the first of them sent on, and left a doubt about, is settled by the next two.
            await home.two_good_polls()
            await home.check_nothing_is_owed()
        await home.check()
        return {"kills": deaths, "the user's": len(home.own), **await home.losses(), **home.done}


async def test_kills_touch_nothing_of_the_users_and_double_nothing(
    every_program: EveryProgram, swarm: Swarm, migrated_sqlite: str, tmp_path: Path
) -> None:
    await kill_and_check(migrated_sqlite, every_program.rigs, swarm, tmp_path, 7, kills=6)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range((KILLS + AT_A_TIME - 1) // AT_A_TIME))
async def test_many_kills_touch_nothing_of_the_users_and_double_nothing(
    every_program: EveryProgram, swarm: Swarm, migrated_sqlite: str, tmp_path: Path, seed: int
) -> None:
    kills = min(AT_A_TIME, KILLS - seed * AT_A_TIME)
    told: dict[str, Any] = await kill_and_check(migrated_sqlite, every_program.rigs, swarm, tmp_path, seed, kills)
    sys.stdout.write(f"\n{told}\n")

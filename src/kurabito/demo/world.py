"""The demo: tasks that do nothing real, made-up files, feeds, shows and torrents, so that a page has everything to show."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kurabito.app.compose.downloads import DownloadParts
from kurabito.app.compose.feeds import FeedParts
from kurabito.app.compose.library import LibraryParts
from kurabito.demo.feeds import DAWN, NEIGHBOUR, SEASON, FeedStand
from kurabito.demo.files import ARCHIVE, SHOWS, make_files
from kurabito.demo.market import MarketStand
from kurabito.demo.metadata import MetadataStand
from kurabito.demo.seeder import ATTIC, Seeder
from kurabito.demo.stand import Stand, StandAnswer
from kurabito.downloads.filters.model import Action, Fields, FilterRule
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.library.libraries import LibrarySettings
from kurabito.library.scans.queue import TaskPriority
from kurabito.metadata.calendar import REFRESH
from kurabito.notifications import store as destinations
from kurabito.notifications.model import DestinationKind, DestinationSettings
from kurabito.protocol.enums import LibraryIntake
from kurabito.runtime import Fixed, NewTask, PermanentError, Priority, Registry, TaskContext
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.runtime.tasks.followups import FollowUp, declare

_STEP: Final = 0.25


@dataclass(frozen=True, slots=True)
class MadeUpRelease:
    """A made-up release of a made-up show."""

    title: str
    episode: int


@dataclass(frozen=True, slots=True)
class Filed:
    """Where a made-up file went."""

    path: str
    pages: int


FOLLOW_UPS: Final = (
    FollowUp(
        after="demo.fetch", then="demo.file", why="what was fetched has to find its place", priority=Priority.HIGH
    ),
    FollowUp(
        after="demo.file",
        then="demo.thumbnail",
        why="a page without pictures is hard to find one's way in",
        payloads=lambda filed: [{"path": filed.path, "page": page} for page in range(1, filed.pages + 1)],
    ),
    FollowUp(
        after="demo.file",
        then="demo.describe",
        why="a title alone does not say what it is about",
        payloads=lambda filed: [filed.path],
        unique_key=lambda path: f"describe:{path}",
    ),
)

SCENES: Final = (
    NewTask("demo.greet", "Ada"),
    NewTask("demo.greet", "蔵人"),
    NewTask("demo.fetch", MadeUpRelease("The Storehouse at Dawn", 1)),
    NewTask("demo.copy", 240, priority=Priority.HIGH),
    NewTask("demo.copy", 60),
    NewTask("demo.flaky", "mirror.example"),
    NewTask("demo.broken", "The Lost Episode <1080p> & more"),
    NewTask("demo.hopeless", "tracker.example"),
    NewTask("demo.transcribe", {"why": "no worker here can do it"}),
    NewTask("demo.greet", "the visitors of the next hour", delay=3600),
)
"""The tasks at the start: each is an example of something that a page shows. No worker runs `demo.transcribe`."""


RULE: Final = FilterRule(name="Nothing below 1080p", action=Action.EXCLUDE, fields=Fields(resolutions=(480, 720)))


class Demo:
    """A stage for people who look around, and for the browser tests.

    Its files are made in `folder`, and what it downloads is seeded from `swarm`.
    """

    def __init__(self, folder: Path, swarm: Path) -> None:
        self._folder = folder
        self._seeder = Seeder(swarm)
        self._feeds: FeedStand | None = None
        self._market: MarketStand | None = None
        self._about = MetadataStand()
        self._phone = Stand(lambda _: StandAnswer("application/json", b"{}"))

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the demo needs to be set."""
        return self._about.settings

    def join(self, registry: Registry) -> None:
        """Register the demo's tasks."""
        registry.task("demo.greet")(_greet)
        registry.task("demo.copy", concurrency=2)(_copy)
        registry.task("demo.flaky", retry=Fixed(3.0), max_attempts=4)(_flaky)
        registry.task("demo.broken")(_broken)
        registry.task("demo.hopeless", retry=Fixed(1.0), max_attempts=2)(_hopeless)
        registry.task("demo.fetch")(_fetch)
        registry.task("demo.file")(_file)
        registry.task("demo.thumbnail", concurrency=1)(_thumbnail)
        registry.task("demo.describe")(_describe)
        # Something always happens, however long one looks.
        registry.every(60.0, "demo.copy", 80, unique_key="demo.copy")
        registry.every(45.0, "demo.fetch", MadeUpRelease("The Storehouse at Dusk", 2), unique_key="demo.fetch")
        declare(registry, FOLLOW_UPS)

    async def open(
        self, queue: DelegatedTasks, library: LibraryParts, feeds: FeedParts, downloads: DownloadParts
    ) -> None:
        """Enqueue the scenes; have made-up files compared, feeds read, shows looked up and torrents fetched as real ones are."""
        await queue.enqueue_many(SCENES)
        await self._about.open()
        await asyncio.to_thread(self._about.import_index, queue.database)
        await queue.enqueue(REFRESH, unique_key=REFRESH)
        await asyncio.to_thread(make_files, self._folder)
        for name, accepts in ((SHOWS, LibraryIntake.ANY), (ARCHIVE, LibraryIntake.NOTHING)):
            keeping = LibrarySettings(name=name, accepts=accepts)
            summary = await library.libraries.create(str(self._folder / name), keeping)
            await library.scans.submit_task(summary.library.id, TaskPriority.HIGH)
        await feeds.services.register(ATTIC)
        await downloads.filters.add(RULE)
        await asyncio.to_thread(self._seeder.open)
        self._feeds = await asyncio.to_thread(FeedStand, self._seeder.link)
        self._market = await asyncio.to_thread(MarketStand, self._seeder.link)
        await self._market.open()
        await feeds.indexers.add(self._market.settings)
        await self._phone.open()
        phone = DestinationSettings(
            kind=DestinationKind.WEBHOOK,
            name="A made-up phone",
            url=f"http://127.0.0.1:{self._phone.port}/",
        )
        await queue.database.write(lambda conn: destinations.add(conn, phone))
        url = await self._feeds.open()
        for settings in (
            SubscriptionSettings(
                name="The Storehouse at Dawn", url=url + DAWN, new_series=NewSeries.ADD, allows_private=True
            ),
            SubscriptionSettings(name="This season", url=url + SEASON, allows_private=True),
            # This machine is a private address, which is not allowed here: the page offers to allow it.
            SubscriptionSettings(name="The neighbour's shelf", url=url + NEIGHBOUR, new_series=NewSeries.ADD),
        ):
            await feeds.subscriptions.create(settings, StartWith.MISSING)

    async def close(self) -> None:
        """Serve nothing made-up any longer."""
        if self._feeds is not None:
            await self._feeds.close()
        if self._market is not None:
            await self._market.close()
        await self._phone.close()
        await self._about.close()
        await asyncio.to_thread(self._seeder.close)


async def _greet(name: str) -> str:
    return f"Hello, {name}!"


async def _copy(steps: int, ctx: TaskContext) -> str:
    """Goes on where an execution before it came to."""
    begin = ctx.progress.done if ctx.progress else 0
    for done in range(begin, steps):
        await ctx.report(done, steps)
        await asyncio.sleep(_STEP)
    await ctx.report(steps, steps)
    return f"{steps} blocks"


async def _flaky(host: str, ctx: TaskContext) -> str:
    if ctx.attempt < 3:
        raise ConnectionError(f"{host} did not answer")
    return f"{host} answered at attempt {ctx.attempt}"


async def _broken(title: str) -> None:
    raise PermanentError(f"no peer has {title!r} any more")


async def _hopeless(host: str) -> None:
    raise TimeoutError(f"{host} did not answer within 10 s")


async def _fetch(release: MadeUpRelease) -> MadeUpRelease:
    await asyncio.sleep(_STEP)
    return release


async def _file(release: MadeUpRelease) -> Filed:
    await asyncio.sleep(_STEP)
    return Filed(f"{release.title}/{release.title} - {release.episode:02}.mkv", pages=3)


async def _thumbnail(wanted: dict[str, str | int]) -> str:
    await asyncio.sleep(_STEP)
    return f"{wanted['path']} #{wanted['page']}"


async def _describe(path: str) -> str:
    await asyncio.sleep(_STEP)
    return f"{path} is about a clerk who works in a storehouse."

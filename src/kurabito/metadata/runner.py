"""The runner: does what the actor is asked, and what a sync is made of."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from kurabito.clock import Clock, SystemClock
from kurabito.db import Connection
from kurabito.logs import get_logger
from kurabito.metadata import pending
from kurabito.metadata.messages import (
    DownloadPoster,
    DownloadPosterBatch,
    MetadataMessage,
    Shutdown,
    TriggerSync,
)
from kurabito.metadata.posters.downloads import PosterDownloads
from kurabito.metadata.posters.service import PosterService
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.metadata.stories.refresh import STORIES, StoryRefresh
from kurabito.metadata.sync import Sync, Synced, fetch_poster
from kurabito.runtime import Registry, TaskContext, TaskState
from kurabito.runtime.delegation import DelegatedTasks

SYNC: Final = "metadata.sync"
IDS: Final = "metadata.ids"
"""Ids alone, while a sync may still be busy with posters for hours."""
_MOST_WAITING: Final = 64
"""Downloads that were accepted; five of them run. The rest waits in the mailbox, then with the caller."""

_log = get_logger(__name__)


class MetadataRunner:
    """Fetches posters, and has syncs run as tasks of the queue: one at a time, seen and cancelled like any other."""

    def __init__(
        self,
        queue: DelegatedTasks,
        posters: PosterService,
        tmdb: TmdbClient,
        bangumi: BangumiClient,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._queue = queue
        self._database = queue.database
        self._downloads = PosterDownloads(posters)
        self._tmdb = tmdb
        self._bangumi = bangumi
        self._clock = clock or SystemClock()
        self._stories = StoryRefresh(self._database, self._downloads, tmdb, bangumi, self._clock)
        self._room = asyncio.Semaphore(_MOST_WAITING)
        self._under_way: set[asyncio.Task[object]] = set()
        self._next_sync: asyncio.Task[object] | None = None
        self._lookups_turn = asyncio.Lock()
        self._told_off = False

    def join(self, registry: Registry) -> None:
        """Register what a sync is."""
        registry.task(SYNC, concurrency=1)(self.sync_all_metadata)
        registry.task(IDS, concurrency=1)(self.fill_in_ids)
        self._stories.join(registry)

    async def handle(self, message: MetadataMessage) -> None:
        """Follow a message. Downloads are begun, not waited for."""
        match message:
            case DownloadPoster(metadata_id, url):
                await self._download([(metadata_id, url)])
            case DownloadPosterBatch(tasks):
                await self._download(tasks)
            case TriggerSync():
                await self.begin_sync()
            case Shutdown():
                pass

    async def begin_sync(self) -> UUID:
        """Request a sync that sees the current records; returns its task, which may already wait or run.

        One that runs may be past it, or belong to a process that was killed, so another follows. Ids do not wait for that.
        """
        task = await self._queue.enqueue(SYNC, unique_key=SYNC)
        if task.state is TaskState.RUNNING:
            await self._queue.enqueue(IDS, unique_key=IDS)
            if self._next_sync is None or self._next_sync.done():
                self._next_sync = asyncio.create_task(self._sync_after(task.id))
        return task.id

    async def sync_all_metadata(self, ctx: TaskContext) -> Synced:
        """Look through all records, and fill in the posters and ids that are missing; raises NothingAnswered."""
        if not self._tmdb.is_on and not self._told_off:
            self._told_off = True
            _log.info("TMDB is off: ids come from the offline index alone; KURABITO_TMDB_KEY turns it on")
        synced = await self._sync().run(ctx.report)
        # Episodes, summaries and backdrops come after the ids by which they are asked for.
        await ctx.enqueue(STORIES, unique_key=STORIES)
        return synced

    async def fill_in_ids(self, ctx: TaskContext) -> Synced:
        """Fill in the ids that are missing, and leave the posters to the next sync; raises NothingAnswered."""
        return await self._sync().run_ids(ctx.report)

    async def stop(self, unread: Iterable[MetadataMessage] = ()) -> None:
        """Cancel the downloads under way. They, and what was not read, are written down and come with the next sync."""
        waiting = [*self._under_way, *([self._next_sync] if self._next_sync else [])]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for message in unread:
            match message:
                case DownloadPoster(metadata_id, url):
                    await self._write_down([(metadata_id, url)])
                case DownloadPosterBatch(tasks):
                    await self._write_down(tasks)

    def _sync(self) -> Sync:
        return Sync(self._database, self._downloads, self._tmdb, self._bangumi, self._clock, self._lookups_turn)

    async def _download(self, tasks: Iterable[tuple[int, str]]) -> None:
        wanted = list(tasks)
        # First, so that neither a crash nor a shutdown forgets it: a record with a URL is one that a sync takes.
        await self._write_down(wanted)
        for metadata_id, url in wanted:
            await self._room.acquire()
            task = asyncio.create_task(fetch_poster(self._downloads, self._database.write, metadata_id, url))
            self._under_way.add(task)
            task.add_done_callback(self._downloaded)

    def _downloaded(self, task: asyncio.Task[object]) -> None:
        self._under_way.discard(task)
        self._room.release()

    async def _write_down(self, tasks: Iterable[tuple[int, str]]) -> None:
        def write(conn: Connection) -> None:
            for metadata_id, url in tasks:
                pending.ask_for_poster(conn, metadata_id, url)

        await self._database.write(write)

    async def _sync_after(self, task_id: UUID) -> None:
        await self._queue.wait(task_id)
        await self._queue.enqueue(SYNC, unique_key=SYNC)

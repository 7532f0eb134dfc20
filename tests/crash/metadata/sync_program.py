"""Runs syncs until it is killed: sync_program.py DATABASE FOLDER TMDB_URL

Everything is loaded once. Each line of input starts a child that opens the database and syncs, and is told by its pid; "left"
says that the child left nothing to do, and any other way it ended is told as "killed".
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from kurabito.db import Connection
from kurabito.http import Outbound
from kurabito.metadata import MetadataActor, MetadataRunner, PosterService
from kurabito.metadata.health import SourceReports
from kurabito.metadata.pending import get_metadata_to_sync
from kurabito.metadata.sources.bangumi import BangumiClient
from kurabito.metadata.sources.tmdb import TmdbClient
from kurabito.metadata.sources.tmdb_pages import TmdbPages
from kurabito.metadata.stories.refresh import STORIES
from kurabito.metadata.stories.store import due_records, remote_backdrops
from kurabito.runtime import Registry, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue


async def sync(database: str, folder: Path, url: str) -> None:
    async with open_queue(database) as queue, Outbound(private_hosts=["127.0.0.1"], at_once=5) as outbound:
        assert isinstance(queue, SqlQueue)
        posters = PosterService(outbound, folder, bgm_image_host="bgm.test")
        posters.prepare()
        key = "0123456789abcdef0123456789abcdef"
        reports = SourceReports(queue.database)
        pages = TmdbPages(queue.database)
        tmdb = TmdbClient(outbound, key, url=f"{url}/3", image_url=url, pages=pages, reports=reports)
        runner = MetadataRunner(queue, posters, tmdb, BangumiClient(outbound, url=url, reports=reports))
        registry = Registry()
        runner.join(registry)
        actor = MetadataActor(runner)
        async with Worker(queue, registry):
            acting = asyncio.create_task(actor.run())
            while await queue.database.read(_is_left):
                # A run asks for as many records as its budget allows; the next begins at once, and not in an hour.
                await queue.wait(await runner.begin_sync())
                (story, *_) = (await queue.list(task_type=STORIES, limit=1)).items
                await queue.wait(story.id)
            await actor.handle.shutdown()
            await acting


def _is_left(conn: Connection) -> bool:
    return bool(
        get_metadata_to_sync(conn, limit=1)
        or due_records(conn, after=0, limit=1)
        or remote_backdrops(conn, after=0, limit=1)
    )


def main() -> None:
    database, folder, url = sys.argv[1:]
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(sync(database, Path(folder), url))
            os._exit(0)
        print(child, flush=True)  # noqa: T201 - the test reads it
        _, status = os.waitpid(child, 0)
        print("left" if status == 0 else "killed", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

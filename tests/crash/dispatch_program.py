"""Workers that send, poll and cancel downloads, one after the other. Downloads go below the folder that is given last, if any."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import cast

import httpcore2
from forking import lives  # type: ignore[import-not-found]

from kurabito.app.compose.downloads import open_downloads
from kurabito.http import Outbound
from kurabito.runtime import Registry, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

TLS = httpcore2.default_ssl_context()


async def work(url: str, lease: float, state: Path) -> None:
    registry = Registry()
    settings = Settings(state=state, download_poll_interval=3600)
    async with open_queue(url) as queue, Outbound(tls=TLS) as outbound:
        open_downloads(cast("SqlQueue", queue), outbound, settings).join(registry)
        async with Worker(queue, registry, lease=lease, heartbeat=lease / 5):
            await asyncio.Event().wait()


if __name__ == "__main__":
    place = Path(sys.argv[3] if len(sys.argv) > 3 else "/nowhere")
    lives(lambda _: asyncio.run(work(sys.argv[1], float(sys.argv[2]), place)))

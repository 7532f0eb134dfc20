"""Workers that read feeds, one after the other, as long as somebody wants them: each line on stdin starts one and is
answered with its process id. The modules are loaded once, so that a life costs a fork and not a start.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import cast

import httpcore2

from kurabito.app.compose.feeds import open_feeds
from kurabito.http import Outbound
from kurabito.runtime import Registry, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue

TLS = httpcore2.default_ssl_context()


async def work(url: str, lease: float) -> None:
    registry = Registry()
    async with open_queue(url) as queue, Outbound(tls=TLS) as outbound:
        open_feeds(cast("SqlQueue", queue), outbound, pace=0.0).tasks.join(registry)
        async with Worker(queue, registry, lease=lease, heartbeat=lease / 5):
            await asyncio.Event().wait()


def main() -> None:
    url, lease = sys.argv[1], float(sys.argv[2])
    # Whoever is killed is nobody's concern here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asyncio.run(work(url, lease))
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

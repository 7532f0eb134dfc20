"""*System*: who works, on what database, with which settings and why those."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from fastapi import Request, Response

from kurabito.clock import to_datetime
from kurabito.maintenance.wal import WalMaintenance
from kurabito.protocol.planes import Planes
from kurabito.runtime import Queue, TaskState
from kurabito.settings import DEFAULT, Origin
from kurabito.site.routing import Router
from kurabito.thumbnails.metrics import ThumbnailMetrics
from kurabito.web.pages import Pages

_MOST_LEASES: Final = 50


def router(
    pages: Pages,
    queue: Queue,
    planes: Planes,
    *,
    settings: Callable[[], Sequence[Origin]],
    log: WalMaintenance | None = None,
    thumbnails: Callable[[], Awaitable[ThumbnailMetrics]] | None = None,
    troubles: Callable[[], Mapping[str, str]] = dict,
) -> Router:
    """The page about the program itself."""
    routes = Router()
    started = to_datetime(pages.clock.now())

    @routes.get("/system")
    async def system(request: Request) -> Response:
        workers, living, running = await asyncio.gather(
            queue.workers(), planes.living(), queue.list(state=TaskState.RUNNING, limit=_MOST_LEASES)
        )
        chosen = settings()
        has_log = log is not None and log.has_log
        return pages.show(
            request,
            "system.html",
            troubles=sorted(troubles().items()),
            workers=workers,
            planes=living,
            leases=[task for task in running if task.lease_expires_at is not None],
            more_leases=running.next_cursor is not None,
            settings=chosen,
            database=next((setting.value for setting in chosen if setting.name == "database"), None),
            default=DEFAULT,
            python=platform.python_version(),
            started=started,
            wal=await log.metrics() if log and has_log else None,
            checkpoint=await log.find_latest() if log and has_log else None,
            thumbnails=await thumbnails() if thumbnails else None,
        )

    return routes

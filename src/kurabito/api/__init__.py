"""The HTTP interface, one package for each domain.

tasks/, library/, duplicates/, downloads/, following/, finding/, metadata/, placements/, system/   routes and the shapes of their answers
live.py         what happens to tasks, sent to every listener
paging.py       pages of lists; bodies.py what clients send; reasons.py reasons in English
callers.py      modules that call, by their keys; disconnects.py notices that a client has left
shared/         what a shared address opens: the calendar (RFC 5545) and what arrived (RSS 2.0), and nothing else
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI

from kurabito.access import SESSION_COOKIE
from kurabito.api.live import Live
from kurabito.api.system import health, metrics, system
from kurabito.api.system.meters import HttpMeter, TaskMeter
from kurabito.api.tasks import events, tasks, worker
from kurabito.api.tasks.claims import ClaimDesk
from kurabito.attention import Attention
from kurabito.protocol.planes import Planes
from kurabito.runtime import Queue
from kurabito.settings import Origin
from kurabito.site import errors
from kurabito.site.routing import Router, add_routers

__all__ = ["Live", "TaskMeter", "create_api"]

_DESCRIPTION: Final = """\
Every error has the one shape `{"error": {"code": "…", "message": "…"}}`. Lists are pages: give `next_cursor` back as
`cursor` until it is null. Times are ISO 8601 in UTC. Programs send a key as `X-Api-Key`; `kurabito key create` makes one.
"""
_TAGS: Final = [
    {"name": "tasks", "description": "Ask for work, look at it, cancel it, have it done again."},
    {"name": "duplicates", "description": "Files with the same content, plans to keep one of them, and the trash."},
    {"name": "thumbnails", "description": "Pictures of files, drawn when they are asked for."},
    {"name": "live", "description": "Follow what happens."},
    {"name": "external workers", "description": "Do the work, in any language."},
    {"name": "libraries", "description": "The folders that are kept, their files, and their scans."},
    {"name": "jobs", "description": "What is done on the disks."},
    {
        "name": "following",
        "description": "Feeds, what they brought, the series and links it became, and rules for titles.",
    },
    {"name": "downloads", "description": "What is fetched, by whom, and the filters that decide what is."},
    {"name": "services", "description": "Fetchers, downloaders and viewers that register themselves."},
    {"name": "metadata", "description": "What is known of shows and films, their posters, and what is on."},
    {"name": "access", "description": "The keys of programs."},
    {"name": "system", "description": "How Kurabito itself is doing."},
]
# The gate in front of the application checks these; here they are only documented.
_WAYS_IN: Final = {
    "APIKeyHeader": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "for programs"},
    "APIKeyCookie": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE, "description": "for the page"},
}
_OPEN: Final = frozenset({"/health"})
"""What answers without a key."""


def create_api(
    *,
    queue: Queue,
    planes: Planes,
    live: Live,
    meter: TaskMeter,
    database: str,
    started: datetime,
    settings: Callable[[], Sequence[Origin]],
    lease: float = 30.0,
    troubles: Callable[[], Mapping[str, str]] = dict,
    attention: Attention | None = None,
    others: Iterable[Router] = (),
) -> FastAPI:
    """The web application over one open queue.

    `live` reads the queue's events and tells them to `meter`; `database` is the kind of database behind the queue;
    `lease` is how many seconds an external worker owns a task without a heartbeat; `troubles` says which parts of this
    process do not work and why; `attention` has what it cannot work without; `others` are the routes of what stands on
    the queue.
    """
    api = FastAPI(
        title="Kurabito",
        version=version("kurabito"),
        description=_DESCRIPTION,
        openapi_tags=_TAGS,
        # The interactive documentation loads its scripts from elsewhere; ours has to work without a network.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    errors.install(api)
    http = HttpMeter()
    api.add_middleware(http.around)
    add_routers(
        api,
        (
            health.router(queue, database=database, attention=attention or Attention({})),
            tasks.router(queue),
            events.router(live),
            worker.router(queue, ClaimDesk(queue, live, lease=lease)),
            system.router(
                queue,
                planes,
                database=database,
                started=started,
                live_clients=lambda: live.listeners,
                settings=settings,
                troubles=troubles,
            ),
            metrics.router(queue, meter, http, started=started, live_clients=lambda: live.listeners),
            *others,
        ),
    )
    _describe(api)
    return api


def _describe(api: FastAPI) -> None:
    """Say with which keys the operations are reached."""
    describe = api.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
        document["components"]["securitySchemes"] = _WAYS_IN
        for path, operations in document["paths"].items():
            for operation in operations.values():
                if path not in _OPEN:
                    operation["security"] = [{way: []} for way in _WAYS_IN]
        return document

    api.openapi = openapi  # type: ignore[method-assign]  # as its documentation says

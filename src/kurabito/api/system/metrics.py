"""`GET /metrics`: how the queue and the HTTP interface are doing, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version

from fastapi import Response

from kurabito.api.system.meters import HttpMeter, QueueDepth, TaskMeter
from kurabito.api.system.prometheus import CONTENT_TYPE, gauge
from kurabito.clock import Clock, SystemClock
from kurabito.runtime import Queue
from kurabito.site.errors import documented
from kurabito.site.routing import Router


def router(
    queue: Queue,
    tasks: TaskMeter,
    http: HttpMeter,
    *,
    started: datetime,
    live_clients: Callable[[], int],
    clock: Clock | None = None,
) -> Router:
    """The route that Prometheus asks."""
    routes = Router(tags=["system"])
    depth = QueueDepth(queue, clock or SystemClock())

    @routes.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **documented()},
    )
    async def get_metrics() -> Response:
        """The state of the queue and of the HTTP interface, in Prometheus' text format."""
        waiting = await depth.lines()
        await tasks.look_up_recovered(queue)
        lines = [
            *gauge("kurabito_info", "What runs here.", [([("version", version("kurabito"))], 1)]),
            *gauge("process_start_time_seconds", "When this process began.", [([], started.timestamp())]),
            *gauge("kurabito_live_clients", "Clients that follow the events.", [([], live_clients())]),
            *waiting,
            *tasks.lines(),
            *http.lines(),
        ]
        return Response("\n".join([*lines, ""]), media_type=CONTENT_TYPE)

    return routes

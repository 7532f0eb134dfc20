"""`GET /api/v1/events`: what happens to tasks, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from fastapi import Header
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from kurabito.api.disconnects import watched
from kurabito.api.live import Live, LiveListener
from kurabito.logs import get_logger
from kurabito.runtime.events import EVENTS
from kurabito.site.errors import documented
from kurabito.site.routing import Router

_log = get_logger(__name__)

KEEP_ALIVE: Final = 15.0
PATIENCE: Final = 30.0
"""Seconds that a client may leave a piece of the stream unread before it is given up."""
_GREETING: Final = b"retry: 2000\n\n"
_STILL_HERE: Final = b": still here\n\n"
_MEDIA_TYPE: Final = "text/event-stream"
_RESET: Final = "reset"
_DESCRIPTION: Final = """\
The stream. Each event has the name of what happened, JSON with `task_id`, `task_type`, `at` and the event's own values,
and an id to resume from. `reset` says that events were missed and cannot be told any more: look at the tasks again.
"""
# One event of the stream.
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "event": {"type": "string", "enum": [*EVENTS, _RESET]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}
_EXAMPLE: Final = {
    "id": "4711.1",
    "event": "Progressed",
    "data": '{"task_id":"0197a2c4-0000-7000-8000-000000000000","task_type":"library.scan","at":"2026-01-01T00:00:00Z",'
    '"done":3,"total":10}',
}
_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": _DESCRIPTION,
        "content": {_MEDIA_TYPE: {"schema": _SCHEMA, "example": _EXAMPLE}},
    }
}


def router(live: Live, *, keep_alive: float = KEEP_ALIVE, patience: float = PATIENCE) -> Router:
    """The route of the stream."""
    routes = Router(prefix="/api/v1", tags=["live"])

    @routes.get("/events", response_class=Response, responses={**_STREAM, **documented(422)})
    async def events(
        last_event_id: Annotated[
            str | None, Header(max_length=100, description="resume after the event with this id")
        ] = None,
    ) -> Response:
        """Follow what happens to tasks, as server-sent events, from now on or after `Last-Event-ID`."""
        return EventStreamResponse(live, last_event_id or None, keep_alive, patience)

    return routes


async def _always() -> bool:
    """There is no gate."""
    return True


class EventStreamResponse(Response):
    """An answer that goes on until the client leaves, falls too far behind or may not come in any more, or the server stops."""

    media_type = _MEDIA_TYPE

    def __init__(self, live: Live, after: str | None, keep_alive: float, patience: float) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        # Its length is unknown.
        del self.headers["content-length"]
        self._live = live
        self._after = after
        self._keep_alive = keep_alive
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        may_still = scope.get("state", {}).get("may_still", _always)
        with self._live.listen(self._after) as listener:
            telling = asyncio.create_task(self._tell(listener, send, may_still))
            try:
                async with watched(receive, telling.cancel):
                    await asyncio.wait({telling})
            finally:
                telling.cancel()
                await asyncio.wait({telling})
        if not telling.cancelled() and (problem := telling.exception()) is not None:
            raise problem

    async def _tell(self, listener: LiveListener, send: Send, may_still: Callable[[], Awaitable[bool]]) -> None:
        piece = _GREETING + (self._reset() if listener.missed else b"")
        now = asyncio.get_running_loop().time
        looked_at = now()
        try:
            while True:
                async with asyncio.timeout(self._patience):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                batch = await listener.hear(self._keep_alive)
                if batch is None:
                    break
                if now() - looked_at >= self._keep_alive:
                    looked_at = now()
                    if not await may_still():
                        break
                piece = b"".join(each.frame for each in batch) or _STILL_HERE
        except TimeoutError:
            # It reads too slowly to take even the end of the stream: the server cuts the connection.
            _log.info("slow_listener_dropped")
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _reset(self) -> bytes:
        """Has the client look again, and go on from here the next time."""
        return b"id: %b\nevent: %b\ndata: {}\n\n" % (self._live.newest.encode(), _RESET.encode())

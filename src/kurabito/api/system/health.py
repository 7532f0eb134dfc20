"""`GET /health`: is this process able to work?"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Final, Protocol

from fastapi.responses import JSONResponse

from kurabito import logs
from kurabito.attention import Attention, Severity
from kurabito.site.errors import documented, error_body
from kurabito.site.routing import Router

log = logs.get_logger(__name__)

PATIENCE_SECONDS: Final = 5.0


class Reachable(Protocol):
    """Something that can be asked whether it is there."""

    async def ping(self) -> None:
        """Answer, or raise."""
        ...


def router(queue: Reachable, *, database: str, attention: Attention) -> Router:
    """The health route for one queue; `attention` has what else this process cannot work without."""
    routes = Router()
    healthy = {"status": "ok", "version": version("kurabito"), "database": database}

    @routes.get("/health", tags=["system"], responses=documented())
    async def health() -> JSONResponse:
        """200 when every part works; else 503, and `parts` names those that do not. Why, `/api/v1/system` says."""
        failing = sorted({item.part for item in await attention.list() if item.severity is Severity.BROKEN})
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await queue.ping()
        except Exception as error:  # noqa: BLE001 - whatever stops the queue from answering, the process is not healthy
            log.warning("health check failed", error=error)
            # What exactly failed is for the log: this route answers anyone.
            body = error_body("database_unavailable", "the database does not answer")
            return JSONResponse(body | ({"parts": ["database", *failing]} if failing else {}), status_code=503)
        if failing:
            body = error_body("not_working", f"not working: {', '.join(failing)}; the System page says why")
            return JSONResponse(body | {"parts": failing}, status_code=503)
        return JSONResponse(healthy)

    return routes

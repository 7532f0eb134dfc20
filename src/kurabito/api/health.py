"""`GET /health`: is this process able to work?"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Final, Protocol

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from kurabito import logs
from kurabito.api.errors import error_body

log = logs.get_logger(__name__)

PATIENCE_SECONDS: Final = 5.0


class Reachable(Protocol):
    """Something that can be asked whether it is there."""

    async def ping(self) -> None:
        """Answer, or raise."""
        ...


def router(queue: Reachable, *, database: str) -> APIRouter:
    """The health route for one queue."""
    routes = APIRouter()
    healthy = {"status": "ok", "version": version("kurabito"), "database": database}

    @routes.get("/health", tags=["system"])
    async def health() -> JSONResponse:
        """200 when the database answers, 503 when it does not."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await queue.ping()
        except Exception as error:  # noqa: BLE001 - whatever stops the queue from answering, the process is not healthy
            log.warning("health check failed", error=error)
            # What exactly failed is for the log: this route answers anyone.
            return JSONResponse(error_body("database_unavailable", "the database does not answer"), status_code=503)
        return JSONResponse(healthy)

    return routes

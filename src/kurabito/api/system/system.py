"""`GET /api/v1/system`: what this process is, who works for it, and how it is set up."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Protocol

from pydantic import BaseModel, Field

from kurabito.protocol.planes import Planes
from kurabito.runtime.model import WorkerRecord
from kurabito.settings import Origin
from kurabito.site.errors import documented
from kurabito.site.routing import Router


class Staffed(Protocol):
    """A queue, as far as it knows its workers."""

    async def workers(self) -> list[WorkerRecord]:
        """The workers that are alive."""
        ...


class WorkerAnswer(BaseModel):
    """A worker that is alive, here or elsewhere."""

    name: str
    task_types: list[str]
    concurrency: int
    started_at: datetime
    heartbeat_at: datetime


class PlaneAnswer(BaseModel):
    """A data plane that is alive."""

    name: str
    lines: list[str] = Field(description="the kinds of work that it does")
    version: str
    protocol: str = Field(description="the version of the planes' protocol that it speaks, as `major.minor`")
    capabilities: list[str] = Field(description="what of that protocol it can do")
    started_at: datetime
    heartbeat_at: datetime


class SettingAnswer(BaseModel):
    """A setting, and where its value came from. Secrets are masked."""

    name: str
    value: str | int | float | list[str] | None
    origin: str = Field(description="an option, a variable, `database`, the path of a file, or `default`")
    description: str
    is_locked: bool = Field(description="whether the database cannot change it")
    needs_restart: bool = Field(description="whether a change takes effect at the next start")


class TroubleAnswer(BaseModel):
    """A part of this process that does not work at the moment."""

    part: str
    why: str


class SystemAnswer(BaseModel):
    """The system at a glance."""

    version: str
    python: str
    started_at: datetime
    database: str = Field(description="its kind")
    live_clients: int = Field(description="how many follow `/api/v1/events`")
    troubles: list[TroubleAnswer] = Field(description="what does not work at the moment, and why")
    workers: list[WorkerAnswer]
    data_planes: list[PlaneAnswer]
    settings: list[SettingAnswer]


def router(
    queue: Staffed,
    planes: Planes,
    *,
    database: str,
    started: datetime,
    live_clients: Callable[[], int],
    settings: Callable[[], Sequence[Origin]],
    troubles: Callable[[], Mapping[str, str]] = dict,
) -> Router:
    """The route about this process."""
    routes = Router(prefix="/api/v1", tags=["system"])

    @routes.get("/system", responses=documented())
    async def get_system() -> SystemAnswer:
        """What runs here, who works for it, and how it is set up."""
        return SystemAnswer(
            version=version("kurabito"),
            python=platform.python_version(),
            started_at=started,
            database=database,
            live_clients=live_clients(),
            troubles=[TroubleAnswer(part=part, why=why) for part, why in sorted(troubles().items())],
            workers=[
                WorkerAnswer(
                    name=worker.name,
                    task_types=list(worker.task_types),
                    concurrency=worker.concurrency,
                    started_at=worker.started_at,
                    heartbeat_at=worker.heartbeat_at,
                )
                for worker in await queue.workers()
            ],
            data_planes=[
                PlaneAnswer(
                    name=plane.name,
                    lines=list(plane.lines),
                    version=plane.version,
                    protocol=plane.protocol,
                    capabilities=list(plane.capabilities),
                    started_at=plane.started_at,
                    heartbeat_at=plane.heartbeat_at,
                )
                for plane in await planes.living()
            ],
            settings=[SettingAnswer(**setting._asdict()) for setting in settings()],
        )

    return routes

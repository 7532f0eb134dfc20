"""Conflicts: episodes that wait for the choice of a release."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.downloads.conflicts import Conflict, Conflicts
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind

ConflictId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the conflict's id")]


class ReleaseAnswer(BaseModel):
    """A release that can be chosen."""

    model_config = ConfigDict(from_attributes=True)

    link_id: int
    title: str


class ConflictAnswer(BaseModel):
    """An episode, and the releases of it that there are. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    episode_id: int
    series_id: int
    series: str
    kind: ReleaseKind
    number: float
    status: str = Field(description="`asked` of you; `waiting` for a better one until `due_at`; `resolved`")
    due_at: datetime | None
    link_id: int | None = Field(description="the release that was chosen")
    created_at: datetime
    releases: list[ReleaseAnswer]

    @classmethod
    def of(cls, conflict: Conflict) -> Self:
        return cls.model_validate(conflict)


class Resolution(StrictBody):
    """The release to take."""

    link_id: Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]


def router(conflicts: Conflicts) -> Router:
    """The routes of the conflicts."""
    routes = Router(prefix="/api/v1/conflicts", tags=["following"])

    @routes.get("", responses=documented(422))
    async def list_conflicts(limit: Limit = 50, cursor: IdCursor = None) -> PageAnswer[ConflictAnswer]:
        """Episodes that wait for the choice of a release, the newest first."""
        page = await conflicts.page(limit=limit, cursor=cursor)
        return PageAnswer[ConflictAnswer].of(page, ConflictAnswer.of)

    @routes.post("/{conflict_id}/resolve", responses=documented(404, 409, *WITH_BODY))
    async def resolve_conflict(conflict_id: ConflictId, body: Resolution) -> ConflictAnswer:
        """Take this release, and no other of the episode."""
        return ConflictAnswer.of(await conflicts.resolve(conflict_id, body.link_id))

    return routes

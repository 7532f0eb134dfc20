"""Placements: files on their way from downloads into libraries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.placements.filing.service import PlacementChoice, Placements
from kurabito.placements.filing.store import Placement
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import PlacedBy, PlacementMode
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

PlacementId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the placement's id")]
DownloadId = Annotated[int | None, Query(ge=1, le=BIGGEST_ID, description="only those of this download")]
StatusFilter = Annotated[FilingStatus | None, Query(description="only those in this state")]


class PlacementAnswer(BaseModel):
    """A file on its way into a library, or there. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    download_id: int | None
    library_id: int
    library: str
    modes: list[PlacementMode] = Field(description="how it may come into its place, the best first")
    source: str | None = Field(description="the file that it comes from, as the core sees it")
    size_bytes: int
    target_path: str = Field(description="where it goes, below the library's folder")
    status: FilingStatus
    method: PlacedBy | None = Field(description="how it came into its place; null until then")
    error_code: ErrorCode | None = Field(description="why it waits, or failed")
    error_facts: dict[str, Any] = Field(description="what the code is about: paths, sizes")
    retry_at: datetime | None = Field(description="when one that waits is tried again")
    replaces_path: str | None = Field(description="the file of the library whose place it takes, or took")
    is_undoable: bool = Field(description="that file is in the trash, and `undo` brings it back")
    is_placed: bool = Field(description="the library had it already: only its name in the folder for downloads goes")
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, placement: Placement) -> Self:
        return cls.model_validate(placement)


class PlacementResolution(StrictBody):
    """What becomes of a file whose name another file has."""

    choice: Annotated[PlacementChoice, Field(strict=False)] = Field(
        description="`keep_both`: it gets a number behind its name; `replace`: the other file goes to the trash; `leave`: it is not filed"
    )


def router(placements: Placements) -> Router:
    """The routes of the placements."""
    routes = Router(prefix="/api/v1/placements", tags=["downloads"])

    @routes.get("", responses=documented(422))
    async def list_placements(
        limit: Limit = 50, cursor: IdCursor = None, status: StatusFilter = None, download_id: DownloadId = None
    ) -> PageAnswer[PlacementAnswer]:
        """Files on their way into libraries, the newest first."""
        page = await placements.page(status=status, download_id=download_id, limit=limit, cursor=cursor)
        return PageAnswer[PlacementAnswer].of(page, PlacementAnswer.of)

    @routes.post("/{placement_id}/retry", responses=documented(404, 409, 422))
    async def retry_placement(placement_id: PlacementId) -> PlacementAnswer:
        """Try it again, now."""
        return PlacementAnswer.of(await placements.retry(placement_id))

    @routes.post("/{placement_id}/resolve", responses=documented(404, 409, *WITH_BODY))
    async def resolve_placement(placement_id: PlacementId, body: PlacementResolution) -> PlacementAnswer:
        """Say what becomes of a file whose name another file has."""
        return PlacementAnswer.of(await placements.resolve(placement_id, body.choice))

    @routes.post("/{placement_id}/undo", responses=documented(404, 409, 422))
    async def undo_placement(placement_id: PlacementId) -> PlacementAnswer:
        """Bring the file back whose place another took; that one goes to the trash. The answer is the new placement."""
        return PlacementAnswer.of(await placements.undo(placement_id))

    return routes

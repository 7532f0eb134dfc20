"""What came of reading links again, after a rule, a name, an offset, the index or the parser changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.catalog.identity.relink import Relinker
from kurabito.catalog.relinks.store import Relink, RelinkCause, RelinkedLink
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import documented
from kurabito.site.routing import Router

RelinkId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the run's id")]


class RelinkAnswer(BaseModel):
    """One run of reading again. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    cause: RelinkCause
    links_read: int
    links_moved: int = Field(description="links that went to another series or episode")
    links_held: int = Field(description="those of them that waited to be confirmed when it ended")
    started_at: datetime
    finished_at: datetime | None = Field(description="null while it goes on")

    @classmethod
    def of(cls, relink: Relink) -> Self:
        return cls.model_validate(relink)


class RelinkedLinkAnswer(BaseModel):
    """A link that moved: where it was, and where it went."""

    model_config = ConfigDict(from_attributes=True)

    link_id: int
    title: str
    from_series: int
    from_title: str
    from_number: float | None
    to_series: int
    to_title: str
    to_number: float | None
    is_waiting: bool = Field(description="not downloaded until `POST /links/confirm`")

    @classmethod
    def of(cls, link: RelinkedLink) -> Self:
        return cls.model_validate(link)


def router(relinker: Relinker) -> Router:
    """The routes of relinks."""
    routes = Router(prefix="/api/v1", tags=["following"])

    @routes.get("/relinks", responses=documented(422))
    async def list_relinks(limit: Limit = 20, cursor: IdCursor = None) -> PageAnswer[RelinkAnswer]:
        """When links were read again, why, and how many of them moved; the newest first."""
        return PageAnswer[RelinkAnswer].of(await relinker.page(limit=limit, cursor=cursor), RelinkAnswer.of)

    @routes.get("/relinks/{relink_id}/links", responses=documented(404, 422))
    async def list_relinked_links(
        relink_id: RelinkId, limit: Limit = 50, cursor: IdCursor = None
    ) -> PageAnswer[RelinkedLinkAnswer]:
        """The links that moved, the newest first."""
        page = await relinker.moved(relink_id, limit=limit, cursor=cursor)
        return PageAnswer[RelinkedLinkAnswer].of(page, RelinkedLinkAnswer.of)

    return routes

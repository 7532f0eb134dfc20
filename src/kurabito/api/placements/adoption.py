"""What of the libraries is not had: videos that no episode has, and why."""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import Query
from pydantic import BaseModel, Field

from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.api.reasons import WhyAnswer, in_english
from kurabito.placements.adoption.service import Adoptions
from kurabito.placements.adoption.store import UnadoptedFile
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import documented
from kurabito.site.routing import Router

LibraryFilter = Annotated[int | None, Query(ge=1, le=BIGGEST_ID, description="only those of this library")]


class UnadoptedAnswer(BaseModel):
    """A video of a library that no episode has."""

    file_id: int
    library_id: int
    library: str
    path: str = Field(description="below the library's folder")
    size_bytes: int
    reason: str = Field(description="why, as a sentence")
    why: WhyAnswer | None

    @classmethod
    def of(cls, file: UnadoptedFile) -> Self:
        return cls(
            file_id=file.file_id,
            library_id=file.library_id,
            library=file.library,
            path=file.path,
            size_bytes=file.size_bytes,
            reason=in_english(file.reason),
            why=WhyAnswer.of(file.reason),
        )


def router(adoptions: Adoptions) -> Router:
    """The routes of adoption."""
    routes = Router(prefix="/api/v1/adoption", tags=["libraries"])

    @routes.get("/unadopted", responses=documented(404, 422))
    async def list_unadopted(
        library_id: LibraryFilter = None, limit: Limit = 50, cursor: IdCursor = None
    ) -> PageAnswer[UnadoptedAnswer]:
        """Videos that no episode has, in the order in which they were found."""
        page = await adoptions.unadopted(library_id=library_id, limit=limit, cursor=cursor)
        return PageAnswer[UnadoptedAnswer].of(page, UnadoptedAnswer.of)

    return routes

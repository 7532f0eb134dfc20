"""The trash: what is in it, and how it comes back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Self

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from kurabito.api.errors import documented
from kurabito.api.paging import PAGE_BEFORE, Limit
from kurabito.library.deletion.trash import Trash, TrashEntry

_CURSOR: Final = "^[0-9]{1,18}-[0-9a-f]{32}$"


class TrashAnswer(BaseModel):
    """A file in the trash. Times are UTC."""

    id: str
    library_id: int
    relative_path: str = Field(description="where it was, and where it goes when it is put back")
    size_bytes: int
    group_key: str
    trashed_at: datetime
    expires_at: datetime = Field(description="from then on it may be purged")

    @classmethod
    def of(cls, entry: TrashEntry) -> Self:
        return cls(
            id=entry.id,
            library_id=entry.library_id,
            relative_path=entry.relative_path,
            size_bytes=entry.size_bytes,
            group_key=str(entry.group_key),
            trashed_at=entry.trashed_at,
            expires_at=entry.expires_at,
        )


class TrashPageAnswer(BaseModel):
    """Some of the trash, what came last first."""

    items: list[TrashAnswer]
    next_cursor: str | None


class RestoreAnswer(BaseModel):
    """The job that puts a file back."""

    job_id: str


def router(trash: Trash) -> APIRouter:
    """The routes of the trash."""
    routes = APIRouter(prefix="/api/v1/trash", tags=["duplicates"])

    @routes.get("", responses=documented(422))
    async def list_trash(
        limit: Limit = 50,
        cursor: Annotated[str | None, Query(pattern=_CURSOR, description=PAGE_BEFORE)] = None,
    ) -> TrashPageAnswer:
        """What can be put back, what came last first."""
        page = await trash.entries(limit=limit, cursor=cursor)
        return TrashPageAnswer(items=[TrashAnswer.of(entry) for entry in page.items], next_cursor=page.next_cursor)

    @routes.post("/{entry_id}/restore", status_code=202, responses=documented(404, 409, 422))
    async def restore_trash(entry_id: Annotated[str, Path(max_length=100)]) -> RestoreAnswer:
        """Have a file put back where it was; refused in the job when another one is there now."""
        return RestoreAnswer(job_id=await trash.restore(entry_id))

    return routes

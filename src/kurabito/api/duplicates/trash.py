"""The trash: what is in it, and how it comes back."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Final, Self

from fastapi import Path, Query
from pydantic import BaseModel, Field

from kurabito.api.duplicates.duplicates import UndoAnswer
from kurabito.api.paging import PAGE_BEFORE, Limit, PageAnswer
from kurabito.library.deletion.trash import Trash, TrashEntry
from kurabito.site.errors import documented
from kurabito.site.routing import Router

_CURSOR: Final = "^[0-9]{1,18}-[0-9a-f]{32}$"


class RefusalAnswer(BaseModel):
    """Why a file was not put back."""

    error_code: str = Field(description="stable; what an interface translates")
    error_message: str


class TrashAnswer(BaseModel):
    """A file in the trash. Times are UTC."""

    id: str
    library_id: int
    relative_path: str = Field(description="where it was, and where it goes when it is put back")
    size_bytes: int
    group_key: str
    trashed_at: datetime
    expires_at: datetime = Field(description="from then on it may be purged")
    is_leaving: bool = Field(description="it was asked for, and is about to be put back")
    refused: RefusalAnswer | None = Field(description="why it could not be put back when it was last asked for")

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
            is_leaving=entry.is_leaving,
            refused=entry.refused and RefusalAnswer(**asdict(entry.refused)),
        )


class RestoreAnswer(BaseModel):
    """The job that puts a file back."""

    job_id: str


def router(trash: Trash) -> Router:
    """The routes of the trash."""
    routes = Router(prefix="/api/v1/trash", tags=["duplicates"])

    @routes.get("", responses=documented(422))
    async def list_trash(
        limit: Limit = 50,
        cursor: Annotated[str | None, Query(pattern=_CURSOR, description=PAGE_BEFORE)] = None,
    ) -> PageAnswer[TrashAnswer]:
        """What can be put back, what came last first."""
        page = await trash.entries(limit=limit, cursor=cursor)
        return PageAnswer[TrashAnswer].of(page, TrashAnswer.of)

    @routes.post("/restore", status_code=202, responses=documented())
    async def restore_all_trash() -> UndoAnswer:
        """Have everything in the trash put back where it was."""
        return UndoAnswer.of(await trash.restore_all())

    @routes.post("/{entry_id}/restore", status_code=202, responses=documented(404, 409, 422))
    async def restore_trash(entry_id: Annotated[str, Path(max_length=100)]) -> RestoreAnswer:
        """Have a file put back where it was.

        If that cannot be done, because another file is there now for example, the job fails with the reason, and the entry
        stays in the trash and says it under `refused`.
        """
        return RestoreAnswer(job_id=await trash.restore(entry_id))

    return routes

"""What another naming would rename in a library, and renaming it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.library.libraries import LibraryId
from kurabito.api.placements.naming import NamingOrder
from kurabito.placements.renames.service import RenamePreview, Renames, Renaming
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

RenamingId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the renaming's id")]


class RenameAnswer(BaseModel):
    """A file that would be called otherwise; paths are below the library's folder."""

    path: str
    target: str


class RenamePreviewAnswer(BaseModel):
    """What would be renamed, all of it, in the order in which it is done."""

    renames: list[RenameAnswer]
    unchanged: int = Field(description="files that have the right name already")
    unknown: list[str] = Field(
        description="files that keep their names because a fact that the template needs is unknown"
    )
    taken: list[str] = Field(description="files that keep their names because another file has the new one")

    @classmethod
    def of(cls, preview: RenamePreview) -> Self:
        return cls(
            renames=[RenameAnswer(path=one.path, target=one.target) for one in preview.renames],
            unchanged=preview.unchanged,
            unknown=[path for path, _ in preview.unknown],
            taken=list(preview.taken),
        )


class RenamingAnswer(BaseModel):
    """Renames that were ordered together. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    undoes_id: int | None = Field(description="the renaming that it undoes")
    undone_by: int | None = Field(description="the renaming that undid it")
    files: int
    renamed: int = Field(description="how many of the files have their new names")
    failed: int
    created_at: datetime

    @classmethod
    def of(cls, renaming: Renaming) -> Self:
        return cls.model_validate(renaming)


class RenamingsAnswer(BaseModel):
    """The last renames of a library."""

    items: list[RenamingAnswer]


def router(renames: Renames) -> Router:
    """The routes of renames."""
    routes = Router(prefix="/api/v1", tags=["filing"])

    @routes.post("/libraries/{library_id}/renames/preview", responses=documented(404, *WITH_BODY))
    async def preview_renames(library_id: LibraryId, order: NamingOrder | None = None) -> RenamePreviewAnswer:
        """What would be renamed: by the naming that is given, or with no body by the library's own.

        Only files that Kurabito put there are renamed.
        """
        found = await renames.preview(library_id, None if order is None else order.naming())
        return RenamePreviewAnswer.of(found)

    @routes.get("/libraries/{library_id}/renames", responses=documented(422))
    async def list_renames(library_id: LibraryId) -> RenamingsAnswer:
        """What was renamed in a library, the last first."""
        return RenamingsAnswer(items=[RenamingAnswer.of(one) for one in await renames.past(library_id)])

    @routes.post("/libraries/{library_id}/renames", responses=documented(404, 409, 422))
    async def apply_renames(library_id: LibraryId) -> RenamingAnswer | None:
        """Rename all that the library's naming says; null when every file has the right name already."""
        made = await renames.apply(library_id)
        return None if made is None else RenamingAnswer.of(made)

    @routes.post("/renames/{renaming_id}/undo", responses=documented(404, 409, 422))
    async def undo_renames(renaming_id: RenamingId) -> RenamingAnswer:
        """Give the files their names back. The answer is the renaming that does so."""
        return RenamingAnswer.of(await renames.undo(renaming_id))

    return routes

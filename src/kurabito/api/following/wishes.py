"""Several series at once: what is wanted of them, their library and their profile; and the way back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Path
from pydantic import BaseModel, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.following.catalog import GivenId
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.states import SeriesWish
from kurabito.downloads.edits.model import SeriesEdit, StoredEdit
from kurabito.downloads.edits.service import SeriesEdits
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router


class WishBody(StrictBody):
    """Which episodes of several series are downloaded."""

    wanted: Annotated[SeriesWish, Field(strict=False)]
    series_ids: Annotated[list[GivenId], Field(min_length=1, max_length=10_000)] | None = Field(
        None, description="these series; null: every series that is not followed"
    )


class WishAnswer(BaseModel):
    """How many series it was said of."""

    changed: int


class SeriesEditBody(StrictBody):
    """What several series are given. A field that is absent stays as it is."""

    series_ids: Annotated[list[GivenId], Field(min_length=1, max_length=10_000)]
    wanted: Annotated[SeriesWish | None, Field(strict=False, description="which episodes are downloaded")] = None
    library_id: GivenId | None = Field(None, description="where their files go; null: as the libraries say")
    profile_id: GivenId | None = Field(None, description="how releases are chosen; null: the default")

    def edit(self) -> SeriesEdit:
        """What was named, and nothing else."""
        chosen = SeriesEdit()
        if self.wanted is not None:
            chosen["wanted"] = self.wanted
        if "library_id" in self.model_fields_set:
            chosen["library_id"] = self.library_id
        if "profile_id" in self.model_fields_set:
            chosen["profile_id"] = self.profile_id
        return chosen


class SeriesEditAnswer(BaseModel):
    """An edit that was made. Times are UTC."""

    id: int
    changed: int = Field(description="how many series it was made of")
    edit: dict[str, SeriesWish | int | None] = Field(description="what it gave them, and nothing else")
    created_at: datetime
    undone_at: datetime | None

    @classmethod
    def of(cls, made: StoredEdit) -> Self:
        return cls(
            id=made.id,
            changed=made.changed,
            edit={**made.edit},
            created_at=made.created_at,
            undone_at=made.undone_at,
        )


EditId = Annotated[int, Path(ge=1, le=BIGGEST_ID)]


def router(catalog: Catalog, edits: SeriesEdits) -> Router:
    """The routes of what several series are given."""
    routes = Router(prefix="/api/v1", tags=["following"])

    @routes.post("/series/wanted", responses=documented(404, *WITH_BODY))
    async def want_series(body: WishBody) -> WishAnswer:
        """Say which episodes of several series are downloaded."""
        if body.series_ids is None:
            return WishAnswer(changed=await catalog.want_not_followed(body.wanted))
        return WishAnswer(changed=await catalog.want(body.series_ids, body.wanted))

    @routes.post("/series/edits", status_code=201, responses=documented(404, *WITH_BODY))
    async def edit_series(body: SeriesEditBody) -> SeriesEditAnswer:
        """Give several series a wish, a library or a profile."""
        return SeriesEditAnswer.of(await edits.edit(body.series_ids, body.edit()))

    @routes.get("/series/edits/{edit_id}", responses=documented(404, 422))
    async def get_series_edit(edit_id: EditId) -> SeriesEditAnswer:
        """An edit of several series; the last ones are kept."""
        return SeriesEditAnswer.of(await edits.get(edit_id))

    @routes.post("/series/edits/{edit_id}/undo", responses=documented(404, 409, 422))
    async def undo_series_edit(edit_id: EditId) -> WishAnswer:
        """Give the series back what they had, where the edit still stands. Downloads that it began go on."""
        return WishAnswer(changed=await edits.undo(edit_id))

    return routes

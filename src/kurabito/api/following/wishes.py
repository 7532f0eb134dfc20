"""What is wanted of several series at once: none, what comes, what is missing, all."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.following.catalog import GivenId
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.states import SeriesWish
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


def router(catalog: Catalog) -> Router:
    """The route of the wishes."""
    routes = Router(prefix="/api/v1", tags=["following"])

    @routes.post("/series/wanted", responses=documented(404, *WITH_BODY))
    async def want_series(body: WishBody) -> WishAnswer:
        """Say which episodes of several series are downloaded."""
        if body.series_ids is None:
            return WishAnswer(changed=await catalog.want_not_followed(body.wanted))
        return WishAnswer(changed=await catalog.want(body.series_ids, body.wanted))

    return routes

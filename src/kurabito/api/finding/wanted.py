"""What is wanted: missing episodes, and those that could be better."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.finding.releases import FoundReleaseAnswer
from kurabito.api.following.catalog import SeriesId
from kurabito.api.paging import PageAnswer
from kurabito.downloads.wanted.backfill import Backfill
from kurabito.downloads.wanted.pauses import SearchOutcome
from kurabito.downloads.wanted.service import WantedList
from kurabito.downloads.wanted.store import WantedReason
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind

Id = Annotated[int, Field(ge=1, le=BIGGEST_ID)]


class WantedEpisodeAnswer(BaseModel):
    """An episode that is wanted. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int = Field(description="the episode's id")
    series_id: int
    series: str
    season: int
    kind: ReleaseKind
    number: float
    aired_at: datetime | None = Field(description="null where its day is not known")
    reason: WantedReason = Field(description="why it is not there")
    is_automatic: bool = Field(description="whether it is searched for automatically")
    is_asked: bool = Field(description="a search for it was asked for and is still to come")
    searches: int = Field(description="how often it was searched for in vain")
    outcome: SearchOutcome | None = Field(description="what came of the last search")
    searched_at: datetime | None
    next_at: datetime | None = Field(description="it is not searched for automatically before this")


class WantedSearchOrder(StrictBody):
    """What to search for."""

    episode_ids: Annotated[list[Id], Field(max_length=10_000)] | None = Field(
        None, description="episodes that are wanted; null is all of them"
    )


class WantedSearchAnswer(BaseModel):
    """How many episodes are searched for."""

    asked: int


class WantedPolicy(StrictBody):
    """Whether what is wanted is searched for automatically."""

    is_automatic: bool


class SeriesWantedPolicy(StrictBody):
    """Whether a show is searched for automatically."""

    is_automatic: bool | None = Field(description="null is as for all shows")


class BackfillAnswer(BaseModel):
    """What would be fetched of a show. Grab each with `POST /releases/grab`."""

    releases: list[FoundReleaseAnswer]
    size_bytes: int = Field(description="of all of them, as far as it is known")
    left: list[float] = Field(description="the episodes that stay missing")

    @classmethod
    def of(cls, plan: Backfill) -> Self:
        return cls(
            releases=[FoundReleaseAnswer.of(one) for one in plan.releases],
            size_bytes=plan.size_bytes,
            left=list(plan.left),
        )


def router(wanted: WantedList) -> Router:
    """The routes of what is wanted."""
    routes = Router(prefix="/api/v1", tags=["finding"])

    @routes.get("/wanted", responses=documented(422))
    async def list_wanted(
        series_id: Annotated[int | None, Query(ge=1, le=BIGGEST_ID)] = None,
        limit: Annotated[int, Query(ge=1, le=5_000)] = 500,
    ) -> PageAnswer[WantedEpisodeAnswer]:
        """Episodes that were shown and are neither had nor under way, and those below the preferences; the newest first."""
        found = await wanted.everything(series_id=series_id, limit=limit)
        return PageAnswer[WantedEpisodeAnswer].whole(WantedEpisodeAnswer.model_validate(one) for one in found)

    @routes.post("/wanted/search", status_code=202, responses=documented(*WITH_BODY))
    async def search_wanted(order: WantedSearchOrder) -> WantedSearchAnswer:
        """Search for one, some or all of what is wanted, and take the best. The limits of the indexers hold."""
        return WantedSearchAnswer(asked=await wanted.search(order.episode_ids))

    @routes.get("/wanted/policy", responses=documented())
    async def get_wanted_policy() -> WantedPolicy:
        """Whether what is wanted is searched for automatically."""
        return WantedPolicy(is_automatic=await wanted.is_automatic())

    @routes.put("/wanted/policy", responses=documented(*WITH_BODY))
    async def put_wanted_policy(policy: WantedPolicy) -> WantedPolicy:
        """Switch the automatic search on or off, for shows that say nothing else."""
        await wanted.set_automatic(policy.is_automatic)
        return policy

    @routes.put("/series/{series_id}/automatic-search", responses=documented(404, *WITH_BODY))
    async def put_series_policy(series_id: SeriesId, policy: SeriesWantedPolicy) -> SeriesWantedPolicy:
        """Switch the automatic search on or off for one show."""
        await wanted.set_series_automatic(series_id, policy.is_automatic)
        return policy

    @routes.get("/series/{series_id}/backfill", responses=documented(404, 422))
    async def plan_backfill(series_id: SeriesId) -> BackfillAnswer:
        """What would be fetched of a show: a batch when its season is over, single episodes otherwise. Nothing is downloaded."""
        return BackfillAnswer.of(await wanted.backfill(series_id))

    return routes

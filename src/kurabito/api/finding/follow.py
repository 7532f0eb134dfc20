"""Follow a show in one click: which groups release it, and the one that is chosen."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.finding.releases import GrabKey
from kurabito.api.paging import PageAnswer
from kurabito.downloads.follow.offers import offers
from kurabito.downloads.follow.service import ShowFollower
from kurabito.downloads.follow.standby import SILENT_DAYS
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.indexers.port import SearchQuery
from kurabito.indexers.service import LONGEST_TEXT
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router


class GroupOfferAnswer(BaseModel):
    """How one group releases a show. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    group: str
    series: str = Field(description="the show, as the group names it")
    season: int = Field(description="each season is followed for itself")
    languages: list[str]
    resolution: int | None
    indexers: list[str]
    releases: int
    last_at: datetime | None
    every_days: float | None = Field(description="days from one release to the next, as a rule")
    key: str = Field(description="what to follow it by")
    title: str = Field(description="of the newest release")


class FollowOrder(StrictBody):
    """A show to follow as one group releases it."""

    key: GrabKey
    standby_key: GrabKey | None = Field(
        None, description="another group, whose feed takes over when the first is silent"
    )
    silent_days: Annotated[int, Field(ge=1, le=365), WHOLE] = Field(SILENT_DAYS, description="after so many days")


class FollowAnswer(BaseModel):
    """What following made."""

    series_id: int
    subscription_id: int | None = Field(
        description="null where the source has no feed: what is wanted is searched for automatically then"
    )
    standby_id: int | None


def router(search: ReleaseSearch, follower: ShowFollower) -> Router:
    """The routes of following in one click."""
    routes = Router(prefix="/api/v1/follow", tags=["finding"])

    @routes.get("/groups", responses=documented(404, 422))
    async def list_release_groups(
        q: Annotated[str, Query(max_length=LONGEST_TEXT, description="the name of a show")] = "",
        series_id: Annotated[int | None, Query(ge=1, le=BIGGEST_ID)] = None,
    ) -> PageAnswer[GroupOfferAnswer]:
        """Which groups release a show, in which language and resolution, and how often. Nothing is followed."""
        query = SearchQuery(text=q) if series_id is None else await search.for_series(series_id)
        releases: tuple[FoundRelease, ...] = ()
        async for found in search.search(query):
            releases = found.releases
        return PageAnswer[GroupOfferAnswer].whole(GroupOfferAnswer.model_validate(one) for one in offers(releases))

    @routes.post("", status_code=201, responses=documented(404, 409, 502, 504, *WITH_BODY))
    async def follow_show(order: FollowOrder) -> FollowAnswer:
        """Follow a show as one group releases it: by the feed of its site, else by searching for what is wanted."""
        made = await follower.follow(order.key, order.standby_key, order.silent_days)
        return FollowAnswer(
            series_id=made.series.id,
            subscription_id=None if made.subscription is None else made.subscription.id,
            standby_id=None if made.standby is None else made.standby.id,
        )

    return routes

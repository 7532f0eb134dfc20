"""The preview of a feed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Self

from pydantic import BaseModel, Field

from kurabito.api.bodies import StrictBody
from kurabito.catalog.previews import PreviewedItem, Previews
from kurabito.catalog.releases import Release
from kurabito.feeds.parser import Feed
from kurabito.feeds.service import LONGEST_URL
from kurabito.modules.download_types import DownloadType
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

FeedUrl = Annotated[str, Field(min_length=1, max_length=LONGEST_URL, pattern=r"^https?://[^\x00-\x20]+$")]
ALLOWS_PRIVATE: Final = "whether the host of the URL may be inside your own network"


class PreviewOrder(StrictBody):
    """A feed to look into."""

    url: FeedUrl
    allows_private: bool = Field(False, description=ALLOWS_PRIVATE)


class OfferedReleaseAnswer(BaseModel):
    """What an item says it is."""

    titles: list[str] = Field(description="the names of its series, the one to show first")
    season: int | None
    episodes: list[float]
    is_batch: bool
    kind: str
    group: str | None
    resolution: int | None
    version: int | None
    download_type: DownloadType | None

    @classmethod
    def of(cls, release: Release) -> Self:
        return cls(
            titles=[name.shown for name in release.names],
            season=release.season,
            episodes=list(release.episodes),
            is_batch=release.is_batch,
            kind=release.kind.value,
            group=release.group.shown if release.group else None,
            resolution=release.resolution,
            version=release.version,
            download_type=release.download_type,
        )


class OfferAnswer(BaseModel):
    """An item of a feed."""

    key: str = Field(description="what to choose it by")
    title: str
    download_url: str | None
    pub_date: datetime | None
    size_bytes: int | None
    release: OfferedReleaseAnswer | None = Field(description="null when its title cannot be read")
    series_id: int | None = Field(description="the series that it would go to; null when it would be a new one")
    reason: str | None = Field(description="why it would not be downloaded automatically: a code to translate")

    @classmethod
    def of(cls, offer: PreviewedItem) -> Self:
        return cls(
            key=offer.key,
            title=offer.item.title,
            download_url=offer.item.download_url,
            pub_date=offer.item.pub_date,
            size_bytes=offer.item.size_bytes,
            release=None if offer.release is None else OfferedReleaseAnswer.of(offer.release),
            series_id=None if offer.series is None else offer.series.id,
            reason=offer.reason,
        )


class RefusedAnswer(BaseModel):
    """An item that cannot be used."""

    number: int = Field(description="its place in the feed, from 1")
    reason: str


class FeedPreviewAnswer(BaseModel):
    """What a feed would give."""

    title: str | None
    is_whole: bool = Field(description="false when the feed breaks off")
    items: list[OfferAnswer]
    refused: list[RefusedAnswer]

    @classmethod
    def of(cls, feed: Feed, offers: list[PreviewedItem]) -> Self:
        return cls(
            title=feed.title,
            is_whole=feed.is_whole,
            items=[OfferAnswer.of(offer) for offer in offers],
            refused=[RefusedAnswer(number=one.number, reason=one.reason) for one in feed.refused],
        )


def router(previews: Previews) -> Router:
    """The route of the look."""
    routes = Router(prefix="/api/v1/subscriptions", tags=["following"])

    @routes.post("/preview", responses=documented(502, 504, *WITH_BODY))
    async def preview_subscription(order: PreviewOrder) -> FeedPreviewAnswer:
        """What a feed would give. Nothing is stored. `host_not_allowed` offers to say `allows_private`."""
        return FeedPreviewAnswer.of(*await previews.look(order.url, allows_private=order.allows_private))

    return routes

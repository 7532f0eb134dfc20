"""What is told of a record beside its poster and its ids: episodes, summaries, a backdrop, its end."""

from __future__ import annotations

from datetime import date, datetime
from typing import Self

from pydantic import BaseModel, Field

from kurabito.api.metadata.records import MetadataId
from kurabito.metadata.episodes import KnownEpisode
from kurabito.metadata.stories.service import RecordStory, StoryService
from kurabito.site.errors import documented
from kurabito.site.routing import Router


class KnownEpisodeAnswer(BaseModel):
    """An episode."""

    number: float = Field(description="in the record, from 1")
    counted: float = Field(description="as its source counts, which for a second cour may begin at 13")
    titles: dict[str, str] = Field(description="by language: ja, en, zh-Hans, zh-Hant")
    air_date: date | None

    @classmethod
    def of(cls, episode: KnownEpisode) -> Self:
        return cls(
            number=episode.number or 0,
            counted=episode.counted,
            titles=dict(episode.titles),
            air_date=episode.air_date,
        )


class StoryAnswer(BaseModel):
    """What is told of a record. Times are UTC."""

    summaries: dict[str, str] = Field(description="by language: ja, en, zh-Hans, zh-Hant")
    backdrop_url: str | None
    ended_on: date | None = Field(description="the day of the last episode; null while more may come")
    refreshed_at: datetime | None = Field(description="when its sources were asked last")
    episodes: list[KnownEpisodeAnswer]

    @classmethod
    def of(cls, story: RecordStory) -> Self:
        return cls(
            summaries=dict(story.told.summaries),
            backdrop_url=story.told.backdrop_url,
            ended_on=story.told.ended_on,
            refreshed_at=story.told.refreshed_at,
            episodes=[KnownEpisodeAnswer.of(episode) for episode in story.episodes],
        )


def router(stories: StoryService) -> Router:
    """The route of what is told."""
    routes = Router(prefix="/api/v1/metadata", tags=["metadata"])

    @routes.get("/{metadata_id}/story", responses=documented(404, 422))
    async def get_story(metadata_id: MetadataId) -> StoryAnswer:
        """Episodes with titles and days, summaries in several languages, a backdrop, and when it ended."""
        return StoryAnswer.of(await stories.story(metadata_id))

    return routes

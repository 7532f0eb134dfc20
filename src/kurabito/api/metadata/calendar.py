"""The calendar: what is on this week, and what began in any season."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Self
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.following.catalog import SeriesAnswer
from kurabito.catalog.follow import FollowFromMetadata
from kurabito.metadata import CalendarService
from kurabito.metadata.calendar import SeasonStart
from kurabito.metadata.records import Metadata, RecordKind, TmdbKind
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router


class CalendarItem(BaseModel):
    """A show or a film of the calendar."""

    metadata_id: int | None = Field(description="its record; null while it has none")
    kind: RecordKind
    title_japanese: str | None
    title_chinese: str | None
    title_english: str | None
    air_date: date | None = Field(description="the first day, in Japan")
    poster_url: str | None
    bgm_id: int | None
    tmdb_id: int | None
    tmdb_kind: TmdbKind | None
    tmdb_season: int | None

    @classmethod
    def of_record(cls, record: Metadata) -> Self:
        return cls(metadata_id=record.id, **{name: getattr(record.details, name) for name in _FROM_DETAILS})

    @classmethod
    def of_entry(cls, begun: SeasonStart) -> Self:
        entry, ids = begun.entry, begun.entry.ids
        return cls(
            metadata_id=begun.metadata_id,
            kind=entry.kind,
            title_japanese=entry.title,
            title_chinese=entry.title_chinese,
            title_english=entry.title_english,
            air_date=entry.air_date,
            poster_url=begun.poster_url,
            bgm_id=ids.bgm_id,
            tmdb_id=ids.tmdb_id,
            tmdb_kind=ids.tmdb_kind,
            tmdb_season=ids.tmdb_season,
        )


_FROM_DETAILS = tuple(name for name in CalendarItem.model_fields if name != "metadata_id")


class CalendarDay(BaseModel):
    """What is on, or began, on one weekday."""

    weekday: int = Field(ge=1, le=7, description="1 is Monday")
    items: list[CalendarItem]


class CalendarAnswer(BaseModel):
    """A week, or a season by weekday."""

    season: str | None = Field(description="year and first month of the season; null for this week")
    refreshed_at: datetime | None = Field(description="when bgm.tv was asked about this week")
    days: list[CalendarDay]


class RefreshAccepted(BaseModel):
    """A refresh that was asked for; one that waits or runs already is the answer to a second request."""

    task_id: UUID


class FollowRecord(StrictBody):
    """Follow what a record is about."""

    metadata_id: Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]


class FollowEntry(StrictBody):
    """Follow an entry of the offline index, which may have no record yet."""

    bgm_id: Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE] = Field(description="its id of bgm.tv")


def router(calendar: CalendarService, entries: FollowFromMetadata) -> Router:
    """The routes of the calendar."""
    routes = Router(prefix="/api/v1/calendar", tags=["metadata"])

    @routes.get("", responses=documented(422))
    async def get_calendar(
        season: Annotated[
            str | None,
            Query(pattern="^(19|20)[0-9]{2}-(01|04|07|10)$", description="like 2022-10; left out: this week"),
        ] = None,
    ) -> CalendarAnswer:
        """What is on this week as bgm.tv said last, or what began in a season by the imported index."""
        if season is None:
            week = await calendar.week()
            days = {day: [CalendarItem.of_record(record) for record in found] for day, found in week.days.items()}
            return CalendarAnswer(season=None, refreshed_at=week.refreshed_at, days=_listed(days))
        days = {day: [] for day in range(1, 8)}
        for begun in await calendar.season(int(season[:4]), int(season[5:])):
            assert begun.entry.air_date is not None
            days[begun.entry.air_date.isoweekday()].append(CalendarItem.of_entry(begun))
        return CalendarAnswer(season=season, refreshed_at=None, days=_listed(days))

    @routes.post("/refresh", status_code=202, responses=documented())
    async def refresh_calendar() -> RefreshAccepted:
        """Have bgm.tv asked what is on this week. What is new becomes a record, and a sync fills it in."""
        return RefreshAccepted(task_id=await calendar.begin_refresh())

    @routes.post("/follow", responses=documented(404, 409, *WITH_BODY))
    async def follow_entry(follow: FollowRecord | FollowEntry) -> SeriesAnswer:
        """Follow an entry: it is a series from now on, and releases of it are taken as soon as a feed brings them."""
        if isinstance(follow, FollowRecord):
            return SeriesAnswer.of(await entries.follow_record(follow.metadata_id))
        return SeriesAnswer.of(await entries.follow_entry(follow.bgm_id))

    return routes


def _listed(days: dict[int, list[CalendarItem]]) -> list[CalendarDay]:
    return [CalendarDay(weekday=day, items=items) for day, items in days.items()]

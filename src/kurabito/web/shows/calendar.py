"""*Calendar*: what is on this week, from today on; and what began in any season that the imported index knows.

What is on it can be followed from here, before any feed brought a release of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta, timezone
from typing import Final, Self

from fastapi import Request, Response

from kurabito.catalog.follow import FollowFromMetadata
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.clock import to_datetime
from kurabito.errors import InvalidInput
from kurabito.metadata import CalendarService
from kurabito.metadata.calendar import REFRESH, SEASON_MONTHS, Week
from kurabito.metadata.health import SourceHealths
from kurabito.metadata.sources.index import UPDATE, IndexUpdates
from kurabito.reasons import InputReason, refused
from kurabito.runtime import Queue, TaskRecord
from kurabito.site.routing import Router
from kurabito.web.forms import count_of, fields_of, id_of
from kurabito.web.pages import Pages
from kurabito.web.shows import agenda
from kurabito.web.shows.cards import Card

# Weekdays are those of the place where it is shown.
_JAPAN: Final = timezone(timedelta(hours=9))
_WEEK: Final = range(1, 8)
_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2100


@dataclass(frozen=True, slots=True)
class Season:
    """Three months of a year."""

    year: int
    month: int

    @classmethod
    def around(cls, day: date) -> Self:
        """The season that a day is in."""
        return cls(day.year, max(month for month in SEASON_MONTHS if month <= day.month))

    @classmethod
    def asked(cls, query: Mapping[str, str]) -> Self | None:
        """The season that an address names; None when it names this week. Raises InvalidInput."""
        if not query.get("year") and not query.get("month"):
            return None
        year, month = (count_of(name, query.get(name, ""), _LAST_YEAR) for name in ("year", "month"))
        if year < _FIRST_YEAR or month not in SEASON_MONTHS:
            problem = f"a season is a year and one of the months {', '.join(map(str, SEASON_MONTHS))}"
            raise InvalidInput("month", problem, refused(InputReason.CHOICE))
        return cls(year, month)

    def moved(self, seasons: int) -> Season:
        """So many seasons later, or earlier."""
        quarter = self.year * 4 + SEASON_MONTHS.index(self.month) + seasons
        return Season(quarter // 4, SEASON_MONTHS[quarter % 4])


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the week, and what is on or began on it."""

    weekday: int
    cards: list[Card]


def router(
    pages: Pages,
    calendar: CalendarService,
    entries: FollowFromMetadata,
    sources: SourceHealths,
    index: IndexUpdates,
    summaries: CatalogSummaries,
    queue: Queue,
) -> Router:
    """This week and a season, the refresh from bgm.tv, and following what is on."""
    routes = Router()

    @routes.get("/calendar")
    async def overview(request: Request) -> Response:
        season = Season.asked(request.query_params)
        today = to_datetime(pages.clock.now()).astimezone(_JAPAN).date()
        week, years, asked, update = await asyncio.gather(
            calendar.week(), calendar.years(), _last(queue, REFRESH), _last(queue, UPDATE)
        )
        # Who never asked bgm.tv comes for the shows that they follow.
        if not request.query_params and week.refreshed_at is None and await summaries.has_shows():
            return pages.go(agenda.PATH)
        days = _on(week, today) if season is None else await _begun(calendar, season)
        shown = {card.metadata_id for day in days for card in day.cards if card.metadata_id is not None}
        return pages.show(
            request,
            "calendar.html",
            season=season,
            now=Season.around(today),
            today=today.isoweekday(),
            days=[day for day in days if day.cards],
            followed=await summaries.followed(shown),
            refreshed_at=week.refreshed_at,
            asked=asked,
            years=years,
            months=SEASON_MONTHS,
            sources=list((await sources.all()).values()),
            index=await index.last_import(),
            update=update,
        )

    _add_moves(routes, pages, calendar, entries, index)
    return routes


def _add_moves(
    routes: Router, pages: Pages, calendar: CalendarService, entries: FollowFromMetadata, index: IndexUpdates
) -> None:
    """What the buttons do."""

    @routes.post("/calendar/refresh")
    async def refresh() -> Response:
        await calendar.begin_refresh()
        return pages.go("/calendar?view=week")

    @routes.post("/calendar/index")
    async def update_index(request: Request) -> Response:
        asked = await fields_of(request)
        await index.begin_update()
        return pages.go_back(asked, "/calendar?view=week")

    @routes.post("/calendar/follow")
    async def follow(request: Request) -> Response:
        asked = await fields_of(request)
        if asked.get("metadata_id"):
            followed = await entries.follow_record(id_of(asked["metadata_id"]))
        else:
            followed = await entries.follow_entry(id_of(asked.get("bgm_id", "")))
        return pages.go_back(asked, f"/series/{followed.id}")


async def _last(queue: Queue, task_type: str) -> TaskRecord | None:
    """The last task of a type."""
    found = await queue.list(task_type=task_type, limit=1)
    return found.items[0] if found.items else None


def _on(week: Week, today: date) -> list[Day]:
    return [Day(day, [Card.of_record(record) for record in week.days[day]]) for day in _from(today)]


async def _begun(calendar: CalendarService, season: Season) -> list[Day]:
    days = {weekday: Day(weekday, []) for weekday in _WEEK}
    for begun in await calendar.season(season.year, season.month):
        assert begun.entry.air_date is not None
        days[begun.entry.air_date.isoweekday()].cards.append(Card.of_entry(begun))
    return list(days.values())


def _from(today: date) -> list[int]:
    """The days of the week, today first."""
    first = today.isoweekday()
    return [*range(first, 8), *range(1, first)]

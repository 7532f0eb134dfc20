"""The calendar of followed shows: which of their episodes are shown on each day of a week, and whether they are there."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from typing import Final

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.summaries import CatalogSummaries, RecentEpisode
from kurabito.clock import to_datetime
from kurabito.errors import InvalidInput
from kurabito.metadata import MetadataService
from kurabito.reasons import InputReason, refused
from kurabito.site.routing import Router
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShowTitles

PATH: Final = "/calendar/shows"
_WEEK: Final = timedelta(days=7)
_EPISODES: Final = 1_000
_YEARS: Final = range(1900, 2101)


def router(pages: Pages, catalog: Catalog, summaries: CatalogSummaries, metadata: MetadataService) -> Router:
    """A week from today on, or from another day."""
    routes, named = Router(), ShowTitles(pages, catalog, metadata)

    @routes.get(PATH)
    async def week(request: Request) -> Response:
        now = to_datetime(pages.clock.now())
        first = _day_of(request.query_params.get("from", "")) or now.date()
        begin = datetime.combine(first, time(), UTC)
        airing = await summaries.airing(before=now - begin, after=begin + _WEEK - now, limit=_EPISODES)
        return pages.show(
            request,
            "agenda.html",
            days=[(day, list(some)) for day, some in groupby(airing, key=_shown_on)],
            shows=await named.several(request, (one.series_id for one in airing)),
            today=now.date(),
            first=first,
            is_this_week=first == now.date(),
            earlier=first - _WEEK,
            later=first + _WEEK,
            has_shows=await summaries.has_shows(),
        )

    return routes


def _shown_on(episode: RecentEpisode) -> date:
    return episode.at.date()


def _day_of(text: str) -> date | None:
    """The day that an address names; raises InvalidInput."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.year not in _YEARS:
        raise InvalidInput("from", "must be a day such as 2026-11-18", refused(InputReason.DAY))
    return day

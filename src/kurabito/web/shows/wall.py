"""*Shows*: the wall of posters, each with how much of it is there; what is new in feeds is asked about first."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response
from starlette.datastructures import QueryParams

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.states import EpisodeState, SeriesKind, SeriesOrder, SeriesState, SeriesWish
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.library.service import LibraryService
from kurabito.metadata import MetadataService
from kurabito.site.routing import Router
from kurabito.web.forms import id_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import shown_shows

_POSTERS: Final = 60
_QUESTIONS: Final = 50
_LONGEST_SEARCH: Final = 200
_YEARS: Final = range(10_000)
_QUARTERS: Final = {str(number): number for number in range(1, 5)}
_LACKS: Final = {"yes": True, "no": False}
_HAD: Final = (EpisodeState.HAVE, EpisodeState.DOWNLOADED)


@dataclass(frozen=True, slots=True)
class WallFilter:
    """Which shows are on the wall."""

    state: SeriesState
    name: str
    kind: SeriesKind | None
    year: int | None
    library_id: int | None
    quarter: int | None
    """Of the year in which a show began, from 1: anime begins in seasons."""
    lacks: bool | None
    """Whether episodes that were shown are missing."""
    order: SeriesOrder

    @classmethod
    def of(cls, asked: QueryParams) -> WallFilter:
        kind, year, library = (asked.get(name) or None for name in ("kind", "year", "library"))
        known_year = int(year) if year is not None and year.isdecimal() and int(year) in _YEARS else None
        return cls(
            one_of(SeriesState, "state", asked.get("state") or SeriesState.FOLLOWED),
            asked.get("name", "").strip()[:_LONGEST_SEARCH],
            None if kind is None else one_of(SeriesKind, "kind", kind),
            known_year,
            None if library is None else id_of(library),
            _QUARTERS.get(asked.get("season", "")),
            _LACKS.get(asked.get("lacks", "")),
            one_of(SeriesOrder, "order", asked.get("order") or SeriesOrder.NEWEST),
        )

    @property
    def is_narrow(self) -> bool:
        """Whether some shows of the state are left out."""
        return bool(self.name) or any(
            one is not None for one in (self.kind, self.year, self.library_id, self.quarter, self.lacks)
        )


@dataclass(frozen=True, slots=True)
class ShowExtent:
    """How much of a show is there."""

    had: int
    aired: int
    """What could be there: all but what is not shown yet, or not wanted."""
    under_way: int

    @classmethod
    def of(cls, counted: Mapping[EpisodeState, int]) -> ShowExtent:
        known = sum(counted.values())
        had = sum(counted.get(state, 0) for state in _HAD)
        absent = counted.get(EpisodeState.UNAIRED, 0) + counted.get(EpisodeState.UNWANTED, 0)
        return cls(had, known - absent, counted.get(EpisodeState.DOWNLOADING, 0))

    @property
    def tone(self) -> str:
        """What the bar below a poster means."""
        if self.under_way:
            return "active"
        return "good" if self.had >= self.aired else "warning"


def router(
    pages: Pages,
    catalog: Catalog,
    summaries: CatalogSummaries,
    metadata: MetadataService,
    libraries: LibraryService,
) -> Router:
    """The wall."""
    routes = Router()

    @routes.get("/series")
    async def wall(request: Request) -> Response:
        asked, cursor = WallFilter.of(request.query_params), request.query_params.get("cursor")
        page, waiting = await asyncio.gather(
            catalog.series(
                state=asked.state,
                limit=_POSTERS,
                cursor=cursor,
                name=asked.name or None,
                kind=asked.kind,
                year=asked.year,
                library_id=asked.library_id,
                quarter=asked.quarter,
                lacks=asked.lacks,
                order=asked.order,
            ),
            catalog.series(state=SeriesState.ASKED, limit=_QUESTIONS),
        )
        # A reader who comes for what is followed is asked first about what is new.
        asks_first = asked.state is SeriesState.FOLLOWED and cursor is None and not asked.is_narrow
        questions = waiting.items if asks_first else ()
        lang = pages.words(request).catalogue.tag
        shows, asked_about, counted = await asyncio.gather(
            shown_shows(metadata, page.items, lang),
            shown_shows(metadata, questions, lang),
            summaries.progress(one.id for one in (*page.items, *questions)),
        )
        return pages.show(
            request,
            "series_list.html",
            shows=shows,
            next_cursor=page.next_cursor,
            questions=asked_about,
            progress=counted,
            extents={one: ShowExtent.of(counted.get(one, Counter())) for one in counted},
            asked=asked,
            states=tuple(SeriesState),
            waiting=len(waiting.items),
            more_waiting=waiting.next_cursor is not None,
            cursor=cursor,
            kinds=tuple(SeriesKind),
            orders=tuple(SeriesOrder),
            libraries=(await libraries.by_id()).values(),
            wants=tuple(SeriesWish),
        )

    return routes

"""*Choose a match*: search for a title wherever it is known, and take it for some folders, for a series, or for what a record was for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response
from starlette.datastructures import QueryParams

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.matching.model import FolderMatch, MatchState
from kurabito.catalog.matching.service import Matches
from kurabito.catalog.series import Series
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.errors import InvalidInput
from kurabito.metadata import MetadataService
from kurabito.metadata.calendar import CalendarService
from kurabito.metadata.records import Details, Metadata
from kurabito.metadata.search import FoundTitles, MetadataSearch
from kurabito.reasons import InputReason, refused
from kurabito.site.routing import Router
from kurabito.web.forms import id_of, text_of_ids, values_of
from kurabito.web.pages import Pages
from kurabito.web.shows.cards import CardNames

_MOST_FOLDERS: Final = 50
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class ChoiceParts:
    """What the search and the choice ask."""

    matches: Matches
    search: MetadataSearch
    catalog: Catalog
    summaries: CatalogSummaries
    metadata: MetadataService
    calendar: CalendarService


@dataclass(frozen=True, slots=True)
class IdentifiedThings:
    """What a title is chosen for: folders, a series, or everything that a record says what it is."""

    folders: Sequence[FolderMatch] = ()
    series: Series | None = None
    record: Metadata | None = None

    @property
    def name(self) -> str:
        """What is searched for at first: what it was understood as."""
        if self.series is not None:
            return self.series.title
        if self.record is not None:
            return next(iter(self.record.details.titles), "")
        names = self.folders[0].reading.names or self.folders[0].reading.names_of_files
        return names[0].shown if names else ""


def router(pages: Pages, parts: ChoiceParts) -> Router:
    """The search, and the choice."""
    routes = Router()
    search, matches = parts.search, parts.matches

    @routes.get("/matches/search")
    async def find(request: Request) -> Response:
        asked = request.query_params
        things = await _things(parts, asked)
        text = (asked.get("text") or "").strip()[:_LONGEST] or things.name
        found = await search.search(text) if text.isprintable() and text else FoundTitles(())
        return pages.show(
            request,
            "choose.html",
            folders=things.folders,
            series=things.series,
            record=things.record,
            text=text,
            found=found,
            names_of=CardNames.of,
            has_index=bool(await parts.calendar.years()),
            asks_tmdb=parts.metadata.asks_tmdb,
        )

    @routes.post("/matches/search/choose")
    async def choose(request: Request) -> Response:
        asked = await values_of(request)
        title = await search.details_of("".join(asked.get("key", ())[-1:]))
        if series := asked.get("series"):
            series_id = id_of(series[-1])
            await matches.choose_for_series(series_id, title)
            return pages.go(f"/series/{series_id}")
        if record := asked.get("record"):
            return pages.go(await _choose_for_record(parts, id_of(record[-1]), title))
        folders = _ids(asked.get("folder", ()))
        before = await asyncio.gather(*map(matches.get, folders))
        await matches.choose_title(folders, title)
        done = "chosen" if all(one.state is MatchState.OPEN for one in before) else "changed"
        return pages.go_back_saying("", f"/matches?state={MatchState.CHOSEN}", **{done: text_of_ids(folders)})

    return routes


async def _things(parts: ChoiceParts, asked: QueryParams) -> IdentifiedThings:
    if series := asked.get("series"):
        return IdentifiedThings(series=await parts.catalog.get(id_of(series)))
    if record := asked.get("record"):
        return IdentifiedThings(record=await parts.metadata.get(id_of(record)))
    folders = await asyncio.gather(*(parts.matches.get(one) for one in _ids(asked.getlist("folder"))))
    return IdentifiedThings(folders)


async def _choose_for_record(parts: ChoiceParts, metadata_id: int, title: int | Details) -> str:
    """Take a title for everything that a record was for; where that is shown."""
    uses = await parts.summaries.of_record(metadata_id)
    if not uses.series_ids and not uses.match_ids:
        problem = "nothing uses this record any more; choose for a series or a folder"
        raise InvalidInput("record", problem, refused(InputReason.GONE))
    for series_id in uses.series_ids:
        await parts.matches.choose_for_series(series_id, title)
    if uses.match_ids:
        await parts.matches.choose_title(uses.match_ids, title)
    return f"/series/{uses.series_ids[0]}" if uses.series_ids else "/matches?state=chosen"


def _ids(folders: Sequence[str]) -> list[int]:
    if not folders:
        raise InvalidInput("folder", "select one folder or more", refused(InputReason.NONE_CHOSEN))
    if len(folders) > _MOST_FOLDERS:
        problem = f"select no more than {_MOST_FOLDERS} folders at a time"
        raise InvalidInput("folder", problem, refused(InputReason.TOO_MANY, most=_MOST_FOLDERS))
    return [id_of(one) for one in dict.fromkeys(folders)]

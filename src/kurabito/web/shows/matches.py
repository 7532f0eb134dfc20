"""*Matches*: folders whose names do not say for certain what is in them, and what they may be; a person says it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.identity.service import Questions
from kurabito.catalog.matching.model import AGAINST, FolderMatch, MatchState
from kurabito.catalog.matching.service import MATCH, Matches
from kurabito.catalog.states import SeriesState
from kurabito.downloads.wanted.service import WantedList
from kurabito.library.service import LibraryService
from kurabito.metadata import CalendarService, MetadataService
from kurabito.metadata.records import Metadata
from kurabito.runtime import Queue
from kurabito.site.routing import Router
from kurabito.web.forms import fields_of, id_cursor, id_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.shows.cards import CardNames

_FOLDERS: Final = 20


def router(
    pages: Pages,
    matches: Matches,
    metadata: MetadataService,
    calendar: CalendarService,
    libraries: LibraryService,
    catalog: Catalog,
    questions: Questions,
    wanted: WantedList,
    queue: Queue,
) -> Router:
    """The folders, and what can be said of each."""
    routes = Router()

    @routes.get("/matches")
    async def overview(request: Request) -> Response:
        asked = request.query_params
        state, cursor = one_of(MatchState, "state", asked.get("state") or MatchState.OPEN), id_cursor(request)
        page, known, series, asked_about, looks, indexed = await asyncio.gather(
            matches.page(state=state, limit=_FOLDERS, cursor=cursor),
            libraries.by_id(),
            catalog.series(state=SeriesState.ASKED, limit=1),
            questions.count_open(),
            queue.list(task_type=MATCH, limit=1),
            calendar.years(),
        )
        return pages.show(
            request,
            "matches.html",
            page=page,
            records=await _records(metadata, page.items),
            libraries=known,
            state=state,
            states=tuple(MatchState),
            cursor=cursor,
            asks_about_series=bool(series.items),
            asks_about_releases=asked_about,
            asks_for_room=await wanted.count_asking(),
            has_index=bool(indexed),
            asks_tmdb=metadata.asks_tmdb,
            look=looks.items[0] if looks.items else None,
            names_of=CardNames.of,
            against=AGAINST,
        )

    _decisions(routes, pages, matches)
    return routes


def _decisions(routes: Router, pages: Pages, matches: Matches) -> None:
    """What can be said of a folder."""

    @routes.post("/matches/look")
    async def look_again() -> Response:
        await matches.look_again()
        return pages.go("/matches")

    @routes.post("/matches/{match_id}/choose")
    async def choose(request: Request, match_id: str) -> Response:
        asked = await fields_of(request)
        await matches.choose(id_of(match_id), asked.get("choice", ""))
        return back(asked)

    @routes.post("/matches/{match_id}/ignore")
    async def ignore(request: Request, match_id: str) -> Response:
        await matches.ignore(id_of(match_id))
        return back(await fields_of(request))

    @routes.post("/matches/{match_id}/reopen")
    async def reopen(request: Request, match_id: str) -> Response:
        await matches.reopen(id_of(match_id))
        return back(await fields_of(request))

    def back(asked: Mapping[str, str]) -> Response:
        """Where the button stood."""
        return pages.go_back(asked, "/matches")


async def _records(metadata: MetadataService, folders: Sequence[FolderMatch]) -> dict[int, Metadata]:
    """The records that folders are about, or may be: what is known of them now, and their posters."""
    own = {folder.metadata_id for folder in folders}
    offered = {one.metadata_id for folder in folders for one in folder.candidates}
    return await metadata.several(record for record in own | offered if record is not None)

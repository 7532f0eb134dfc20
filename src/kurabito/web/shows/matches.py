"""*Matches*: folders whose names do not say for certain what is in them, and what they may be; a person says it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response
from starlette.datastructures import QueryParams

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
from kurabito.web.forms import Form, fields_of, id_cursor, id_of, ids_of_text, one_of, text_of_ids
from kurabito.web.pages import Pages
from kurabito.web.shows.cards import CardNames

_FOLDERS: Final = 20
DONE: Final = {"ignored": True, "chosen": True, "changed": False}
"""What an address can say of folders, and whether it can be undone: what they were matched with before is not kept."""


@dataclass(frozen=True, slots=True)
class MatchesDone:
    """What the reader has just done with folders."""

    name: str
    folders: Sequence[int]

    @classmethod
    def of(cls, asked: QueryParams) -> MatchesDone | None:
        """As the address tells of it."""
        return next((cls(name, ids_of_text(asked[name])) for name in DONE if asked.get(name)), None)

    @property
    def may_undo(self) -> bool:
        return DONE[self.name]


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
            said=MatchesDone.of(asked),
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
        chosen = await matches.choose(id_of(match_id), asked.get("choice", ""))
        return back(asked, chosen=text_of_ids([chosen.id]))

    @routes.post("/matches/{match_id}/ignore")
    async def ignore(request: Request, match_id: str) -> Response:
        ignored = await matches.ignore(id_of(match_id))
        return back(await fields_of(request), ignored=text_of_ids([ignored.id]))

    @routes.post("/matches/{match_id}/reopen")
    async def reopen(request: Request, match_id: str) -> Response:
        await matches.reopen(id_of(match_id))
        return back(await fields_of(request))

    @routes.post("/matches/ignore")
    async def ignore_several(request: Request) -> Response:
        sent = await Form.sent(request)
        ignored = [await matches.ignore(id_of(one)) for one in sent.values("folder")]
        return back({"next": sent.value("next")}, ignored=text_of_ids(one.id for one in ignored))

    @routes.post("/matches/reopen")
    async def reopen_several(request: Request) -> Response:
        sent = await Form.sent(request)
        for one in sent.values("folder"):
            await matches.reopen(id_of(one))
        return back({"next": sent.value("next")})

    def back(asked: Mapping[str, str], **said: str | None) -> Response:
        """Where the button stood, with what was done."""
        return pages.go_back_saying(asked.get("next", ""), "/matches", **{**dict.fromkeys(DONE), **said})


async def _records(metadata: MetadataService, folders: Sequence[FolderMatch]) -> dict[int, Metadata]:
    """The records that folders are about, or may be: what is known of them now, and their posters."""
    own = {folder.metadata_id for folder in folders}
    offered = {one.metadata_id for folder in folders for one in folder.candidates}
    return await metadata.several(record for record in own | offered if record is not None)

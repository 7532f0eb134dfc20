"""*Shows*: the wall of posters, each with how much of it is there; what is new in feeds is asked about first.

Several shows can be chosen on it and edited together: what is downloaded of them, their profile and their library.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fastapi import Request, Response
from starlette.datastructures import QueryParams

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.series import SeriesFilter
from kurabito.catalog.states import SeriesKind, SeriesOrder, SeriesShelf, SeriesState, SeriesWish
from kurabito.catalog.summaries import CatalogSummaries, ShowExtent
from kurabito.downloads.edits.model import SeriesEdit, StoredEdit
from kurabito.downloads.edits.service import SeriesEdits
from kurabito.downloads.errors import SeriesEditNotFound
from kurabito.downloads.profiles.service import ReleaseProfiles
from kurabito.library.service import LibraryService
from kurabito.metadata import MetadataService
from kurabito.site.routing import Router
from kurabito.web.forms import Form, id_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import shown_shows
from kurabito.web.tone import Tone

_POSTERS: Final = 60
_QUESTIONS: Final = 50
_LONGEST_SEARCH: Final = 200
_YEAR: Final = re.compile("[0-9]{1,4}")
_QUARTERS: Final = {str(number): number for number in range(1, 5)}
_YES_OR_NO: Final = {"yes": True, "no": False}
_EDITED: Final = "edited"
_ANY: Final = "any"
"""A choice that leaves it to the default."""


class WallView(StrEnum):
    """A part of the wall that has a tab of its own."""

    COLLECTION = "collection"
    """What is followed or in a library."""
    ASKED = "asked"
    IGNORED = "ignored"
    """What is neither followed nor in a library."""


# What a view lists, by whether only what is followed is asked for, or only what is not.
_LISTED: Final[Mapping[tuple[WallView, bool | None], SeriesFilter]] = {
    (WallView.COLLECTION, None): {"shelf": SeriesShelf.COLLECTION},
    (WallView.COLLECTION, True): {"state": SeriesState.FOLLOWED},
    (WallView.COLLECTION, False): {"shelf": SeriesShelf.LIBRARY_ONLY},
    (WallView.ASKED, None): {"state": SeriesState.ASKED},
    (WallView.IGNORED, None): {"shelf": SeriesShelf.NOT_FOLLOWED},
}


@dataclass(frozen=True, slots=True)
class WallFilter:
    """Which shows are on the wall."""

    view: WallView
    followed: bool | None
    """Whether only what is followed of a collection is listed, or only what is not."""
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
    def of(cls, asked: QueryParams | Mapping[str, str]) -> WallFilter:
        # An address of before the collection had its own view.
        is_old = asked.get("state") == SeriesState.FOLLOWED
        view = WallView.COLLECTION if is_old else one_of(WallView, "state", asked.get("state") or WallView.COLLECTION)
        kind, year, library = (asked.get(name) or None for name in ("kind", "year", "library"))
        known_year = int(year) if year is not None and _YEAR.fullmatch(year) else None
        return cls(
            view,
            _YES_OR_NO.get("yes" if is_old else asked.get("followed", "")) if view is WallView.COLLECTION else None,
            asked.get("name", "").strip()[:_LONGEST_SEARCH],
            None if kind is None else one_of(SeriesKind, "kind", kind),
            known_year,
            None if library is None else id_of(library),
            _QUARTERS.get(asked.get("season", "")),
            _YES_OR_NO.get(asked.get("lacks", "")),
            one_of(SeriesOrder, "order", asked.get("order") or SeriesOrder.NEWEST),
        )

    @property
    def is_narrow(self) -> bool:
        """Whether some shows of the view are left out."""
        narrowing = (self.followed, self.kind, self.year, self.library_id, self.quarter, self.lacks)
        return bool(self.name) or any(one is not None for one in narrowing)

    @property
    def listed(self) -> SeriesFilter:
        """The same as the catalog is asked for it."""
        return {
            **_LISTED[self.view, self.followed],
            "name": self.name or None,
            "kind": self.kind,
            "year": self.year,
            "library_id": self.library_id,
            "quarter": self.quarter,
            "lacks": self.lacks,
        }


@dataclass(frozen=True, slots=True)
class WallParts:
    """What the wall asks, beside the catalog."""

    summaries: CatalogSummaries
    metadata: MetadataService
    libraries: LibraryService
    profiles: ReleaseProfiles
    edits: SeriesEdits


def router(pages: Pages, catalog: Catalog, parts: WallParts) -> Router:
    """The wall."""
    routes = Router()
    _edit_routes(routes, pages, parts.edits)

    @routes.get("/series")
    async def wall(request: Request) -> Response:
        asked, cursor = WallFilter.of(request.query_params), request.query_params.get("cursor")
        page, waiting = await asyncio.gather(
            catalog.series(limit=_POSTERS, cursor=cursor, order=asked.order, **asked.listed),
            catalog.series(state=SeriesState.ASKED, limit=_QUESTIONS),
        )
        # A reader who comes for the collection is asked first about what is new.
        asks_first = asked.view is WallView.COLLECTION and cursor is None and not asked.is_narrow
        questions = waiting.items if asks_first else ()
        lang = pages.words(request).catalogue.tag
        shows, asked_about, counted = await asyncio.gather(
            shown_shows(parts.metadata, page.items, lang),
            shown_shows(parts.metadata, questions, lang),
            parts.summaries.progress(one.id for one in (*page.items, *questions)),
        )
        return pages.show(
            request,
            "series_list.html",
            shows=shows,
            next_cursor=page.next_cursor,
            questions=asked_about,
            progress=counted,
            extents={one: ShowExtent.of(states) for one, states in counted.items()},
            tone_of_extent=_tone,
            asked=asked,
            filters=request.query_params,
            views=tuple(WallView),
            waiting=len(waiting.items),
            more_waiting=waiting.next_cursor is not None,
            cursor=cursor,
            orders=tuple(SeriesOrder),
            libraries=await parts.libraries.by_id(),
            profiles={one.id: one for one in await parts.profiles.everything()},
            edited=await _edited(request, parts.edits),
            wishes=tuple(SeriesWish),
        )

    return routes


def _edit_routes(routes: Router, pages: Pages, edits: SeriesEdits) -> None:
    """Several shows are edited, and are as they were before."""

    def back(sent: Form, edit_id: int) -> Response:
        """The page where the button stood, with a word about what was done."""
        return pages.go_back_saying(sent.value("next"), "/series", **{_EDITED: edit_id})

    @routes.post("/series/edits")
    async def edit(request: Request) -> Response:
        sent = await Form.sent(request)
        chosen = _chosen(sent)
        if not chosen:
            return pages.go(pages.addresses.within(sent.value("next") or "/series"))
        if sent.is_checked("listed"):
            listed = WallFilter.of({name: sent.value(name) for name in sent.typed}).listed
            made = await edits.edit_listed(chosen, **listed)
        else:
            made = await edits.edit([id_of(one) for one in sent.values("series_id")], chosen)
        return back(sent, made.id)

    @routes.post("/series/edits/{edit_id}/undo")
    async def undo(request: Request, edit_id: str) -> Response:
        sent = await Form.sent(request)
        await edits.undo(id_of(edit_id))
        return back(sent, id_of(edit_id))


def _tone(extent: ShowExtent) -> Tone:
    """What the bar below a poster means."""
    if extent.under_way:
        return Tone.ACTIVE
    return Tone.GOOD if extent.had >= extent.aired else Tone.WARNING


def _chosen(sent: Form) -> SeriesEdit:
    """What the form says; a field that nothing is chosen in leaves the shows as they are."""
    chosen = SeriesEdit()
    if wanted := sent.value("wanted"):
        chosen["wanted"] = one_of(SeriesWish, "wanted", wanted)
    if library := sent.value("to_library"):
        chosen["library_id"] = None if library == _ANY else id_of(library)
    if profile := sent.value("profile"):
        chosen["profile_id"] = None if profile == _ANY else id_of(profile)
    return chosen


async def _edited(request: Request, edits: SeriesEdits) -> StoredEdit | None:
    """What the reader has just done, if the address tells of it; a word about an edit that is forgotten is none."""
    edit_id = request.query_params.get(_EDITED)
    if not edit_id:
        return None
    try:
        return await edits.get(id_of(edit_id))
    except SeriesEditNotFound:
        return None

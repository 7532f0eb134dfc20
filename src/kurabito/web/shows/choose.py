"""*Choose a match*: search for a title wherever it is known, and take it for some folders or for a series."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.matching.model import FolderMatch
from kurabito.catalog.matching.service import Matches
from kurabito.catalog.series import Series
from kurabito.errors import InvalidInput
from kurabito.metadata.search import FoundTitles, MetadataSearch
from kurabito.web.forms import id_of, values_of
from kurabito.web.pages import Pages
from kurabito.web.shows.cards import CardNames

_MOST_FOLDERS: Final = 50
_LONGEST: Final = 200


def router(pages: Pages, matches: Matches, search: MetadataSearch, catalog: Catalog) -> APIRouter:
    """The search, and the choice."""
    routes = APIRouter()

    @routes.get("/matches/search")
    async def find(request: Request) -> Response:
        asked = request.query_params
        folders, series = await _chosen_for(matches, catalog, asked.getlist("folder"), asked.get("series"))
        text = (asked.get("text") or "").strip()[:_LONGEST] or _name_of(folders, series)
        found = await search.search(text) if text.isprintable() and text else FoundTitles(())
        return pages.show(
            request,
            "choose.html",
            folders=folders,
            series=series,
            text=text,
            found=found,
            names_of=CardNames.of,
        )

    @routes.post("/matches/search/choose")
    async def choose(request: Request) -> Response:
        asked = await values_of(request)
        title = await search.details_of("".join(asked.get("key", ())[-1:]))
        if series := asked.get("series"):
            series_id = id_of(series[-1])
            await matches.choose_for_series(series_id, title)
            return pages.go(f"/series/{series_id}")
        await matches.choose_title(_ids(asked.get("folder", ())), title)
        return pages.go("/matches?state=chosen")

    return routes


async def _chosen_for(
    matches: Matches, catalog: Catalog, folders: Sequence[str], series: str | None
) -> tuple[list[FolderMatch], Series | None]:
    if series:
        return [], await catalog.get(id_of(series))
    return await asyncio.gather(*(matches.get(one) for one in _ids(folders))), None


def _ids(folders: Sequence[str]) -> list[int]:
    if not folders:
        raise InvalidInput("folder", "select one folder or more")
    if len(folders) > _MOST_FOLDERS:
        raise InvalidInput("folder", f"select no more than {_MOST_FOLDERS} folders at a time")
    return [id_of(one) for one in dict.fromkeys(folders)]


def _name_of(folders: Sequence[FolderMatch], series: Series | None) -> str:
    """What is searched for at first: what the folder was understood as."""
    if series is not None:
        return series.title
    names = folders[0].reading.names or folders[0].reading.names_of_files
    return names[0].shown if names else ""

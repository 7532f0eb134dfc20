"""The folders of a library: what lies in each, with pictures, as a grid or as a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.library.folders import Folders
from kurabito.library.service import LibraryService
from kurabito.metadata import MetadataService
from kurabito.site.routing import Router
from kurabito.web.forms import id_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShownSeries, shown_shows

# Rows of two, three, four, five or six are full.
_ENTRIES: Final = 60


class View(StrEnum):
    """How a folder is shown."""

    GRID = "grid"
    LIST = "list"


class Crumb(NamedTuple):
    """A folder on the way from the library to where the reader is."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class FolderParts:
    """What the page of a folder asks."""

    libraries: LibraryService
    folders: Folders
    catalog: Catalog
    summaries: CatalogSummaries
    metadata: MetadataService


def router(pages: Pages, parts: FolderParts) -> Router:
    """One folder after another; which one, is in the query, because names may be anything."""
    routes = Router()

    @routes.get("/library/{library_id}/folders")
    async def folder(request: Request, library_id: str) -> Response:
        asked = request.query_params
        path, cursor = asked.get("folder", ""), asked.get("cursor")
        summary = await parts.libraries.get(id_of(library_id))
        page = await parts.folders.look_into(summary.library.id, path, limit=_ENTRIES, cursor=cursor)
        named = [*([path] if path else []), *(inner.path for inner in page.folders)]
        shows = await _shows(parts, summary.library.id, named, pages.words(request).catalogue.tag)
        return pages.show(
            request,
            "library_folder.html",
            library=summary.library,
            folder=path,
            way=list(_way(path)),
            page=page,
            shows=shows,
            match_id=await parts.summaries.match_of_folder(summary.library.id, path) if path else None,
            cursor=cursor,
            view=View.LIST if asked.get("view") == View.LIST else View.GRID,
            views=tuple(View),
        )

    return routes


async def _shows(parts: FolderParts, library_id: int, folders: list[str], lang: str) -> Mapping[str, ShownSeries]:
    """The shows that these folders are of, by the folders. A folder with several shows in it is of the first."""
    found = await parts.summaries.shows_of_folders(library_id, folders)
    known = await parts.catalog.several(found.values())
    shown = {one.id: one for one in await shown_shows(parts.metadata, list(known.values()), lang)}
    return {folder: shown[series_id] for folder, series_id in found.items() if series_id in shown}


def _way(path: str) -> Iterator[Crumb]:
    """The folders down to this one."""
    names = path.split("/") if path else []
    for depth, name in enumerate(names, start=1):
        yield Crumb(name, "/".join(names[:depth]))

"""The folders of a library: what lies in each, with pictures, as a grid or as a list."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from fastapi import APIRouter, Request, Response

from kurabito.library.folders import Folders
from kurabito.library.service import LibraryService
from kurabito.web.forms import id_of
from kurabito.web.pages import Pages

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


def router(pages: Pages, libraries: LibraryService, folders: Folders) -> APIRouter:
    """One folder after another; which one, is in the query, because names may be anything."""
    routes = APIRouter()

    @routes.get("/library/{library_id}/folders")
    async def folder(request: Request, library_id: str) -> Response:
        asked = request.query_params
        path, cursor = asked.get("folder", ""), asked.get("cursor")
        summary = await libraries.get(id_of(library_id))
        return pages.show(
            request,
            "library_folder.html",
            library=summary.library,
            folder=path,
            way=list(_way(path)),
            page=await folders.look_into(summary.library.id, path, limit=_ENTRIES, cursor=cursor),
            cursor=cursor,
            view=View.LIST if asked.get("view") == View.LIST else View.GRID,
            views=tuple(View),
        )

    return routes


def _way(path: str) -> Iterator[Crumb]:
    """The folders down to this one."""
    names = path.split("/") if path else []
    for depth, name in enumerate(names, start=1):
        yield Crumb(name, "/".join(names[:depth]))

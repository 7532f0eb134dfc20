"""*Not adopted*: the videos of libraries that no episode has, and why."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.placements.adoption.service import Adoptions
from kurabito.web.forms import id_cursor
from kurabito.web.pages import Pages

_FILES: Final = 100


def router(pages: Pages, adoptions: Adoptions) -> APIRouter:
    """The list."""
    routes = APIRouter()

    @routes.get("/adoption")
    async def unadopted(request: Request) -> Response:
        cursor = id_cursor(request)
        page = await adoptions.unadopted(limit=_FILES, cursor=cursor)
        return pages.show(request, "adoption.html", page=page, cursor=cursor)

    return routes

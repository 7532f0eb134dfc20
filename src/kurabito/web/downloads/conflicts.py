"""Episodes whose release a person still has to choose, and the choice."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.downloads.conflicts import Conflicts
from kurabito.site.routing import Router
from kurabito.web.forms import fields_of, id_cursor, id_of
from kurabito.web.pages import Pages

_PATH: Final = "/downloads/conflicts"
_CONFLICTS: Final = 50


def router(pages: Pages, conflicts: Conflicts) -> Router:
    """The episodes that wait for a choice."""
    routes = Router()

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        cursor = id_cursor(request)
        page = await conflicts.page(limit=_CONFLICTS, cursor=cursor)
        return pages.show(
            request,
            "conflicts.html",
            conflicts=page.items,
            cursor=cursor,
            next_cursor=page.next_cursor,
        )

    @routes.post(f"{_PATH}/{{conflict_id}}")
    async def resolve(request: Request, conflict_id: str) -> Response:
        asked = await fields_of(request)
        await conflicts.resolve(id_of(conflict_id), id_of(asked.get("link_id", "")))
        return pages.go_back(asked, _PATH)

    return routes

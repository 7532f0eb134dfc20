"""Releases that failed: why, until when they are not taken, and how to take them off the list."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.downloads.blocklist.service import Blocklist
from kurabito.site.routing import Router
from kurabito.web.forms import id_cursor, id_of
from kurabito.web.pages import Pages

_PATH: Final = "/downloads/blocklist"
_SHOWN: Final = 50


def router(pages: Pages, blocklist: Blocklist) -> Router:
    """The blocked releases."""
    routes = Router()

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        cursor = id_cursor(request)
        page = await blocklist.page(limit=_SHOWN, cursor=cursor)
        return pages.show(request, "blocklist.html", blocked=page.items, cursor=cursor, next_cursor=page.next_cursor)

    @routes.post(f"{_PATH}/clear")
    async def clear_all() -> Response:
        await blocklist.clear_all()
        return pages.go(_PATH)

    @routes.post(f"{_PATH}/{{block_id}}/clear")
    async def clear(block_id: str) -> Response:
        await blocklist.clear(id_of(block_id))
        return pages.go(_PATH)

    return routes

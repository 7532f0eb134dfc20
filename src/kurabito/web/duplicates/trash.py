"""*Trash*: what was moved away, until when, and the way back."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import Request, Response

from kurabito.library.deletion.trash import Trash
from kurabito.library.service import LibraryService
from kurabito.site.routing import Router
from kurabito.web.forms import fields_of
from kurabito.web.pages import Pages

_ENTRIES: Final = 50


def router(pages: Pages, libraries: LibraryService, trash: Trash) -> Router:
    """The trash of all libraries."""
    routes = Router()

    @routes.get("/trash")
    async def entries(request: Request) -> Response:
        cursor = request.query_params.get("cursor")
        page, known = await asyncio.gather(trash.entries(limit=_ENTRIES, cursor=cursor), libraries.by_id())
        return pages.show(
            request,
            "trash.html",
            page=page,
            cursor=cursor,
            libraries=known,
            is_purged=trash.may_purge,
            under_way=any(entry.is_leaving for entry in page.items),
        )

    @routes.post("/trash/restore")
    async def restore_all() -> Response:
        await trash.restore_all()
        return pages.go("/trash")

    @routes.post("/trash/{entry_id}/restore")
    async def restore(request: Request, entry_id: str) -> Response:
        asked = await fields_of(request)
        await trash.restore(entry_id)
        return pages.go_back(asked, "/trash")

    return routes

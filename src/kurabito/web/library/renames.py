"""What the naming of a library would rename: shown in full, applied, and undone."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.library.service import LibraryService
from kurabito.placements.renames.service import Renames
from kurabito.site.routing import Router
from kurabito.web.forms import id_of
from kurabito.web.pages import Pages

_SHOWN: Final = 1000


def router(pages: Pages, libraries: LibraryService, renames: Renames) -> Router:
    """The page of renames of a library."""
    routes = Router()

    @routes.get("/library/{library_id}/renames")
    async def overview(request: Request, library_id: str) -> Response:
        found = id_of(library_id)
        kept = await libraries.get(found)
        preview = await renames.preview(found)
        return pages.show(
            request,
            "renames.html",
            library=kept.library,
            preview=preview,
            shown=preview.renames[:_SHOWN],
            past=await renames.past(found),
        )

    @routes.post("/library/{library_id}/renames")
    async def apply(request: Request, library_id: str) -> Response:
        await renames.apply(id_of(library_id))
        return pages.go(f"/library/{id_of(library_id)}/renames")

    @routes.post("/library/{library_id}/renames/{renaming_id}/undo")
    async def undo(request: Request, library_id: str, renaming_id: str) -> Response:
        await renames.undo(id_of(renaming_id))
        return pages.go(f"/library/{id_of(library_id)}/renames")

    return routes

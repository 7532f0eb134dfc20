"""What a person says about files on their way into a library: try it again, keep both, replace it, leave it."""

from __future__ import annotations

from fastapi import Request, Response

from kurabito.placements.filing.service import PlacementChoice, Placements
from kurabito.site.routing import Router
from kurabito.web.forms import fields_of, id_of, one_of
from kurabito.web.pages import Pages


def router(pages: Pages, placements: Placements) -> Router:
    """The actions on placements; they are shown on the page of their download."""
    routes = Router()

    @routes.post("/placements/{placement_id}/retry")
    async def retry(request: Request, placement_id: str) -> Response:
        asked = await fields_of(request)
        await placements.retry(id_of(placement_id))
        return pages.go_back(asked, "/downloads")

    @routes.post("/placements/{placement_id}/resolve")
    async def resolve(request: Request, placement_id: str) -> Response:
        asked = await fields_of(request)
        choice = one_of(PlacementChoice, "choice", asked.get("choice") or "")
        await placements.resolve(id_of(placement_id), choice)
        return pages.go_back(asked, "/downloads")

    @routes.post("/placements/{placement_id}/undo")
    async def undo(request: Request, placement_id: str) -> Response:
        asked = await fields_of(request)
        await placements.undo(id_of(placement_id))
        return pages.go_back(asked, "/downloads")

    return routes

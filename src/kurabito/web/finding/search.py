"""The search: a name, what the indexers have of it, and the button that downloads one of them."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.indexers.port import SearchQuery
from kurabito.indexers.service import LONGEST_TEXT, IndexerOutcome
from kurabito.web.forms import Form
from kurabito.web.pages import Pages

SHOWN: Final = 300
"""Results on the page; the API has them all."""
_FEED: Final = ("http://", "https://")


def router(pages: Pages, search: ReleaseSearch, grabs: ReleaseGrabs) -> APIRouter:
    """The search box and its results."""
    routes = APIRouter()

    @routes.get("/search")
    async def overview(request: Request) -> Response:
        text = " ".join(request.query_params.get("q", "").split())
        if text.startswith(_FEED):
            # A feed is followed, not searched for.
            return RedirectResponse(pages.addresses.to("/following/new", url=text), 303)
        outcomes: list[IndexerOutcome] = []
        found: tuple[FoundRelease, ...] = ()
        if text:
            async for progress in search.search(SearchQuery(text=text[:LONGEST_TEXT])):
                outcomes.append(progress.outcome)
                found = progress.releases
        return pages.show(
            request,
            "search.html",
            text=text[:LONGEST_TEXT],
            longest=LONGEST_TEXT,
            outcomes=outcomes,
            found=found[:SHOWN],
            further=max(0, len(found) - SHOWN),
        )

    @routes.post("/search/grab")
    async def grab(request: Request) -> Response:
        await grabs.grab((await Form.sent(request)).value("key"))
        return pages.go("/downloads")

    return routes

"""The search: a name or a link, what the indexers have of it, and the button that downloads one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse

from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.search.live_searches import RunningSearch, RunningSearches
from kurabito.downloads.search.pasted_links import LONGEST, is_pasted
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.http.errors import OutboundError
from kurabito.indexers.port import MOST_SPELLINGS, SearchQuery
from kurabito.indexers.service import LONGEST_TEXT
from kurabito.site.routing import Router
from kurabito.web.forms import Form, fields_of, id_of
from kurabito.web.pages import Pages

SHOWN: Final = 300
"""Results on the page; the API has them all."""
_PATIENCE: Final = 1.0
"""How long a page waits for the first answer."""


def router(pages: Pages, search: ReleaseSearch, running: RunningSearches, grabs: ReleaseGrabs) -> Router:
    """The search box and its results."""
    routes = Router()

    @routes.get("/search")
    async def overview(request: Request) -> Response:
        query = await query_of(search, request.query_params)
        if query is None:
            return _shown(pages, request, None, ())
        found = await begun(running, query)
        # A feed is followed, not searched for; and where a link cannot be opened, that page says what to do about its host.
        is_closed = isinstance(found.error, OutboundError)
        if (feed_url := query.text if is_closed else found.feed_url) is not None:
            return RedirectResponse(pages.addresses.to("/following/new", url=feed_url), 303)
        if found.error is not None:
            raise found.error
        return _shown(pages, request, found, await search.again(found.releases))

    @routes.get("/search/answers")
    async def answers(request: Request) -> Response:
        """An event for each answer; the page is fetched again then."""
        query = await query_of(search, request.query_params)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        events = _events(running.begin(query)) if query is not None else _nothing()
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    @routes.post("/links/{link_id}/grab")
    async def grab_link(request: Request, link_id: str) -> Response:
        asked = await fields_of(request)
        await grabs.grab_link(id_of(link_id))
        return pages.go_back(asked, "/downloads")

    @routes.post("/search/grab")
    async def grab(request: Request) -> Response:
        await grabs.grab((await Form.sent(request)).value("key"))
        return pages.go("/downloads")

    return routes


async def begun(running: RunningSearches, query: SearchQuery) -> RunningSearch:
    """The search with its first answer, if that does not take long; the page is told of the others."""
    found = running.begin(query)
    await found.changed(0, _PATIENCE)
    return found


async def query_of(search: ReleaseSearch, asked: QueryParams) -> SearchQuery | None:
    """What the address asks for: a text, or a series in all its names."""
    if asked.get("series"):
        number = asked.get("episode", "")
        return await search.for_series(id_of(asked["series"]), id_of(number) if number else None)
    text = " ".join(asked.get("q", "").split())
    if not text:
        return None
    if is_pasted(text):
        return SearchQuery(text=text)
    also = [" ".join(name.split())[:LONGEST_TEXT] for name in asked.getlist("also")[:MOST_SPELLINGS]]
    return SearchQuery(text=text[:LONGEST_TEXT], also=tuple(name for name in also if name))


def _shown(pages: Pages, request: Request, found: RunningSearch | None, releases: Sequence[FoundRelease]) -> Response:
    query = found.query if found else None
    return pages.show(
        request,
        "search.html",
        query=query,
        text=query.text if query else "",
        longest=LONGEST,
        outcomes=found.outcomes if found else (),
        is_done=found.is_done if found else True,
        asked=str(request.query_params),
        found=releases[:SHOWN],
        further=max(0, len(releases) - SHOWN),
    )


async def _events(found: RunningSearch) -> AsyncIterator[str]:
    seen = 0
    while not found.is_done:
        seen = await found.changed(seen)
        yield "event: found\ndata: {}\n\n"
    yield "event: done\ndata: {}\n\n"


async def _nothing() -> AsyncIterator[str]:
    yield "event: done\ndata: {}\n\n"

"""Which groups release a show, and the button that follows it as one of them does."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response

from kurabito.downloads.follow.offers import offers
from kurabito.downloads.follow.service import ShowFollower
from kurabito.downloads.follow.standby import SILENT_DAYS
from kurabito.downloads.search.live_searches import RunningSearches
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.site.routing import Router
from kurabito.web.finding.search import begun, query_of
from kurabito.web.forms import Form, count_of
from kurabito.web.pages import Pages

_PATH: Final = "/search/groups"
_LONGEST_SILENCE: Final = 365


def router(pages: Pages, search: ReleaseSearch, running: RunningSearches, follower: ShowFollower) -> Router:
    """The groups, and following."""
    routes = Router()

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        query = await query_of(search, request.query_params)
        if query is None:
            return pages.go("/search")
        found = await begun(running, query)
        if found.error is not None:
            raise found.error
        return pages.show(
            request,
            "groups.html",
            asked=str(request.query_params),
            offers=offers(await search.again(found.releases)),
            is_done=found.is_done,
            silent_days=SILENT_DAYS,
        )

    @routes.post(_PATH)
    async def follow(request: Request) -> Response:
        form = await Form.sent(request)
        days = count_of("silent_days", form.value("silent_days") or str(SILENT_DAYS), _LONGEST_SILENCE)
        made = await follower.follow(form.value("key"), form.value("standby") or None, max(1, days))
        return pages.go(f"/series/{made.series.id}")

    return routes

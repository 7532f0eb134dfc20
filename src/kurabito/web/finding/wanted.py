"""*Wanted*: missing episodes and those that could be better, by date or by show; and what would fetch them."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from fastapi import Request, Response
from starlette.datastructures import QueryParams

from kurabito.catalog.catalog import Catalog
from kurabito.downloads.search.grab import ReleaseGrabs
from kurabito.downloads.want_again import Wanting
from kurabito.downloads.wanted.service import WantedList
from kurabito.metadata import MetadataService
from kurabito.site.routing import Router
from kurabito.web.forms import Form, fields_of, id_of, ids_of_text, text_of_ids
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShowTitles

_PATH: Final = "/wanted"
_SHOWN: Final = 500
_PATIENCE: Final = 1.0
"""Seconds that the page waits for the indexers; then it says that they are asked."""
_BY_SHOW: Final = "show"
_SEARCHING: Final = "searching"
_SKIPPED: Final = "skipped"
_UNDONE: Final = "undone"
_AUTOMATIC: Final = {"on": True, "off": False, "all": None}


def router(
    pages: Pages,
    wanted: WantedList,
    wanting: Wanting,
    catalog: Catalog,
    metadata: MetadataService,
    grabs: ReleaseGrabs,
) -> Router:
    """What is wanted, and the search for it."""
    routes, named = Router(), ShowTitles(pages, catalog, metadata)
    _several(routes, pages, wanted, wanting)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        by_show = request.query_params.get("by") == _BY_SHOW
        found = await wanted.everything(limit=_SHOWN + 1)
        some = found[:_SHOWN]
        titles = await named.several(request, (one.series_id for one in some))
        shown = [one for one in some if one.series_id in titles]
        shows = sorted(shown, key=lambda one: (titles[one.series_id].title.casefold(), one.series_id, one.number))
        return pages.show(
            request,
            "wanted.html",
            wanted=shown,
            has_more=len(found) > _SHOWN,
            titles=titles,
            by_show=by_show,
            shows=[(series_id, list(of)) for series_id, of in groupby(shows, lambda one: one.series_id)],
            is_automatic=await wanted.is_automatic(),
            **_said(request.query_params),
        )

    @routes.post(f"{_PATH}/policy")
    async def policy(request: Request) -> Response:
        asked = await fields_of(request)
        await wanted.set_automatic(asked.get("is_automatic") == "on")
        return pages.go(_PATH)

    @routes.post("/series/{series_id}/automatic-search")
    async def of_series(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        await wanted.set_series_automatic(id_of(series_id), _AUTOMATIC.get(asked.get("is_automatic", "all")))
        return pages.go(f"/series/{id_of(series_id)}/backfill")

    @routes.get("/series/{series_id}/backfill")
    async def backfill(request: Request, series_id: str) -> Response:
        series = await named.one(request, id_of(series_id))
        plan = await wanted.backfill_within(series.id, _PATIENCE)
        chosen = await wanted.series_automatic(series.id)
        automatic = next((word for word, value in _AUTOMATIC.items() if value is chosen), "all")
        return pages.show(request, "backfill.html", series=series, plan=plan, automatic=automatic)

    @routes.post("/series/{series_id}/backfill")
    async def fetch(request: Request, series_id: str) -> Response:
        for key in (await Form.sent(request)).values("key"):
            await grabs.grab(key)
        return pages.go(f"/series/{id_of(series_id)}")

    return routes


def _several(routes: Router, pages: Pages, wanted: WantedList, wanting: Wanting) -> None:
    """What is done with the episodes that were chosen; what was done is in the address of the page that follows."""

    def back(sent: Form, **said: object) -> Response:
        nothing = dict.fromkeys((_SEARCHING, _SKIPPED, _UNDONE))
        return pages.go_back_saying(sent.value("next"), _PATH, **{**nothing, **said})

    @routes.post(f"{_PATH}/search")
    async def search(request: Request) -> Response:
        sent = await Form.sent(request)
        return back(sent, **{_SEARCHING: await wanted.search(_chosen(sent) or None)})

    @routes.post(f"{_PATH}/not-wanted")
    async def skip(request: Request) -> Response:
        sent = await Form.sent(request)
        skipped = await wanting.mark_unwanted(_chosen(sent), is_unwanted=True)
        return back(sent, **{_SKIPPED: text_of_ids(skipped)})

    @routes.post(f"{_PATH}/not-wanted/undo")
    async def undo(request: Request) -> Response:
        sent = await Form.sent(request)
        await wanting.mark_unwanted(_chosen(sent), is_unwanted=False)
        return back(sent, **{_UNDONE: "yes"})


def _chosen(sent: Form) -> list[int]:
    return [id_of(one) for one in sent.values("episode")]


def _said(asked: QueryParams) -> dict[str, Any]:
    """What the reader has just done, if the address tells of it."""
    return {
        "skipped": ids_of_text(asked.get(_SKIPPED)),
        "searching": id_of(asked.get(_SEARCHING) or "0"),
        "is_undone": _UNDONE in asked,
    }

"""Corrections from the page of a series: merge it, split it, move its releases, and undo the last correction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.moves import EpisodePlace
from kurabito.catalog.corrections.service import Corrections
from kurabito.errors import InvalidInput
from kurabito.titles import ReleaseKind
from kurabito.web.forms import fields_of, id_of, values_of
from kurabito.web.pages import Pages

_NUMBER: Final = re.compile(r"\d{1,5}(?:\.\d{1,2})?")


def router(pages: Pages, catalog: Catalog, corrections: Corrections) -> APIRouter:
    """What can be corrected of a series and its releases."""
    routes = APIRouter()

    @routes.get("/series/{series_id}/merge")
    async def preview_merge(request: Request, series_id: str) -> Response:
        own, into = id_of(series_id), id_of(request.query_params.get("into", ""))
        effect = await corrections.merge(own, into, is_preview=True)
        return pages.show(
            request, "correction.html", series=await catalog.get(own), into=await catalog.get(into), effect=effect
        )

    @routes.post("/series/{series_id}/merge")
    async def merge(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        effect = await corrections.merge(id_of(series_id), id_of(asked.get("into", "")))
        return pages.go(f"/series/{effect.series_id}")

    @routes.post("/series/{series_id}/split")
    async def split(request: Request, series_id: str) -> Response:
        asked = await values_of(request)
        effect = await corrections.split(id_of(series_id), names=asked.get("name", ()))
        return pages.go(f"/series/{effect.series_id}")

    @routes.post("/series/{series_id}/undo")
    async def undo(series_id: str) -> Response:
        await corrections.undo(id_of(series_id))
        return pages.go(f"/series/{(await catalog.current(id_of(series_id))).id}")

    @routes.post("/links/{link_id}/release")
    async def release(link_id: str) -> Response:
        effect = await corrections.release(id_of(link_id))
        return pages.go(f"/series/{effect.series_id}")

    @routes.post("/links/{link_id}/move")
    async def move(request: Request, link_id: str) -> Response:
        asked = await fields_of(request)
        if asked.get("other"):
            effect = await corrections.reject(id_of(link_id))
        elif asked.get("series"):
            effect = await corrections.move(id_of(link_id), series_id=id_of(asked["series"]))
        else:
            effect = await corrections.move(id_of(link_id), place=_place(asked))
        return pages.go(f"/series/{effect.series_id}")

    return routes


def _place(asked: Mapping[str, str]) -> EpisodePlace:
    number = asked.get("episode", "").strip()
    if not _NUMBER.fullmatch(number):
        raise InvalidInput("episode", "must be the number of an episode, such as 7 or 12.5")
    return EpisodePlace(ReleaseKind.TV, float(number))

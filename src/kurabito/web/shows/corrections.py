"""Corrections from the page of a series: merge it, split it, move its releases, and undo the last correction.

What a correction will do is shown first, and done when that is confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.corrections.model import CorrectionEffect
from kurabito.catalog.corrections.moves import EpisodePlace
from kurabito.catalog.corrections.service import Corrections
from kurabito.catalog.series import Series
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind
from kurabito.web.forms import fields_of, id_of, one_of, values_of
from kurabito.web.pages import Pages
from kurabito.web.shows.named import series_named

_NUMBER: Final = re.compile(r"\d{1,5}(?:\.\d{1,2})?")


@dataclass(frozen=True, slots=True)
class _Question:
    """A correction before it is confirmed: what is said of it, and what is sent to make it."""

    kind: str
    """Which words ask for it."""
    path: str
    series: Series
    effect: CorrectionEffect
    sent: Sequence[tuple[str, str]]
    facts: Mapping[str, Any]


def router(pages: Pages, catalog: Catalog, corrections: Corrections) -> Router:
    """What can be corrected of a series and its releases."""
    routes = Router()
    ask = _Previews(catalog, corrections)

    @routes.get("/series/{series_id}/merge")
    async def preview_merge(request: Request, series_id: str) -> Response:
        question = await ask.merge(id_of(series_id), request.query_params.get("into", ""))
        return pages.show(request, "correction.html", question=question)

    @routes.post("/series/{series_id}/merge")
    async def merge(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        effect = await corrections.merge(id_of(series_id), id_of(asked.get("into", "")))
        return pages.go(f"/series/{effect.series_id}")

    @routes.get("/series/{series_id}/split")
    async def preview_split(request: Request, series_id: str) -> Response:
        asked = request.query_params
        question = await ask.split(id_of(series_id), asked.getlist("name"), asked.getlist("link"))
        return pages.show(request, "correction.html", question=question)

    @routes.post("/series/{series_id}/split")
    async def split(request: Request, series_id: str) -> Response:
        asked = await values_of(request)
        links = [id_of(one) for one in asked.get("link", ())]
        effect = await corrections.split(id_of(series_id), names=asked.get("name", ()), link_ids=links)
        return pages.go(f"/series/{effect.series_id}")

    @routes.post("/series/{series_id}/undo")
    async def undo(series_id: str) -> Response:
        await corrections.undo(id_of(series_id))
        return pages.go(f"/series/{(await catalog.current(id_of(series_id))).id}")

    @routes.post("/links/{link_id}/release")
    async def release(link_id: str) -> Response:
        effect = await corrections.release(id_of(link_id))
        return pages.go(f"/series/{effect.series_id}")

    @routes.get("/links/{link_id}/move")
    async def preview_move(request: Request, link_id: str) -> Response:
        question = await ask.move(id_of(link_id), request.query_params)
        return pages.show(request, "correction.html", question=question)

    @routes.post("/links/{link_id}/move")
    async def move(request: Request, link_id: str) -> Response:
        effect = await _move(corrections, id_of(link_id), await fields_of(request))
        return pages.go(f"/series/{effect.series_id}")

    return routes


class _Previews:
    """Says what a correction would do."""

    def __init__(self, catalog: Catalog, corrections: Corrections) -> None:
        self._catalog = catalog
        self._corrections = corrections

    async def merge(self, series_id: int, named: str) -> _Question:
        into = await series_named(self._catalog, "into", named)
        effect = await self._corrections.merge(series_id, into.id, is_preview=True)
        series = await self._catalog.get(series_id)
        facts = {"one": series.title, "other": into.title}
        return _Question("merge", f"/series/{series_id}/merge", series, effect, [("into", str(into.id))], facts)

    async def split(self, series_id: int, names: Sequence[str], links: Sequence[str]) -> _Question:
        chosen = [id_of(one) for one in links]
        effect = await self._corrections.split(series_id, names=names, link_ids=chosen, is_preview=True)
        series = await self._catalog.get(series_id)
        sent = [*(("name", name) for name in names), *(("link", link) for link in links)]
        return _Question("split", f"/series/{series_id}/split", series, effect, sent, {"one": series.title})

    async def move(self, link_id: int, asked: Mapping[str, str]) -> _Question:
        link = await self._catalog.link(link_id)
        series = await self._catalog.get(link.series_id)
        facts = {"release": link.title, "one": series.title}
        sent = {key: asked[key] for key in ("series", "episode", "kind", "other") if asked.get(key)}
        kind = "other_show" if "other" in sent else "move" if "series" in sent else "episode"
        if kind == "move":
            into = await series_named(self._catalog, "series", sent["series"])
            sent["series"], facts["other"] = str(into.id), into.title
        effect = await _move(self._corrections, link_id, sent, is_preview=True)
        facts["number"] = sent.get("episode", "")
        return _Question(kind, f"/links/{link_id}/move", series, effect, list(sent.items()), facts)


async def _move(
    corrections: Corrections, link_id: int, asked: Mapping[str, str], *, is_preview: bool = False
) -> CorrectionEffect:
    if asked.get("other"):
        return await corrections.reject(link_id, is_preview=is_preview)
    if asked.get("series"):
        return await corrections.move(link_id, series_id=id_of(asked["series"]), is_preview=is_preview)
    return await corrections.move(link_id, place=_place(asked), is_preview=is_preview)


def _place(asked: Mapping[str, str]) -> EpisodePlace:
    number = asked.get("episode", "").strip()
    if not _NUMBER.fullmatch(number):
        problem = "must be the number of an episode, such as 7 or 12.5"
        raise InvalidInput("episode", problem, refused(InputReason.EPISODE))
    return EpisodePlace(one_of(ReleaseKind, "kind", asked.get("kind") or ReleaseKind.TV), float(number))

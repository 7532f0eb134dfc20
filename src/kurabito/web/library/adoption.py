"""*Unmatched files*: the videos of libraries that no episode has, and why; and *Import files*, by which a person gives files to a series."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.series import Series
from kurabito.catalog.summaries import CatalogSummaries
from kurabito.errors import InvalidInput
from kurabito.library.service import LibraryService
from kurabito.placements.adoption.reasons import AdoptionReason
from kurabito.placements.adoption.service import Adoptions
from kurabito.placements.adoption.store import UnadoptedFile
from kurabito.placements.imports.model import MOST_EPISODES, ImportOrder
from kurabito.placements.imports.service import Imports
from kurabito.reasons import InputReason, refused
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind
from kurabito.web.forms import fields_of, id_cursor, id_of, one_of
from kurabito.web.pages import Pages

_FILES: Final = 100
_SERIES: Final = 2_000
_KINDS: Final = (ReleaseKind.TV, ReleaseKind.SPECIAL, ReleaseKind.OVA, ReleaseKind.MOVIE)


def router(
    pages: Pages,
    adoptions: Adoptions,
    imports: Imports,
    catalog: Catalog,
    summaries: CatalogSummaries,
    libraries: LibraryService,
) -> Router:
    """The list, the plan of an import, and the import."""
    routes = Router()

    @routes.get("/adoption")
    async def unadopted(request: Request) -> Response:
        cursor = id_cursor(request)
        page = await adoptions.unadopted(limit=_FILES, cursor=cursor)
        known, matches = await asyncio.gather(libraries.by_id(), _matches(summaries, page.items))
        return pages.show(
            request,
            "adoption.html",
            page=page,
            cursor=cursor,
            rows=_by_folder(page.items, matches),
            whole_paths={one.file_id: str(known[one.library_id].path / one.path) for one in page.items},
        )

    @routes.get("/imports")
    async def look(request: Request) -> Response:
        asked: dict[str, Any] = dict(request.query_params)
        plan = await imports.plan(_order(asked)) if asked.get("path") and asked.get("series") else None
        chosen = id_of(asked["series"]) if asked.get("series") else None
        return pages.show(
            request,
            "import.html",
            asked=asked,
            plan=plan,
            chosen=chosen,
            series=await _series(catalog, chosen),
            kinds=[kind.value for kind in _KINDS],
        )

    @routes.post("/imports")
    async def apply(request: Request) -> Response:
        asked = await fields_of(request)
        order = _order(dict(asked))
        await imports.apply(order)
        return pages.go(f"/series/{order.series_id}")

    return routes


async def _series(catalog: Catalog, chosen: int | None) -> list[Series]:
    """The series to choose from, by their titles, and the one that is chosen; raises SeriesNotFound."""
    found = {one.id: one for one in (await catalog.series(limit=_SERIES)).items}
    if chosen is not None and chosen not in found:
        found[chosen] = await catalog.get(chosen)
    return sorted(found.values(), key=lambda one: (one.title.casefold(), one.season))


class UnmatchedRow(NamedTuple):
    """What one decision is about: a folder that has no match, or a file of another one."""

    files: tuple[UnadoptedFile, ...]
    match: int | None
    """The match that is to be chosen."""

    @property
    def folder(self) -> str:
        return str(PurePosixPath(self.files[0].path).parent)


def _by_folder(files: Iterable[UnadoptedFile], matches: dict[int, int]) -> list[UnmatchedRow]:
    """The files, those of a folder that waits for its match in one row."""
    rows: dict[tuple[str, int], list[UnadoptedFile]] = {}
    for one in files:
        match = matches.get(one.file_id)
        rows.setdefault(("file", one.file_id) if match is None else ("match", match), []).append(one)
    return [UnmatchedRow(tuple(found), matches.get(found[0].file_id)) for found in rows.values()]


async def _matches(summaries: CatalogSummaries, files: Iterable[UnadoptedFile]) -> dict[int, int]:
    """The match that is to be chosen for each file whose folder has none, by the ids of the files."""
    waiting = {
        one.file_id: (one.library_id, str(PurePosixPath(one.path).parent))
        for one in files
        if one.reason.code is AdoptionReason.UNMATCHED_FOLDER
    }
    folders = list(set(waiting.values()))
    found = dict(zip(folders, await asyncio.gather(*(summaries.match_of_folder(*one) for one in folders)), strict=True))
    return {file_id: match for file_id, folder in waiting.items() if (match := found[folder]) is not None}


def _order(asked: dict[str, Any]) -> ImportOrder:
    numbers = (asked.get("episodes") or "").replace(",", " ").split()
    try:
        episodes = tuple(float(number) for number in numbers)
    except ValueError:
        reason = refused(InputReason.EPISODES, most=MOST_EPISODES)
        raise InvalidInput("episodes", "must be numbers, as in `1` or `1, 2`", reason) from None
    return ImportOrder(
        path=(asked.get("path") or "").strip(),
        series_id=id_of(asked.get("series") or ""),
        episodes=episodes,
        kind=one_of(ReleaseKind, "kind", asked.get("kind") or ReleaseKind.TV),
    )

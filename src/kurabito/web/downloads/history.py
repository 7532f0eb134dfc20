"""*History*: what happened to releases and files, of everything or of one show."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta
from typing import Final

from fastapi import Request, Response
from starlette.datastructures import QueryParams

from kurabito.catalog.catalog import Catalog
from kurabito.downloads.health.downloaders import DownloaderHealths
from kurabito.downloads.history.entry import HistoryFilter, HistoryKind
from kurabito.downloads.history.service import EVERYTHING, History
from kurabito.errors import InvalidInput
from kurabito.metadata import MetadataService
from kurabito.reasons import InputReason, refused
from kurabito.site.routing import Router
from kurabito.web.forms import id_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShowTitles

_PATH: Final = "/history"
_SHOWN: Final = 50
_LONGEST: Final = 200
_DAY: Final = timedelta(days=1)
_LAST: Final = datetime(9999, 12, 30, tzinfo=UTC)


def router(
    pages: Pages, history: History, catalog: Catalog, metadata: MetadataService, downloaders: DownloaderHealths
) -> Router:
    """The list and its filters."""
    routes, titles = Router(), ShowTitles(pages, catalog, metadata)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        asked = request.query_params
        wanted, cursor = _wanted(asked), asked.get("cursor") or None
        series = None if wanted.series_id is None else await titles.one(request, wanted.series_id)
        page, everyone = await asyncio.gather(history.page(wanted, limit=_SHOWN, cursor=cursor), downloaders.everyone())
        return pages.show(
            request,
            "history.html",
            entries=page.items,
            cursor=cursor,
            next_cursor=page.next_cursor,
            wanted=wanted,
            is_narrowed=cursor is not None or wanted != EVERYTHING,
            chosen=_chosen(asked),
            export=_export(wanted),
            series=series,
            shows=await titles.several(request, {one.series_id for one in page.items if one.series_id is not None}),
            kinds=tuple(HistoryKind),
            downloaders=everyone,
        )

    return routes


def _wanted(asked: QueryParams) -> HistoryFilter:
    series, module, kind = asked.get("series"), asked.get("downloader"), asked.get("kind")
    since, until = _day(asked, "since"), _day(asked, "until")
    return HistoryFilter(
        series_id=id_of(series) if series else None,
        module_id=id_of(module) if module else None,
        kinds=(one_of(HistoryKind, "kind", kind),) if kind else (),
        text=_text(asked),
        since=since,
        # The day that was chosen is in it.
        until=None if until is None else min(until, _LAST) + _DAY,
    )


def _text(asked: QueryParams) -> str:
    return asked.get("text", "").replace("\0", "").strip()[:_LONGEST]


def _day(asked: QueryParams, name: str) -> datetime | None:
    typed = asked.get(name)
    if not typed:
        return None
    try:
        day = date.fromisoformat(typed)
        return datetime(day.year, day.month, day.day, tzinfo=UTC)
    except ValueError:
        problem = f"must be a day like 2026-01-31, got {typed!r}"
        raise InvalidInput(name, problem, refused(InputReason.DAY)) from None


def _chosen(asked: QueryParams) -> dict[str, str]:
    """What the form shows."""
    return {name: asked.get(name, "") for name in ("kind", "downloader", "since", "until")} | {"text": _text(asked)}


def _export(wanted: HistoryFilter) -> dict[str, object]:
    """The same filter as the API calls it."""
    return {
        "series_id": wanted.series_id,
        "module_id": wanted.module_id,
        "kind": wanted.kinds[0].value if wanted.kinds else None,
        "text": wanted.text or None,
        "since": None if wanted.since is None else wanted.since.isoformat(),
        "until": None if wanted.until is None else wanted.until.isoformat(),
    }

"""*Downloads*: what is under way, at whom and how far; what waits, what ended and why; and what can be done with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from kurabito.catalog.catalog import Catalog
from kurabito.downloads.conflicts import Conflicts
from kurabito.downloads.downloads import Downloads
from kurabito.downloads.health.downloaders import Downloader, DownloaderHealths
from kurabito.downloads.health.progress import DownloadAction, actions_for, progress_state, time_left
from kurabito.downloads.search.pasted_links import LONGEST
from kurabito.downloads.search.service import ReleaseSearch
from kurabito.downloads.states import Status
from kurabito.downloads.store import Download
from kurabito.downloads.want_again import WantedAgain, Wanting
from kurabito.metadata import MetadataService
from kurabito.placements.filing.service import Placements
from kurabito.site.routing import Router
from kurabito.web.downloads.download_pages import (
    DownloadOrder,
    ShownStates,
    in_order,
    is_descending,
    page_of,
    totals_of,
)
from kurabito.web.forms import CHECKED, fields_of, id_cursor, id_of, one_of, uploaded
from kurabito.web.pages import Pages
from kurabito.web.shows.titles import ShowTitles

_DOWNLOADS: Final = 50
_SORTED: Final = 500
"""What is sorted is on one page, so more of it is shown."""
_QUESTIONS: Final = 3
_COUNTED: Final = 100
UPLOAD: Final = "/downloads/torrent"
LARGEST_UPLOAD: Final = 10 << 20
_FILES: Final = 100


def router(
    pages: Pages,
    downloads: Downloads,
    wanting: Wanting,
    conflicts: Conflicts,
    downloaders: DownloaderHealths,
    catalog: Catalog,
    metadata: MetadataService,
    placements: Placements,
    poll: Callable[[], Awaitable[None]],
    search: ReleaseSearch,
) -> Router:
    """The downloads, one of them, and what can be done with it."""
    routes, titles = Router(), ShowTitles(pages, catalog, metadata)
    view = _DownloadPages(pages, downloads, conflicts, downloaders, titles, placements, poll)
    routes.add_api_route("/downloads", view.overview)
    routes.add_api_route("/downloads/{download_id}", view.one)
    actions: Mapping[DownloadAction, Callable[[int], Awaitable[Download | WantedAgain]]] = {
        DownloadAction.PAUSE: downloads.pause,
        DownloadAction.RESUME: downloads.resume,
        DownloadAction.RETRY: downloads.retry,
        DownloadAction.CANCEL: downloads.cancel,
        DownloadAction.SEND_ELSEWHERE: downloads.send_elsewhere,
        DownloadAction.WANT_AGAIN: wanting.want_download_again,
        DownloadAction.WANT_OTHER: partial(wanting.want_download_again, other_release=True),
    }

    @routes.post(UPLOAD)
    async def upload(request: Request) -> Response:
        # As a link it is looked at like one that was pasted, before anything is downloaded.
        link = await search.take_file(uploaded(request.headers.get("content-type", ""), await request.body()))
        return RedirectResponse(pages.addresses.to("/search", q=link), 303)

    @routes.post("/downloads/{download_id}/remove")
    async def remove(request: Request, download_id: str) -> Response:
        asked = await fields_of(request)
        await downloads.remove(id_of(download_id), delete_files=asked.get("delete_files") == CHECKED)
        return pages.go("/downloads")

    @routes.post("/downloads/{download_id}/{action}")
    async def act(request: Request, download_id: str, action: str) -> Response:
        asked = await fields_of(request)
        changed = await actions[one_of(DownloadAction, "action", action)](id_of(download_id))
        begun = changed.downloads if isinstance(changed, WantedAgain) else (changed,)
        shown = f"/downloads/{begun[0].id}" if begun else "/downloads"
        return pages.go_back(asked, shown)

    @routes.post("/episodes/{episode_id}/want-again")
    async def want_again(request: Request, episode_id: str) -> Response:
        asked = await fields_of(request)
        await wanting.want_again(id_of(episode_id))
        return pages.go_back(asked, "/downloads")

    @routes.post("/episodes/{episode_id}/not-wanted")
    async def not_wanted(request: Request, episode_id: str) -> Response:
        asked = await fields_of(request)
        await wanting.not_wanted(id_of(episode_id))
        return pages.go_back(asked, "/wanted")

    return routes


class _DownloadPages:
    """Shows the two pages."""

    def __init__(
        self,
        pages: Pages,
        downloads: Downloads,
        conflicts: Conflicts,
        downloaders: DownloaderHealths,
        titles: ShowTitles,
        placements: Placements,
        poll: Callable[[], Awaitable[None]],
    ) -> None:
        self._pages = pages
        self._downloads = downloads
        self._conflicts = conflicts
        self._downloaders = downloaders
        self._titles = titles
        self._placements = placements
        self._poll = poll

    async def overview(self, request: Request) -> Response:
        asked = request.query_params
        shown = one_of(ShownStates, "show", asked.get("show") or ShownStates.UNDER_WAY)
        cursor, chosen = id_cursor(request), asked.get("downloader")
        order = one_of(DownloadOrder, "sort", asked.get("sort") or DownloadOrder.ADDED)
        is_turned, is_sorted = asked.get("turned") == CHECKED, bool(asked.get("sort"))
        module_id = id_of(chosen) if chosen else None
        page, everyone, questions, (_, unclear) = await asyncio.gather(
            page_of(
                self._downloads, shown, module_id=module_id, cursor=cursor, limit=_SORTED if is_sorted else _DOWNLOADS
            ),
            self._downloaders.everyone(),
            self._conflicts.page(limit=_QUESTIONS),
            self._placements.count_waiting(_COUNTED),
        )
        is_moving = any(one.download.status is Status.DOWNLOADING for one in page.items)
        if is_moving:
            await self._poll()
        return self._pages.show(
            request,
            "downloads.html",
            entries=in_order(page.items, order, is_turned=is_turned),
            totals=totals_of(page.items),
            order=order,
            orders=tuple(DownloadOrder),
            is_turned=is_turned,
            is_descending=is_descending(order, is_turned=is_turned),
            is_sorted=is_sorted,
            is_moving=is_moving,
            longest_link=LONGEST,
            next_cursor=page.next_cursor,
            cursor=cursor,
            shown=shown,
            shows=tuple(ShownStates),
            downloader=_with_id(everyone, module_id),
            downloaders=everyone,
            policy=self._downloaders.policy,
            questions=questions.items,
            unclear_files=unclear,
            more_questions=questions.next_cursor is not None,
            progress_state=progress_state,
            time_left=time_left,
            actions_for=actions_for,
        )

    async def one(self, request: Request, download_id: str) -> Response:
        download, is_stalled, attempts = await self._downloads.get(id_of(download_id))
        series, everyone, files, filing = await asyncio.gather(
            self._titles.one(request, download.series_id),
            self._downloaders.everyone(),
            self._downloads.files(download.id),
            self._placements.report(download.id),
        )
        return self._pages.show(
            request,
            "download.html",
            download=download,
            progress=progress_state(download, is_stalled),
            downloader=_with_id(everyone, download.module_id),
            policy=self._downloaders.policy,
            attempts=attempts,
            files=files[:_FILES],
            more_files=max(0, len(files) - _FILES),
            filing=filing,
            series=series,
            time_left=time_left,
            actions_for=actions_for,
        )


def _with_id(everyone: Sequence[Downloader], module_id: int | None) -> Downloader | None:
    return next((one for one in everyone if one.service.id == module_id), None)

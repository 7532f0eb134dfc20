"""*Library*: the libraries, how each is, and its files."""

from __future__ import annotations

from dataclasses import fields
from typing import Final
from uuid import UUID

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from kurabito.errors import InvalidInput
from kurabito.library.errors import LibraryConflict, LibraryInUse
from kurabito.library.libraries import LibrarySettings
from kurabito.library.removal import LibraryRemoval
from kurabito.library.scans.queue import ScanQueueService, TaskPriority
from kurabito.library.service import LibraryService
from kurabito.library.status import LibraryReports, scan_outcome
from kurabito.runtime.tasks.intake import parse_id
from kurabito.site.errors import status_of
from kurabito.site.routing import Router
from kurabito.web.forms import CHECKED, fields_of, id_of
from kurabito.web.library.library_form import LibraryForm
from kurabito.web.pages import Pages

_LIBRARIES: Final = 50
_FILES: Final = 50
_PAST: Final = 10
_NUL: Final = "\x00"


def router(
    pages: Pages, libraries: LibraryService, removal: LibraryRemoval, scans: ScanQueueService, reports: LibraryReports
) -> Router:
    """The libraries, one of them, and what can be done to it."""
    routes = Router()
    view = _LibraryPages(pages, libraries, removal, reports)

    @routes.get("/library")
    async def overview(request: Request) -> Response:
        return await view.overview(request, LibraryForm.new(request.query_params.get("path", "")))

    @routes.post("/library")
    async def keep(request: Request) -> Response:
        form = (await LibraryForm.sent(request)).named()
        try:
            summary = await libraries.create(form.value("path").strip(), form.settings())
        except (InvalidInput, LibraryConflict) as problem:
            return await view.overview(request, form.refused(problem), status=status_of(problem))
        await scans.submit_task(summary.library.id, TaskPriority.HIGH)
        return pages.go(f"/library/{summary.library.id}")

    @routes.get("/library/{library_id}")
    async def library(request: Request, library_id: str) -> Response:
        return await view.one(request, id_of(library_id))

    @routes.post("/library/{library_id}")
    async def change(request: Request, library_id: str) -> Response:
        form = await LibraryForm.sent(request)
        try:
            settings = form.settings()
            await libraries.change(
                id_of(library_id), {one.name: getattr(settings, one.name) for one in fields(LibrarySettings)}
            )
        except (InvalidInput, LibraryConflict) as problem:
            return await view.one(request, id_of(library_id), form.refused(problem), status=status_of(problem))
        return pages.go(f"/library/{library_id}")

    @routes.post("/library/{library_id}/scan")
    async def scan(request: Request, library_id: str) -> Response:
        summary = await libraries.get_staying(id_of(library_id))
        await scans.submit_task(summary.library.id, TaskPriority.HIGH)
        return await view.back(request, library_id)

    @routes.post("/library/{library_id}/cancel/{task_id}")
    async def cancel(request: Request, library_id: str, task_id: str) -> Response:
        await scans.cancel_task(_task(task_id))
        return await view.back(request, library_id)

    @routes.post("/library/{library_id}/remove")
    async def remove(request: Request, library_id: str) -> Response:
        return await view.remove(request, id_of(library_id))

    return routes


class _LibraryPages:
    """Shows the two pages; a form that was refused is shown again as it was typed."""

    def __init__(
        self, pages: Pages, libraries: LibraryService, removal: LibraryRemoval, reports: LibraryReports
    ) -> None:
        self._pages = pages
        self._libraries = libraries
        self._removal = removal
        self._reports = reports

    async def overview(self, request: Request, form: LibraryForm, *, status: int = 200) -> Response:
        page = await self._libraries.list(limit=_LIBRARIES, cursor=request.query_params.get("cursor"))
        return self._pages.show(
            request,
            "libraries.html",
            status=status,
            reports=await self._reports.of(page.items),
            next_cursor=page.next_cursor,
            form=form,
        )

    async def one(
        self,
        request: Request,
        library_id: int,
        form: LibraryForm | None = None,
        *,
        status: int = 200,
        asks: bool = False,
    ) -> Response:
        """One library; it `asks` when its removal has to be confirmed."""
        asked = request.query_params
        summary = await self._libraries.get(library_id)
        contains, is_missing = asked.get("contains", "").strip().replace(_NUL, ""), asked.get("missing") == "yes"
        files = await self._libraries.files(
            library_id,
            missing=True if is_missing else None,
            contains=contains or None,
            limit=_FILES,
            cursor=asked.get("cursor"),
        )
        (report,) = await self._reports.of([summary], past=_PAST)
        return self._pages.show(
            request,
            "library.html",
            status=status,
            report=report,
            scan_outcome=scan_outcome,
            library=summary.library,
            files=files,
            contains=contains,
            missing=is_missing,
            cursor=asked.get("cursor"),
            form=form or LibraryForm.of(summary.library.settings),
            obstacles=await self._removal.obstacles(library_id),
            asks=asks,
        )

    async def remove(self, request: Request, library_id: int) -> Response:
        """Have a library removed; ask first when something is in the way that the page did not show."""
        asked = await fields_of(request)
        try:
            await self._removal.begin(library_id, confirmed=asked.get("confirm") == CHECKED)
        except LibraryInUse as problem:
            return await self.one(request, library_id, status=status_of(problem), asks=True)
        return self._pages.go("/library")

    async def back(self, request: Request, library_id: str) -> Response:
        """To where a button stood."""
        asked = await fields_of(request)
        return self._pages.go_back(asked, f"/library/{library_id}")


def _task(text: str) -> UUID:
    known = parse_id(text)
    if known is None:
        raise HTTPException(404)
    return known

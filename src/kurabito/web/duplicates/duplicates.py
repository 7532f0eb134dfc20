"""*Duplicates*: groups of files with the same content, and asking for a plan to keep one copy of each."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.errors import InvalidInput
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.duplicates.groups import Duplicates
from kurabito.library.duplicates.reclaimable import COUNTED, Reclaimable
from kurabito.library.service import LibraryService
from kurabito.protocol.deletion import DeleteMode
from kurabito.site.errors import status_of
from kurabito.web.duplicates.plan_form import PlanForm
from kurabito.web.pages import Pages

_GROUPS: Final = 20
_FILES: Final = 100
_PLANS: Final = 5


def router(
    pages: Pages, libraries: LibraryService, duplicates: Duplicates, reclaimable: Reclaimable, plans: DeletionPlans
) -> APIRouter:
    """The groups, one of them, and the making of plans."""
    routes = APIRouter()

    @routes.get("/duplicates")
    async def overview(request: Request) -> Response:
        return await show(request, PlanForm())

    @routes.post("/duplicates")
    async def make(request: Request) -> Response:
        form = await PlanForm.sent(request)
        try:
            rules = form.rules(list((await libraries.by_id()).values()))
            plan = await plans.make(rules, mode=form.mode(), group_keys=form.group_keys())
        except InvalidInput as problem:
            return await show(request, form.refused(problem), status=status_of(problem))
        return pages.go(f"/duplicates/plans/{plan.id}")

    async def show(request: Request, form: PlanForm, *, status: int = 200) -> Response:
        cursor = request.query_params.get("cursor")
        page, total, known, made = await asyncio.gather(
            reclaimable.groups(limit=_GROUPS, cursor=cursor),
            reclaimable.total(),
            libraries.by_id(),
            plans.recent(_PLANS),
        )
        return pages.show(
            request,
            "duplicates.html",
            status=status,
            page=page,
            total=total,
            counted=COUNTED,
            libraries=known,
            plans=made,
            cursor=cursor,
            form=form,
            modes=tuple(DeleteMode),
        )

    routes.include_router(_groups(pages, libraries, duplicates))
    return routes


def _groups(pages: Pages, libraries: LibraryService, duplicates: Duplicates) -> APIRouter:
    """One group."""
    routes = APIRouter()

    @routes.get("/duplicates/groups/{group_key}")
    async def group(request: Request, group_key: str) -> Response:
        found, files, known = await asyncio.gather(
            duplicates.group(group_key),
            duplicates.files(group_key, limit=_FILES, cursor=request.query_params.get("cursor")),
            libraries.by_id(),
        )
        return pages.show(
            request,
            "group.html",
            group=found,
            group_key=group_key,
            files=files,
            libraries=known,
            form=PlanForm(),
            modes=tuple(DeleteMode),
        )

    return routes

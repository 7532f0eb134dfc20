"""*Duplicates*: groups of files with the same content, and plans to keep one copy of each."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter, Request, Response

from kurabito.errors import InvalidInput
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.duplicates import Duplicates
from kurabito.library.keeping import Libraries
from kurabito.library.libraries import Library
from kurabito.library.waste import COUNTED, Waste
from kurabito.protocol.deletion import DeleteMode
from kurabito.protocol.values import JobStatus
from kurabito.runtime.paging import MAX_PAGE
from kurabito.web.forms import id_of, values_of
from kurabito.web.pages import Pages
from kurabito.web.plan_form import PlanForm

_GROUPS: Final = 20
_FILES: Final = 100
_STEPS: Final = 50
_PLANS: Final = 5
_OVER: Final = (None, JobStatus.COMPLETED, JobStatus.FAILED, JobStatus.CANCELLED)


def router(pages: Pages, libraries: Libraries, duplicates: Duplicates, waste: Waste, plans: DeletionPlans) -> APIRouter:
    """The groups, one of them, and plans from their making to their outcome."""
    routes = APIRouter()

    @routes.get("/duplicates")
    async def overview(request: Request) -> Response:
        return await show(request, PlanForm())

    @routes.post("/duplicates")
    async def make(request: Request) -> Response:
        form = PlanForm(await values_of(request))
        try:
            rules = form.rules(list((await shelves()).values()))
            plan = await plans.make(rules, mode=form.mode(), group_keys=form.group_keys())
        except InvalidInput as problem:
            return await show(request, PlanForm(form.typed, problem), status=problem.status)
        return pages.go(f"/duplicates/plans/{plan.id}")

    @routes.get("/duplicates/groups/{group_key}")
    async def group(request: Request, group_key: str) -> Response:
        found, files, known = await asyncio.gather(
            duplicates.group(group_key),
            duplicates.files(group_key, limit=_FILES, cursor=request.query_params.get("cursor")),
            shelves(),
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

    @routes.get("/duplicates/plans/{plan_id}")
    async def plan(request: Request, plan_id: str) -> Response:
        number, cursor = id_of(plan_id), request.query_params.get("cursor")
        found, steps, known = await asyncio.gather(
            plans.get(number), plans.steps(number, limit=_STEPS, cursor=cursor), shelves()
        )
        return pages.show(
            request,
            "plan.html",
            plan=found,
            settled=sum(found.outcomes.values()),
            steps=steps,
            cursor=cursor,
            libraries=known,
            allowed=plans.allowed,
            under_way=found.job_status not in _OVER,
        )

    @routes.post("/duplicates/plans/{plan_id}/check")
    async def check(plan_id: str) -> Response:
        checked = await plans.apply(id_of(plan_id))
        return pages.go(f"/duplicates/plans/{checked.id}")

    @routes.post("/duplicates/plans/{plan_id}/apply")
    async def apply(request: Request, plan_id: str) -> Response:
        confirmed = PlanForm(await values_of(request)).value("confirm") == "yes"
        applied = await plans.apply(id_of(plan_id), dry_run=False, confirm=confirmed)
        return pages.go(f"/duplicates/plans/{applied.id}")

    async def show(request: Request, form: PlanForm, *, status: int = 200) -> Response:
        cursor = request.query_params.get("cursor")
        page, total, known, made = await asyncio.gather(
            waste.groups(limit=_GROUPS, cursor=cursor), waste.total(), shelves(), plans.recent(_PLANS)
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

    async def shelves() -> dict[int, Library]:
        return {kept.library.id: kept.library for kept in await libraries.list(limit=MAX_PAGE)}

    return routes

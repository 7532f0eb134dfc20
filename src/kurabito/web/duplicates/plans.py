"""A plan to keep one copy of each: what it would delete, trying it, and carrying it out."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import Request, Response

from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.trash import Trash
from kurabito.library.service import LibraryService
from kurabito.site.routing import Router
from kurabito.web.forms import Form, id_of
from kurabito.web.pages import Pages

_STEPS: Final = 50


def router(pages: Pages, libraries: LibraryService, plans: DeletionPlans, trash: Trash) -> Router:
    """A plan, from what it would do to its outcome."""
    routes = Router()

    @routes.get("/duplicates/plans/{plan_id}")
    async def plan(request: Request, plan_id: str) -> Response:
        number, cursor = id_of(plan_id), request.query_params.get("cursor")
        found, steps, known, in_trash = await asyncio.gather(
            plans.get(number),
            plans.steps(number, limit=_STEPS, cursor=cursor),
            libraries.by_id(),
            trash.count_of_plan(number),
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
            under_way=found.is_under_way,
            in_trash=in_trash,
        )

    @routes.post("/duplicates/plans/{plan_id}/check")
    async def check(plan_id: str) -> Response:
        checked = await plans.apply(id_of(plan_id))
        return pages.go(f"/duplicates/plans/{checked.id}")

    @routes.post("/duplicates/plans/{plan_id}/apply")
    async def apply(request: Request, plan_id: str) -> Response:
        confirmed = (await Form.sent(request)).is_checked("confirm")
        applied = await plans.apply(id_of(plan_id), dry_run=False, confirm=confirmed)
        return pages.go(f"/duplicates/plans/{applied.id}")

    @routes.post("/duplicates/plans/{plan_id}/undo")
    async def undo(plan_id: str) -> Response:
        undone = await plans.get(id_of(plan_id))
        await trash.undo_plan(undone.id)
        return pages.go(f"/duplicates/plans/{undone.id}")

    return routes

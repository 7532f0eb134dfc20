"""*Duplicates*: groups of files with the same content, and asking for a plan to keep one copy of each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from fastapi import Request, Response

from kurabito.errors import InvalidInput
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.rules import KeepRule, KeepRules
from kurabito.library.duplicates.groups import DuplicateGroup, Duplicates, GroupFile
from kurabito.library.duplicates.reclaimable import COUNTED, Reclaimable, ReclaimableGroup
from kurabito.library.service import LibraryService
from kurabito.protocol.deletion import DeleteMode
from kurabito.runtime.model import Page
from kurabito.site.errors import status_of
from kurabito.site.routing import Router
from kurabito.web.duplicates.plan_form import PlanForm
from kurabito.web.pages import Pages

_GROUPS: Final = 20
_FILES: Final = 100
_PLANS: Final = 5
_COPIES: Final = 6
"""Copies of a group that are shown side by side in the list; its own page has all."""


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A group as it is listed: the copy that stays first."""

    group: DuplicateGroup
    files: Sequence[GroupFile]
    kept: GroupFile | None
    """What the rule keeps; None in a group so large that not all of it was looked at."""

    @classmethod
    def of(cls, found: ReclaimableGroup, rules: KeepRules) -> Self:
        kept = _kept(found.files, len(found.files) >= found.group.file_count, rules)
        others = [file for file in found.files if kept is None or file.id != kept.id]
        files = others if kept is None else [kept, *others]
        return cls(found.group, files[:_COPIES], kept)


def router(
    pages: Pages, libraries: LibraryService, duplicates: Duplicates, reclaimable: Reclaimable, plans: DeletionPlans
) -> Router:
    """The groups, one of them, and the making of plans."""
    routes = Router()

    @routes.get("/duplicates")
    async def overview(request: Request) -> Response:
        return await show(request, _asked(request))

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
        cursor, rules = request.query_params.get("cursor"), _by_default(form)
        page, total, known, made = await asyncio.gather(
            reclaimable.groups(limit=_GROUPS, cursor=cursor, files=_FILES),
            reclaimable.total(),
            libraries.by_id(),
            plans.recent(_PLANS),
        )
        return pages.show(
            request,
            "duplicates.html",
            status=status,
            page=Page(tuple(ShownGroup.of(one, rules) for one in page), page.next_cursor),
            total=total,
            counted=COUNTED,
            libraries=known,
            plans=made,
            cursor=cursor,
            form=form,
            modes=tuple(DeleteMode),
        )

    _groups(routes, pages, libraries, duplicates)
    return routes


def _asked(request: Request) -> PlanForm:
    """The form with the rule that the address names; one that there is none of is passed over."""
    keep = request.query_params.get("keep") or KeepRule.OLDEST.value
    form = PlanForm({"keep": keep})
    try:
        form.preference()
    except InvalidInput:
        return PlanForm({"keep": KeepRule.OLDEST.value})
    return form


def _by_default(form: PlanForm) -> KeepRules:
    try:
        return KeepRules((form.preference(),))
    except InvalidInput:
        return KeepRules()


def _kept(files: Sequence[GroupFile], is_all: bool, rules: KeepRules) -> GroupFile | None:
    return rules.kept(files) if is_all else None


def _groups(routes: Router, pages: Pages, libraries: LibraryService, duplicates: Duplicates) -> None:
    """One group."""

    @routes.get("/duplicates/groups/{group_key}")
    async def group(request: Request, group_key: str) -> Response:
        form = _asked(request)
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
            kept=_kept(files.items, files.next_cursor is None, _by_default(form)),
            libraries=known,
            form=form,
            modes=tuple(DeleteMode),
        )

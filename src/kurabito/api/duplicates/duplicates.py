"""Duplicates: which files have the same content, and plans to keep only one of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Self

from fastapi import Path, Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.paging import PAGE_BEFORE, Limit, PageAnswer
from kurabito.library.deletion.plans import MAX_GROUPS, DeletionPlan, DeletionPlans, PlanStep
from kurabito.library.deletion.rules import KeepReason, KeepRule, KeepRules, Preference, ProtectedFolder
from kurabito.library.deletion.trash import Restoring, Trash
from kurabito.library.duplicates.groups import DuplicateGroup, Duplicates, GroupFile
from kurabito.protocol.deletion import DeleteMode, LogState
from kurabito.protocol.enums import HashAlgorithm, JobStatus
from kurabito.runtime.model import Page
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

_KEY: Final = r"^(blake3|sha256):[0-9a-f]{64}$"

Cursor = Annotated[str | None, Query(max_length=1000, description=PAGE_BEFORE)]
StepCursor = Annotated[str | None, Query(pattern="^[0-9]{1,9}$", description=PAGE_BEFORE)]
FileCursor = Annotated[str | None, Query(pattern="^[0-9]{1,18}$", description="the id of the last file shown")]
GroupKeyText = Annotated[str, Field(pattern=_KEY)]
LibraryId = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
FileId = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
PlanId = Annotated[int, Path(ge=1, le=BIGGEST_ID)]


class GroupAnswer(BaseModel):
    """Files with the same content."""

    group_key: str = Field(examples=["blake3:" + 64 * "0"])
    hash_algorithm: HashAlgorithm
    content_hash_hex: str
    file_count: int
    total_size_bytes: int
    copies: int = Field(description="how many take room of their own; hard links to one file are one copy")
    reclaimable_bytes: int = Field(description="what keeping one copy would free")

    @classmethod
    def of(cls, group: DuplicateGroup) -> Self:
        return cls(
            group_key=str(group.key),
            hash_algorithm=group.key.hash_algorithm,
            content_hash_hex=group.key.content_hash.hex(),
            file_count=group.file_count,
            total_size_bytes=group.total_size_bytes,
            copies=group.copies,
            reclaimable_bytes=group.reclaimable_bytes,
        )


class DuplicateAnswer(BaseModel):
    """One file of a group."""

    id: int
    library_id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, file: GroupFile) -> Self:
        return cls(
            id=file.id,
            library_id=file.library_id,
            relative_path=file.relative_path,
            size_bytes=file.size_bytes,
            mtime_ns=file.mtime_ns,
        )


class PreferenceBody(StrictBody):
    """What makes a copy the one to keep."""

    rule: Annotated[KeepRule, Field(strict=False)]
    library_id: LibraryId | None = Field(None, description="for in_library, and for no other rule")


class ProtectedBody(StrictBody):
    """A folder that is never touched."""

    library_id: LibraryId
    folder: str = Field("", max_length=4096, pattern=r"^[^\x00]*$", description="empty for the whole library")


class PlanOrder(StrictBody):
    """A plan that is asked for. Making it removes nothing."""

    mode: Annotated[DeleteMode, Field(strict=False)] = DeleteMode.TRASH
    keep: Annotated[list[PreferenceBody], Field(min_length=1, max_length=10)] = Field(
        [PreferenceBody(rule=KeepRule.OLDEST)],
        description="the first rule that tells two copies apart decides; at the end the file that was known first",
    )
    protected: Annotated[list[ProtectedBody], Field(max_length=1000)] = Field(
        [], description="nothing in these folders is removed; if a group has files there, one of them is the kept one"
    )
    group_keys: Annotated[list[GroupKeyText], Field(min_length=1, max_length=MAX_GROUPS)] | None = Field(
        None, description="only these groups; default: all from which room can be reclaimed"
    )

    stays: Annotated[list[FileId], Field(max_length=MAX_GROUPS)] = Field(
        [], description="files that stay, each the one of its group, whatever the rules say"
    )

    def rules(self) -> KeepRules:
        return KeepRules(
            tuple(Preference(one.rule, one.library_id) for one in self.keep),
            tuple(ProtectedFolder(one.library_id, one.folder) for one in self.protected),
            tuple(self.stays),
        )


class ApplyOrder(StrictBody):
    """How to apply a plan."""

    dry_run: bool = Field(True, description="check every step on the disk and change nothing")
    confirm: bool = Field(False, description="must be true when `dry_run` is false")


class StepAnswer(BaseModel):
    """One file that goes, and the copy that stays for it."""

    position: int
    file_id: int
    library_id: int
    relative_path: str
    size_bytes: int
    kept_file_id: int
    kept_library_id: int
    kept_path: str
    reason: KeepReason = Field(description="what made the other copy the kept one")
    is_stale: bool = Field(description="one of the two is another file by now, so the step will be refused")
    state: LogState | None = Field(description="what the last job made of it; null when it has not come to it")
    error_code: str | None
    error_message: str | None

    @classmethod
    def of(cls, step: PlanStep) -> Self:
        return cls(**{name: getattr(step, name) for name in cls.model_fields})


class PlanAnswer(BaseModel):
    """What would go, or went. Times are UTC."""

    id: int
    mode: DeleteMode
    group_count: int
    file_count: int
    freed_bytes: int = Field(description="room that all of it frees; what goes to the trash, once it is purged")
    is_complete: bool = Field(description="false when there were more groups than one plan takes")
    created_at: datetime
    applied_at: datetime | None
    job_id: str | None = Field(description="the job that checks or applies it")
    job_status: JobStatus | None
    job_is_dry_run: bool | None
    done: int = Field(description="steps that were taken")
    checked: int = Field(description="steps that a dry run found possible")
    refused: int = Field(description="steps that were refused; each says why")

    @classmethod
    def of(cls, plan: DeletionPlan) -> Self:
        plain = {name: getattr(plan, name) for name in cls.model_fields.keys() - {"done", "checked", "refused"}}
        ended = {state.value: plan.outcomes.get(state, 0) for state in LogState if state is not LogState.INTENT}
        return cls(**plain, **ended)


class PlanWithSteps(PlanAnswer):
    """A plan and a page of its steps."""

    steps: PageAnswer[StepAnswer]


class UndoAnswer(BaseModel):
    """What is put back."""

    entries: int = Field(description="files that are on their way back; 0 when none is in the trash any more")
    job_ids: list[str]

    @classmethod
    def of(cls, ordered: Restoring) -> Self:
        return cls(entries=ordered.entries, job_ids=list(ordered.job_ids))


def router(duplicates: Duplicates, plans: DeletionPlans, trash: Trash) -> Router:
    """The routes of the duplicates."""
    routes = Router(prefix="/api/v1/duplicates", tags=["duplicates"])

    @routes.get("/groups", responses=documented(422))
    async def list_groups(
        limit: Limit = 50,
        cursor: Cursor = None,
        reclaimable: Annotated[bool, Query(description="leave out hard links to one file")] = False,
    ) -> PageAnswer[GroupAnswer]:
        """Groups of files with the same content, those with the most files first."""
        page = await duplicates.groups(limit=limit, cursor=cursor, reclaimable=reclaimable)
        return PageAnswer[GroupAnswer].of(page, GroupAnswer.of)

    @routes.get("/groups/{group_key}/files", responses=documented(422))
    async def list_group_files(
        group_key: Annotated[str, Path(pattern=_KEY)], limit: Limit = 50, cursor: FileCursor = None
    ) -> PageAnswer[DuplicateAnswer]:
        """The files of one group, in the order of their ids."""
        page = await duplicates.files(group_key, limit=limit, cursor=cursor)
        return PageAnswer[DuplicateAnswer].of(page, DuplicateAnswer.of)

    @routes.post("/plans", status_code=201, responses=documented(*WITH_BODY))
    async def make_plan(order: PlanOrder) -> PlanWithSteps:
        """Decide what would go. Nothing is touched."""
        plan = await plans.make(order.rules(), mode=order.mode, group_keys=order.group_keys)
        return _with(plan, await plans.steps(plan.id))

    @routes.get("/plans/{plan_id}", responses=documented(404, 422))
    async def get_plan(plan_id: PlanId, limit: Limit = 50, cursor: StepCursor = None) -> PlanWithSteps:
        """A plan with a page of its steps, each with what became of it."""
        return _with(await plans.get(plan_id), await plans.steps(plan_id, limit=limit, cursor=cursor))

    @routes.post("/plans/{plan_id}/apply", status_code=202, responses=documented(404, 409, *WITH_BODY))
    async def apply_plan(plan_id: PlanId, order: ApplyOrder) -> PlanAnswer:
        """Have every step checked on the disk; with `dry_run` false and `confirm` true also taken."""
        return PlanAnswer.of(await plans.apply(plan_id, dry_run=order.dry_run, confirm=order.confirm))

    @routes.post("/plans/{plan_id}/undo", status_code=202, responses=documented(404, 422))
    async def undo_plan(plan_id: PlanId) -> UndoAnswer:
        """Have everything that the plan moved to the trash put back where it was."""
        plan = await plans.get(plan_id)
        return UndoAnswer.of(await trash.undo_plan(plan.id))

    return routes


def _with(plan: DeletionPlan, steps: Page[PlanStep]) -> PlanWithSteps:
    return PlanWithSteps(**PlanAnswer.of(plan).model_dump(), steps=PageAnswer[StepAnswer].of(steps, StepAnswer.of))

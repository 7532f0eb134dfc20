"""Deletion plans: what would go, stored step by step, and given to a data plane after a confirmation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.errors import InvalidInput
from kurabito.library.deletion.delete_jobs import order_delete_job
from kurabito.library.deletion.rules import (
    KeepReason,
    KeepRule,
    KeepRules,
    PlannedRemoval,
    Preference,
    ProtectedFolder,
    freed_bytes,
)
from kurabito.library.duplicates.groups import DuplicateGroup, GroupKey, files_of, groups_after, reclaimable_group
from kurabito.library.errors import DeletionNotAllowed, PlanApplied, PlanNotFound
from kurabito.protocol.deletion import KEPT_IS_STALE, STEP_IS_STALE, DeleteMode, LogState
from kurabito.protocol.enums import JobStatus
from kurabito.reasons import InputReason, refused
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_after

MAX_GROUPS: Final = 10_000
MAX_STEPS: Final = 100_000
_LAST_POSITION: Final = 10**9 - 1
_PLAN: Final = ColumnList(
    "plan.mode, plan.rules, plan.group_count, plan.file_count, plan.freed_bytes, plan.is_complete, plan.created_at, "
    "plan.applied_at, plan.job_id, job.status, job.dry_run"
)
_SQL: Final = Queries(
    "kurabito.library.deletion", "plans.sql", plan=_PLAN, stale=STEP_IS_STALE, kept_stale=KEPT_IS_STALE
)


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """What would go and what that frees; nothing of it is done before the plan is applied."""

    id: int
    mode: DeleteMode
    rules: KeepRules
    group_count: int
    file_count: int
    freed_bytes: int
    is_complete: bool
    """False when there were more groups than a plan takes; the next plan takes those."""
    created_at: datetime
    applied_at: datetime | None
    job_id: str | None
    """The job that checks or applies it, the last one if there were several."""
    job_status: JobStatus | None
    job_is_dry_run: bool | None
    outcomes: Mapping[LogState, int]
    """How many steps that job has brought to which end."""

    @property
    def is_under_way(self) -> bool:
        """Whether its job still waits or runs."""
        return self.job_status is not None and not self.job_status.finished


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One file that goes, the copy that stays for it, and what became of the step."""

    position: int
    file_id: int
    library_id: int
    relative_path: str
    size_bytes: int
    kept_file_id: int
    kept_library_id: int
    kept_path: str
    reason: KeepReason
    is_stale: bool
    """The file or the kept copy is known to be another by now: the step will be refused."""
    state: LogState | None
    error_code: str | None
    error_message: str | None


class DeletionPlans:
    """The plans of one database. Unless `allowed`, they can be made and checked, and none can be applied."""

    def __init__(self, database: Database, *, allowed: bool) -> None:
        self._database = database
        self.allowed = allowed

    async def make(
        self, rules: KeepRules, *, mode: DeleteMode = DeleteMode.TRASH, group_keys: Sequence[str] | None = None
    ) -> DeletionPlan:
        """Decide about these groups, by default about all from which room can be reclaimed."""
        keys = None if group_keys is None else [GroupKey.parse(key, "group_keys") for key in group_keys]
        return await self._database.write(lambda conn: _make(conn, rules, mode, keys))

    async def get(self, plan_id: int) -> DeletionPlan:
        """The plan as it stands; raises PlanNotFound."""
        return await self._database.read(lambda conn: _plan(conn, plan_id))

    async def recent(self, limit: int) -> list[DeletionPlan]:
        """The last plans that were made, the newest first."""
        return await self._database.read(
            lambda conn: [_plan(conn, plan_id) for (plan_id,) in conn.all(_SQL.recent, {"limit": limit})]
        )

    async def steps(self, plan_id: int, *, limit: int = 50, cursor: str | None = None) -> Page[PlanStep]:
        """A page of its steps, each with what became of it."""
        after = id_after(cursor, _LAST_POSITION)
        found = await self._database.read(
            lambda conn: conn.all(_SQL.steps, {"id": plan_id, "after": after, "limit": limit + 1})
        )
        return Page.cut([_step_of(row) for row in found], limit, lambda last: str(last.position))

    async def apply(self, plan_id: int, *, dry_run: bool = True, confirm: bool = False) -> DeletionPlan:
        """Have a data plane check every step; with `dry_run` off and confirmed, also do it.

        Raises DeletionNotAllowed, InvalidInput when it was not confirmed, PlanNotFound and PlanApplied.
        """
        if not dry_run and not self.allowed:
            raise DeletionNotAllowed(
                "nothing is removed while the setting allow_delete is off; set KURABITO_ALLOW_DELETE=true, or try a dry run"
            )
        if not dry_run and not confirm:
            raise InvalidInput("confirm", "must be true to apply a plan for good; look at its steps first")
        return await self._database.write(lambda conn: _apply(conn, plan_id, dry_run))


def _make(conn: Connection, rules: KeepRules, mode: DeleteMode, keys: Sequence[GroupKey] | None) -> DeletionPlan:
    _check_rules(conn, rules)
    removals: list[PlannedRemoval] = []
    groups, freed, is_complete = 0, 0, True
    unseen = set(rules.chosen)
    for group in _groups(conn, keys):
        if groups == MAX_GROUPS or len(removals) + group.file_count > MAX_STEPS:
            is_complete = False
            break
        files = files_of(conn, group.key, limit=MAX_STEPS)
        unseen.difference_update(file.id for file in files)
        gone = rules.removals(files)
        groups += bool(gone)
        freed += freed_bytes(gone)
        removals += gone
    if unseen and is_complete:
        # Its group may have changed since it was looked at: then another copy would stay than the one that was meant.
        problem = f"file {min(unseen)} is no copy in these groups any more; look at them again"
        raise InvalidInput("stays", problem, refused(InputReason.CHOICE))
    values = {
        "mode": mode.value,
        "rules": json.dumps(asdict(rules)),
        "group_count": groups,
        "file_count": len(removals),
        "freed_bytes": freed,
        "is_complete": int(is_complete),
    }
    plan_id = conn.value(_SQL.add_plan, values)
    steps = [(place, one.file.id, one.kept.id, one.reason.value) for place, one in enumerate(removals, start=1)]
    conn.run(_SQL.add_steps, {"plan_id": plan_id, "rows": json.dumps(steps)})
    return _plan(conn, plan_id)


def _check_rules(conn: Connection, rules: KeepRules) -> None:
    """Refuse rules that hold for nothing: a name that is not quite right protects nothing, unnoticed."""
    for preference in rules.keep:
        if preference.library_id is not None and conn.one(_SQL.library, {"id": preference.library_id}) is None:
            problem = f"there is no library {preference.library_id} to keep the copies of"
            raise InvalidInput("keep", problem, refused(InputReason.NO_LIBRARY))
    for one in rules.protected:
        if conn.one(_SQL.library, {"id": one.library_id}) is None:
            problem = f"there is no library {one.library_id} to protect"
            raise InvalidInput("protected", problem, refused(InputReason.NO_LIBRARY))
        # Everything below a folder sorts behind its slash and before the character after that.
        begin, end = (f"{one.folder}/", f"{one.folder}0") if one.folder else ("", "\U0010ffff")
        if conn.one(_SQL.file_below, {"library_id": one.library_id, "begin": begin, "end": end}) is None:
            where = f"library {one.library_id}" + (f", folder {one.folder!r}" if one.folder else "")
            problem = f"no file is known in {where}, so nothing would be protected; is it spelled right?"
            raise InvalidInput(
                "protected", problem, refused(InputReason.NOTHING_PROTECTED, path=one.folder or f"#{one.library_id}")
            )


def _groups(conn: Connection, keys: Sequence[GroupKey] | None) -> Iterator[DuplicateGroup]:
    if keys is None:
        # One more than a plan takes, to see whether there are more.
        yield from groups_after(conn, None, MAX_GROUPS + 1, reclaimable=True)
        return
    for key in dict.fromkeys(keys):
        if (group := reclaimable_group(conn, key)) is not None:
            yield group


def _apply(conn: Connection, plan_id: int, dry_run: bool) -> DeletionPlan:
    plan = _plan(conn, plan_id)
    job_id = order_delete_job(conn, {"plan": plan_id}, dry_run=dry_run, total=plan.file_count)
    values = {"id": plan_id, "job_id": job_id, "dry_run": int(dry_run)}
    if not conn.run(_SQL.note_job, values):
        raise PlanApplied(f"plan {plan_id} was already applied; create a new one")
    return _plan(conn, plan_id)


def _plan(conn: Connection, plan_id: int) -> DeletionPlan:
    row = conn.one(_SQL.plan, {"id": plan_id})
    if row is None:
        raise PlanNotFound(f"no deletion plan has the id {plan_id}")
    of = _PLAN.row(row)
    counted = conn.all(_SQL.outcomes, {"job_id": of.job_id}) if of.job_id else []
    return DeletionPlan(
        plan_id,
        DeleteMode(of.mode),
        _rules_of(json.loads(of.rules)),
        of.group_count,
        of.file_count,
        of.freed_bytes,
        bool(of.is_complete),
        to_datetime(of.created_at),
        optional_datetime(of.applied_at),
        of.job_id,
        None if of.status is None else JobStatus(of.status),
        None if of.dry_run is None else bool(of.dry_run),
        {LogState(state): count for state, count in counted},
    )


def _rules_of(stored: dict[str, Any]) -> KeepRules:
    return KeepRules(
        tuple(Preference(KeepRule(one["rule"]), one["library_id"]) for one in stored["keep"]),
        tuple(ProtectedFolder(**one) for one in stored["protected"]),
        tuple(stored.get("chosen", ())),
    )


def _step_of(row: Row) -> PlanStep:
    *what, reason, is_stale, state, code, message = row
    known = None if state is None else LogState(state)
    # Once it is done the file is another of course.
    stale = bool(is_stale) and known is not LogState.DONE
    cells: list[Any] = [*what, KeepReason(reason), stale, known, code, message]
    return PlanStep(*cells)

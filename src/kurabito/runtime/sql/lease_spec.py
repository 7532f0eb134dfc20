"""`tasks` as a leased table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from kurabito.clock import SECOND
from kurabito.db.leases import CLAIM, HEARTBEAT, RECOVER, LeaseSpec
from kurabito.db.port import Dialect
from kurabito.db.table_names import names_of
from kurabito.runtime.events import Fact
from kurabito.runtime.model import ERRORS_KEPT, MAX_LOST_LEASES, SUSPECT_LEASES
from kurabito.runtime.outcomes import POISON, Claim, Transition, lost_lease_error
from kurabito.runtime.sql.records import LeasedTask
from kurabito.runtime.states import TaskState

SUCCEED: Final = "succeed"
RESOLVE: Final = "resolve"
"""Every other end of a claim: retry, dead, postponed, put back."""

SUCCEED_VALUES: Final = ("progress_done", "progress_total", "result")
RESOLVE_VALUES: Final = (
    "progress_done",
    "progress_total",
    "state",
    "attempts",
    "max_attempts",
    "delay",
    "error",
    "traceback",
)

PROGRESS_COLUMNS: Final = {
    "progress_done": "coalesce(:progress_done, tasks.progress_done)",
    "progress_total": "CASE WHEN :progress_done IS NULL THEN tasks.progress_total ELSE :progress_total END",
}
SUCCEED_COLUMNS: Final = {
    **PROGRESS_COLUMNS,
    "state": "'succeeded'",
    "result": ":result",
    "finished_at": ":now",
}

_LEASE: Final = frozenset({"worker_heartbeat_at", "lease_expires_at", "updated_at"})
CLAIMABLE: Final = "state = 'queued'"
SAFE_TO_CLAIM: Final = f"{CLAIMABLE} AND lost_leases < {SUSPECT_LEASES}"
"""Without the suspects, of which a worker holds one at a time."""
_POISONOUS: Final = f"lost_leases + 1 >= {MAX_LOST_LEASES}"


@cache
def tasks_spec(dialect: Dialect, schema: str | None = None) -> LeaseSpec:
    """How `tasks` is leased. The dialects differ only in how an error is appended to a JSON list."""
    spec = _SPECS[dialect]
    return spec if schema is None else replace(spec, stored_as=names_of(dialect, schema)(spec.table))


def _append_error(dialect: Dialect, attempt: str, *, traced: bool = False) -> str:
    """SQL that appends `:error` to the task's list of errors and lets go of the oldest when it is long."""
    traceback = ", 'traceback', :traceback" if traced else ""
    if dialect is Dialect.SQLITE:
        kept = f"CASE WHEN json_array_length(errors) >= {ERRORS_KEPT} THEN json_remove(errors, '$[0]') ELSE errors END"
        entry = f"json_object('attempt', {attempt}, 'at', :now, 'error', :error{traceback})"
        return f"json_insert(coalesce({kept}, '[]'), '$[#]', {entry})"
    kept = f"CASE WHEN jsonb_array_length(errors) >= {ERRORS_KEPT} THEN errors - 0 ELSE errors END"
    entry = f"jsonb_build_object('attempt', {attempt}, 'at', :now, 'error', :error{traceback})"
    return f"coalesce({kept}, '[]'::jsonb) || {entry}"


def _spec(dialect: Dialect) -> LeaseSpec:
    lost = f"CASE WHEN {_POISONOUS} THEN '{POISON}' || :error ELSE :error END"
    return LeaseSpec(
        table="tasks",
        key="seq",
        state="state",
        running="running",
        claimable=CLAIMABLE,
        order="priority DESC, seq",
        stale_becomes=f"CASE WHEN {_POISONOUS} THEN 'dead' ELSE 'queued' END",
        leased="leased = 1",
        recovery_error=lost_lease_error,
        on_claim={"attempts": "attempts + 1", "started_at": ":now"},
        on_recover={
            "lost_leases": "lost_leases + 1",
            # A lost lease is not the task's failure: the attempt is given back.
            "attempts": "attempts - 1",
            "last_error": lost,
            "errors": _append_error(dialect, "attempts"),
            "finished_at": f"CASE WHEN {_POISONOUS} THEN :now END",
        },
        writes={
            CLAIM: _LEASE | {"state", "worker_id", "attempts", "started_at"},
            HEARTBEAT: _LEASE | PROGRESS_COLUMNS.keys(),
            SUCCEED: _LEASE | PROGRESS_COLUMNS.keys() | {"state", "result", "finished_at"},
            RESOLVE: _LEASE
            | PROGRESS_COLUMNS.keys()
            | {"state", "attempts", "max_attempts", "next_run_at", "last_error", "errors", "finished_at"},
            RECOVER: _LEASE | {"state", "worker_id", "attempts", "lost_leases", "last_error", "errors", "finished_at"},
        },
        returns=LeasedTask._fields,
        types={
            "result": "bytea",
            "state": "text",
            "attempts": "integer",
            "max_attempts": "integer",
            "delay": "bigint",
            "error": "text",
            "traceback": "text",
            "progress_done": "bigint",
            "progress_total": "bigint",
        },
    )


def resolve_columns(dialect: Dialect) -> dict[str, str]:
    """What the path `resolve` writes, from the values of each row."""
    return {
        **PROGRESS_COLUMNS,
        "state": ":state",
        "attempts": ":attempts",
        "max_attempts": ":max_attempts",
        "next_run_at": "CASE WHEN :delay IS NOT NULL THEN :now + :delay END",
        "last_error": "coalesce(:error, last_error)",
        "errors": f"CASE WHEN :error IS NULL THEN errors ELSE {_append_error(dialect, ':attempts', traced=True)} END",
        "finished_at": "CASE WHEN :state = 'dead' THEN :now END",
    }


def events_of(resolved: Sequence[tuple[Claim, Transition]], now: int) -> list[tuple[str, list[Fact]]]:
    """What to tell of claims that did not simply succeed: a failure before what follows from it."""
    failed: list[Fact] = []
    later: list[Fact] = []
    dead: list[Fact] = []
    for claim, to in resolved:
        if to.error is not None:
            failed.append((claim.hex, claim.task_type, claim.attempt, to.error))
        if to.delay is not None:
            later.append((claim.hex, claim.task_type, now + to.delay, to.delay / SECOND))
        if to.state is TaskState.DEAD:
            dead.append((claim.hex, claim.task_type, to.attempts, to.error))
    events = [("Failed", failed), ("RetryScheduled", later), ("Dead", dead)]
    return [(name, facts) for name, facts in events if facts]


_SPECS: Final = {dialect: _spec(dialect) for dialect in (Dialect.SQLITE, Dialect.POSTGRES)}

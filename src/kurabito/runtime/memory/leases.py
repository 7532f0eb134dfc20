"""Claim, settle, heartbeat and recover on the rows of an in-memory queue; every write of a worker is fenced by its owner."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Final

from kurabito.clock import SECOND
from kurabito.errors import InvalidInput
from kurabito.runtime.events import Fact
from kurabito.runtime.memory.event_log import Facts
from kurabito.runtime.memory.ready_heap import Entry, ReadyTasks
from kurabito.runtime.memory.rows import QUEUED, RETRY_SCHEDULED, RUNNING, TaskRow
from kurabito.runtime.memory.table import TaskTable
from kurabito.runtime.model import MAX_LOST_LEASES, SUSPECT_LEASES
from kurabito.runtime.outcomes import (
    Claim,
    Settlement,
    Success,
    Transition,
    lost_lease_error,
    transition_of,
    worker_lost_error,
)
from kurabito.runtime.port import Beat
from kurabito.runtime.states import TaskState, check_move
from kurabito.runtime.tasks.intake import PreparedTask

_SUCCEEDED: Final = TaskState.SUCCEEDED
_DEAD: Final = TaskState.DEAD
# A failure is told before what follows from it.
_ENDINGS: Final = ("Succeeded", "Failed", "RetryScheduled", "Dead")


def new_owner(worker: str) -> str:
    """An owner for one claim by this worker; the token tells two claims of the same worker apart."""
    if not worker or "#" in worker:
        raise InvalidInput("worker", f"a worker's name is not empty and has no '#', got {worker!r}")
    return f"{worker}#{os.urandom(8).hex()}"


def claim(
    table: TaskTable,
    owner: str,
    capacity: Mapping[str, int],
    limit: int,
    now: int,
    lease: int,
    *,
    suspects: bool = True,
) -> list[Claim]:
    """Take up to `limit` tasks, the best first among the types that have room."""
    check_move(QUEUED, RUNNING)
    claims: list[Claim] = []
    passed_over: list[TaskRow] = []
    facts = Facts("Started")
    say = facts.values.extend
    expires = now + lease
    heads: list[tuple[Entry, int, ReadyTasks]] = []
    for task_type, room in capacity.items():
        ready = table.ready.get(task_type)
        if ready is not None and room > 0 and (head := ready.head()) is not None:
            heads.append((head, room, ready))
    heapify(heads)
    records, running = table.records, table.running
    while heads and len(claims) < limit:
        entry, room, ready = heads[0]
        ready.pop()
        row = records[entry[2]]
        if not suspects and row.lost_leases >= SUSPECT_LEASES:
            passed_over.append(row)
        else:
            running[row.hex] = row
            row.state = RUNNING
            row.attempts = attempt = row.attempts + 1
            row.owner = owner
            row.lease_expires_at = expires
            row.started_at = row.updated_at = now
            claims.append(row.claim(owner, expires))
            say((row.hex, row.task_type, attempt))
            room -= 1
        if room > 0 and (head := ready.head()) is not None:
            heapreplace(heads, (head, room, ready))
        else:
            heappop(heads)
    for row in passed_over:
        table.ready[row.task_type].push(-row.priority, row)
    table.counts[QUEUED] -= len(claims)
    table.counts[RUNNING] += len(claims)
    table.tell("Started", now, facts)
    return claims


def settle(table: TaskTable, settling: Sequence[Settlement], now: int) -> list[Claim]:
    """Write how claims ended; the ones that are no longer owned are returned and change nothing."""
    transitions = _transitions(settling)
    lost: list[Claim] = []
    follow_ups: list[PreparedTask] = []
    endings = {name: Facts(name) for name in _ENDINGS}
    say = {name: facts.values.extend for name, facts in endings.items()}
    say_succeeded = say["Succeeded"]
    for claim, outcome in settling:
        row = _owned(table, claim)
        if row is None:
            lost.append(claim)
            continue
        if claim.progress is not None:
            row.progress = claim.progress
        # The usual end, written out because it is nearly all of the traffic; `transition_of` says the same.
        if type(outcome) is Success:
            row.result = outcome.result
            table.leave_running(row, _SUCCEEDED, now)
            say_succeeded((row.hex, row.task_type, row.attempts))
            follow_ups += outcome.follow_ups
            continue
        to = transitions[id(claim)]
        row.attempts, row.max_attempts = to.attempts, to.max_attempts
        if to.error is not None:
            row.fail(claim.attempt, to.error, now, to.traceback)
            say["Failed"]((row.hex, row.task_type, claim.attempt, to.error))
        if to.state is RETRY_SCHEDULED:
            row.next_run_at = due = now + (to.delay or 0)
            say["RetryScheduled"]((row.hex, row.task_type, due, (due - now) / SECOND))
        elif to.state is _DEAD:
            say["Dead"]((row.hex, row.task_type, row.attempts, to.error))
        table.leave_running(row, to.state, now)
    for name, facts in endings.items():
        table.tell(name, now, facts)
    if follow_ups:
        table.insert(follow_ups, now)
    return lost


def _transitions(settling: Sequence[Settlement]) -> dict[int, Transition]:
    """What becomes of the tasks that did not simply succeed; every move is checked before the first is made."""
    found = {id(claim): transition_of(claim, outcome) for claim, outcome in settling if type(outcome) is not Success}
    for state in {to.state for to in found.values()}:
        check_move(RUNNING, state)
    if len(found) < len(settling):
        check_move(RUNNING, _SUCCEEDED)
    return found


def beat(table: TaskTable, beats: Sequence[Beat], now: int, lease: int) -> list[Claim]:
    """Renew leases and write progress; the claims that are no longer owned are returned."""
    lost: list[Claim] = []
    facts: list[Fact] = []
    for sign in beats:
        row = _owned(table, sign.claim)
        if row is None:
            lost.append(sign.claim)
            continue
        row.lease_expires_at = now + lease
        row.updated_at = now
        if sign.progress is not None:
            row.progress = sign.progress
            facts.append((row.hex, row.task_type, sign.progress.done, sign.progress.total))
    table.tell("Progressed", now, facts)
    return lost


def recover(table: TaskTable, now: int) -> int:
    """Take running tasks whose lease ran out from their workers."""
    for state in (QUEUED, _DEAD):
        check_move(RUNNING, state)
    stale = [row for row in table.running.values() if row.lease_expires_at is None or row.lease_expires_at <= now]
    dead: list[Fact] = []
    for row in stale:
        row.fail(row.attempts, lost_lease_error(row.owner), now)
        # A lost lease is not the task's failure: the attempt is given back.
        row.attempts -= 1
        row.lost_leases += 1
        hopeless = row.lost_leases >= MAX_LOST_LEASES
        if hopeless:
            row.last_error = worker_lost_error(row.owner)
            dead.append((row.hex, row.task_type, row.attempts, row.last_error))
        row.owner = None
        table.leave_running(row, _DEAD if hopeless else QUEUED, now)
    table.tell("Dead", now, dead)
    return len(stale)


def expire(table: TaskTable, worker: str, now: int) -> int:
    """End the leases of a worker that is known to be dead."""
    expired = 0
    for row in table.running.values():
        held = row.owner is not None and row.owner.startswith(f"{worker}#")
        if held and row.lease_expires_at is not None and row.lease_expires_at > now:
            row.lease_expires_at = now
            expired += 1
    return expired


def _owned(table: TaskTable, claim: Claim) -> TaskRow | None:
    """The claim's row while its lease is the claim's: also an expired one that was not recovered yet."""
    row = table.running.get(claim.hex)
    return row if row is not None and row.owner == claim.owner else None

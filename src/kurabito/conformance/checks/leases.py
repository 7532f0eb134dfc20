"""Claims, heartbeats, ends, and what a plane does that lost its lease."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from kurabito.clock import SECOND
from kurabito.conformance.checks.registry import check
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.journal import NotedWrite
from kurabito.conformance.recording import Recording
from kurabito.conformance.scenarios.removals import IN_LINE
from kurabito.conformance.subject import LEASE_SECONDS
from kurabito.db.leases import CLAIM
from kurabito.protocol.tables import TABLES

_OWNER: Final = re.compile(r"[A-Za-z0-9._-]{1,200}#(\S{11,})")
"""64 bits are eleven characters at least, in whatever alphabet."""
_CLAIMED: Final = {table.name: table.lease.writes[CLAIM] for table in TABLES if table.lease}
"""What a claim writes, by the table."""
_LEASED: Final = tuple(_CLAIMED)
_FINDINGS: Final = ("library_files", "scan_sessions", "scan_findings")
_ENDS: Final = {"completed", "ready", "failed"}
_LEASE: Final = LEASE_SECONDS * SECOND


def _updates(run: Recording) -> Iterator[NotedWrite]:
    return (write for write in run.writes_to(*_LEASED) if write.operation == "UPDATE")


def _claims(run: Recording) -> list[NotedWrite]:
    return [w for w in _updates(run) if w.old["status"] != "running" and w.new["status"] == "running"]


def _is_lease_of(write: NotedWrite, moment: int | None) -> bool:
    expires_at = write.new["lease_expires_at"]
    return moment is not None and expires_at is not None and abs(expires_at - moment - _LEASE) <= SECOND / 2


@check("LEASE-1")
def a_claim_begins_a_lease(run: Recording) -> Iterator[str]:
    for write in _claims(run):
        if not write.new["worker_id"] or not _is_lease_of(write, write.new["worker_heartbeat_at"]):
            yield f"a claim did not write an owner, now, and now + {LEASE_SECONDS:g} s: {write}"
        elif abs(write.new["worker_heartbeat_at"] - write.at) > 10 * SECOND:
            yield f"worker_heartbeat_at of a claim is not now: {write}"
        claimed = _CLAIMED[write.table]
        if "started_at" in claimed and abs((write.new["started_at"] or 0) - write.at) > 10 * SECOND:
            yield f"started_at of a claim is not now: {write}"
        if "finished_at" in claimed and write.new["finished_at"] is not None:
            yield f"a claim left finished_at: {write}"


@check("LEASE-1", "removing")
def the_first_is_claimed_first(run: Recording) -> Iterator[str]:
    claimed = [write.row["id"] for write in _claims(run) if write.row["id"] in IN_LINE]
    if claimed != list(IN_LINE):
        yield f"jobs that waited since the beginning, {IN_LINE}, were claimed as {claimed}"


@check("LEASE-2")
def owners_are_new_for_each_claim(run: Recording) -> Iterator[str]:
    tokens: set[str] = set()
    for write in _claims(run):
        found = _OWNER.fullmatch(str(write.new["worker_id"]))
        if found is None or found[1] in tokens:
            yield f"{write.new['worker_id']!r} is no name with a new token of 64 bits: {write}"
        else:
            tokens.add(found[1])


@check("LEASE-3", "leases")
def a_long_job_is_renewed_in_time(run: Recording) -> Iterator[str]:
    beats = [
        w for w in run.writes_to("jobs", before="beating") if w.row["id"] == "again" and w.new["status"] == "running"
    ]
    for earlier, later in pairwise(beats):
        if later.at - earlier.at > _LEASE:
            yield f"no heartbeat for {(later.at - earlier.at) / SECOND:.1f} s: {later}"
    yield from (
        f"a heartbeat did not write now + {LEASE_SECONDS:g} s: {beat}"
        for beat in beats
        if not _is_lease_of(beat, beat.new["worker_heartbeat_at"])
    )


@check("LEASE-3", "leases")
def a_heartbeat_is_fenced(run: Recording) -> Iterator[str]:
    late = (write for write in run.writes_to("jobs", after="cancelled") if write.row["id"] == "long")
    yield from (
        f"a job was written to that had been cancelled: {write}" for write in late if write.new["status"] != "failed"
    )


@check("LEASE-3", "leases")
@check("LEASE-8", "leases")
def a_job_of_another_is_left(run: Recording) -> Iterator[str]:
    others = (write for write in run.writes_to("jobs", after="taken") if write.row["id"] == "taken")
    yield from (f"a job was written to that another plane had by then: {write}" for write in others)


@check("LEASE-4", "leases")
def findings_are_fenced(run: Recording) -> Iterator[str]:
    for write in run.writes_to(*_FINDINGS, after="cancelled", before="went on"):
        if write.row.get("library_id") == 1:
            yield f"a finding was stored after the job had been cancelled: {write}"


@check("LEASE-4")
def a_transaction_begins_with_the_lease(run: Recording) -> Iterator[str]:
    begun: set[int] = set()
    for write in run.writes:
        if write.transaction is None:
            return
        if write.table in _LEASED:
            begun.add(write.transaction)
        elif write.table in _FINDINGS and write.transaction not in begun:
            yield f"a transaction stored a finding before it renewed the lease: {write}"


@check("LEASE-5")
def an_end_is_complete(run: Recording) -> Iterator[str]:
    for write in _updates(run):
        if write.old["status"] == "running" and write.new["status"] in _ENDS and not _is_given_up(write):
            row = write.new
            if row["lease_expires_at"] is not None or row["finished_at"] is None or not row["worker_id"]:
                yield f"an end keeps worker_id, writes finished_at, and NULL to lease_expires_at: {write}"
            if row["status"] != "failed" and row["error_code"] is not None:
                yield f"all is well, and error_code is {row['error_code']}: {write}"


@check("LEASE-6", "leases")
def stale_rows_are_taken_away(run: Recording) -> Iterator[str]:
    for name in ("expired", "without end"):
        row = run.job("went on", name)
        lease = (row["worker_id"], row["worker_heartbeat_at"], row["lease_expires_at"])
        # Nothing was to be done, so a plane that put it back to be claimed would have finished it.
        if (row["status"], row["error_code"]) != ("retryable", "LEASE_EXPIRED") or lease != (None, None, None):
            yield f"the stale job {name!r} is {row['status']} with {row['error_code']} and the lease {lease}"
        elif not row["error_message"]:
            yield f"the stale job {name!r} has no message"


@check("LEASE-7")
def only_legal_moves_are_made(run: Recording) -> Iterator[str]:
    for write in _updates(run):
        if not _is_legal(write):
            yield f"from {write.old['status']} of {write.old['worker_id']}: {write}"


def _is_legal(write: NotedWrite) -> bool:
    old, new = write.old, write.new
    if old["status"] != "running":
        return bool(new["status"] == "running")
    if new["status"] == "running" or new["status"] in _ENDS:
        return bool(old["worker_id"] == new["worker_id"]) or _is_given_up(write)
    keeps_owner = write.table in ("wal_maintenance_jobs", "inspections", "placements")
    return new["status"] in ("retryable", "pending") and (keeps_owner or new["worker_id"] is None)


def _is_given_up(write: NotedWrite) -> bool:
    """Whether a stale row lost its last worker: any plane ends it then."""
    return write.table in ("inspections", "placements") and write.new["error_code"] == "WORKER_LOST"


@check("LEASE-7", "leases")
def rows_of_living_owners_stay(run: Recording) -> Iterator[str]:
    touched = (write for write in run.writes_to("jobs") if write.row["id"] == "of another")
    yield from (f"another plane has this job for an hour yet: {write}" for write in touched)


@check("LEASE-8", "leases")
def a_lost_job_is_left(run: Recording) -> Iterator[str]:
    written = [
        w for w in run.writes_to(*_FINDINGS, after="cancelled", before="went on") if w.row.get("library_id") == 1
    ]
    if written:
        yield f"work on a cancelled job went on: {written[0]}"
    elif run.job("ended", "long")["status"] != "cancelled":
        yield f"a job that had been cancelled is {run.job('ended', 'long')['status']}"


@check("LEASE-9", "leases")
def what_was_not_finished_is_given_back(run: Recording) -> Iterator[str]:
    row = run.job("ended", "again")
    lease = (row["worker_id"], row["worker_heartbeat_at"], row["lease_expires_at"])
    if row["status"] != "retryable" or lease != (None, None, None):
        yield f"after SIGTERM the job is {row['status']} with the lease {lease}"
    elif row["error_code"] is not None or row["error_message"] is not None:
        yield f"the job was given back with {row['error_code']}"


@check("PLANE-6", "leases")
def a_busy_database_is_waited_for(run: Recording) -> Iterator[str]:
    if not run.seen.get("has locks"):
        raise NotApplicable("on PostgreSQL a writer waits for a row, and not for all others")
    owners = {write.new["worker_id"] for write in run.writes_to("jobs", after="beating", before="ended")}
    if len(owners - {None}) > 1:
        yield "a plane that had to wait for the database lost its job"


@check("PLANE-9", "leases")
def it_looks_again(run: Recording) -> Iterator[str]:
    row = run.job("went on", "ends soon")
    if (row["status"], row["error_code"]) != ("retryable", "LEASE_EXPIRED"):
        yield f"a lease that ended while the plane had nothing to do is {row['status']} with {row['error_code']}"


@check("LEASE-10", "leases")
def what_was_put_aside_stays(run: Recording) -> Iterator[str]:
    touched = (write for write in run.writes_to("jobs") if write.row["id"] == "put aside")
    yield from (f"what becomes of a retryable job the control plane decides: {write}" for write in touched)


@check("JOB-3")
def no_plane_cancels(run: Recording) -> Iterator[str]:
    yield from (
        f"only the control plane cancels: {write}" for write in _updates(run) if write.new["status"] == "cancelled"
    )

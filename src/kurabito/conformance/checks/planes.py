"""Versions, registration, and what a plane may not write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from kurabito.clock import SECOND
from kurabito.conformance.checks.registry import check
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.recording import Recording
from kurabito.conformance.scenarios.leases import OTHERS
from kurabito.conformance.subject import HEARTBEAT_SECONDS, LEASE_SECONDS
from kurabito.protocol.rights import DATA_PLANE
from kurabito.protocol.tables import TABLES
from kurabito.protocol.version import SPOKEN, Capability

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,200}")
_POLICY: Final = ("protocol_version", "library_roots", "deletion_policy", "deletion_plans", "deletion_steps")
_NOT_INSERTED: Final = frozenset(table.name for table in TABLES if table.lease)
_TRIGGERED: Final = "duplicate_groups"


@check("VER-1", "another major")
def another_major_is_refused(run: Recording) -> Iterator[str]:
    if run.exit_code is None:
        yield "the plane went on with a database of version 2.3"
    elif run.exit_code == 0:
        yield "the plane ended with 0 on a database of version 2.3"
    if run.writes:
        yield f"the plane wrote to a database of version 2.3: {run.writes[0]}"
    if run.exit_code and ("2.3" not in run.output or f"{SPOKEN.major}." not in run.output):
        yield f"the plane did not say both versions, but {run.output!r}"


@check("VER-2", "joining")
def the_version_is_registered(run: Recording) -> Iterator[str]:
    for row in run.rows("joined", "data_planes"):
        if not re.fullmatch(rf"{SPOKEN.major}\.[0-9]+", row["protocol"]):
            yield f"data_planes.protocol is {row['protocol']!r}"


@check("VER-3", "scanning")
def a_later_minor_does_not_disturb(run: Recording) -> Iterator[str]:
    job = run.job("first", "first")
    if job["status"] != "completed":
        yield f"with a database of version 1.7 the scan became {job['status']}: {job['error_message']}"


@check("VER-4", "joining")
def capabilities_are_known_words(run: Recording) -> Iterator[str]:
    for row in run.rows("joined", "data_planes"):
        words = _list(row["capabilities"])
        if not words or not set(words) <= set(Capability):
            yield f"data_planes.capabilities is {row['capabilities']!r}"


@check("PLANE-1")
def only_listed_columns_are_written(run: Recording) -> Iterator[str]:
    for write in run.writes:
        if write.operation == "UPDATE" and write.table not in (*_POLICY, _TRIGGERED):
            forbidden = write.changed - DATA_PLANE.update.get(write.table, frozenset())
            if forbidden:
                yield f"{', '.join(sorted(forbidden))} of {write.table} may not be written: {write}"


@check("PLANE-1")
def what_is_not_its_own_stays(run: Recording) -> Iterator[str]:
    before, after = run.surroundings
    yield from (f"{name!r} was added to the schema" for name in sorted(after.names - before.names))
    yield from (f"{name!r} was taken from the schema" for name in sorted(before.names - after.names))
    for table, content in before.contents.items():
        if after.contents.get(table, content) != content:
            yield f"the table {table!r} is of another part of Kurabito, and was written"


@check("PLANE-10", "scanning", "hashing")
def a_library_is_only_read(run: Recording) -> Iterator[str]:
    before, after = run.seen["tree before"], run.seen["tree after"]
    yield from (f"{path!r} was made in the folder of a library" for path in sorted(after.keys() - before.keys()))
    for path, what in before.items():
        if after.get(path) != what:
            yield f"{path!r} was mode, size, mtime and inode {what}, and is {after.get(path)}"


@check("PLANE-2")
def policy_is_not_written(run: Recording) -> Iterator[str]:
    yield from (f"{write.table} is policy: {write}" for write in run.writes_to(*_POLICY))


@check("PLANE-3")
def rows_to_lease_are_not_inserted(run: Recording) -> Iterator[str]:
    inserted = (write for write in run.writes_to(*_NOT_INSERTED) if write.operation == "INSERT")
    yield from (f"only the control plane makes these rows: {write}" for write in inserted)


@check("PLANE-4")
def rows_are_not_deleted(run: Recording) -> Iterator[str]:
    may_go = {*DATA_PLANE.delete, *_POLICY, _TRIGGERED}
    yield from (f"it was deleted: {w}" for w in run.writes if w.operation == "DELETE" and w.table not in may_go)


@check("PLANE-8", "joining", "leases")
def it_ends_when_asked(run: Recording) -> Iterator[str]:
    if run.exit_code != 0:
        yield f"after SIGTERM its exit code was {run.exit_code}; it said {run.output!r}"
    moment = "left" if "left" in run.moments else "ended"
    left = [row["name"] for row in run.rows(moment, "data_planes") if row["name"] not in OTHERS]
    if left:
        yield f"after SIGTERM its row stayed in data_planes: {left[0]}"


@check("PLANE-7", "joining")
def a_lost_connection_is_made_again(run: Recording) -> Iterator[str]:
    if run.seen.get("has locks"):
        raise NotApplicable("only PostgreSQL has connections that are lost")
    if run.exit_code is not None and run.exit_code != 0:
        yield f"after its sessions had been ended it left with {run.exit_code}; it said {run.output!r}"


@check("REG-1")
def claims_are_of_registered_planes(run: Recording) -> Iterator[str]:
    known: set[str] = set()
    for write in run.writes:
        if write.table == "data_planes":
            change = known.discard if write.operation == "DELETE" else known.add
            change(write.row["name"])
        elif write.new.get("status") == "running" and "worker_id" in write.changed:
            name = str(write.new["worker_id"]).partition("#")[0]
            if name not in known:
                yield f"{name!r} is not in data_planes: {write}"


@check("REG-2", "joining")
def the_row_is_renewed(run: Recording) -> Iterator[str]:
    beats = []
    for write in run.writes_to("data_planes", before="joined"):
        row = write.new
        if write.operation != "DELETE":
            beats.append(row["heartbeat_at"])
            if abs(row["expires_at"] - row["heartbeat_at"] - LEASE_SECONDS * SECOND) > SECOND:
                yield f"expires_at is not heartbeat_at + {LEASE_SECONDS:g} s: {write}"
            if abs(row["heartbeat_at"] - write.at) > 10 * SECOND:
                yield f"heartbeat_at is not now: {write}"
    gaps = [later - earlier for earlier, later in pairwise(beats)]
    if any(gap > LEASE_SECONDS * SECOND for gap in gaps):
        yield f"it was told to renew every {HEARTBEAT_SECONDS:g} s, and once took {max(gaps) / SECOND:.1f} s"


@check("REG-3", "joining", "two planes")
def names_are_plain_and_its_own(run: Recording) -> Iterator[str]:
    for write in run.writes_to("data_planes"):
        if not _NAME.fullmatch(write.row["name"]):
            yield f"the name {write.row['name']!r} has other characters than are allowed, or is too long"


@check("REG-5", "joining")
def a_lock_says_that_it_lives(run: Recording) -> Iterator[str]:
    if run.seen.get("lock") is None:
        raise NotApplicable("the plane holds no lock, as it may")
    if not run.seen["lock"]:
        yield "the file of its lock is there while it lives, and is not locked"
    if run.seen["lock at the end"]:
        yield "its lock is held after its end: a program that it started has it"


@check("REG-6", "leases")
def the_dead_are_seen_to(run: Recording) -> Iterator[str]:
    living, dead = (run.rows("ended", "data_planes", name=name) for name in ("living", "dead"))
    if not living:
        yield "a plane whose lock is held was taken for dead"
        return
    job, has_file = run.job("ended", "of the dead"), run.seen.get("lock of the dead")
    if dead and job["status"] == "running" and has_file is not False:
        raise NotApplicable("the plane sees to no others, as it may")
    if dead or job["worker_id"] is not None or has_file:
        yield f"of a dead plane the row is {'there' if dead else 'gone'}, its job {job['status']}, its file {has_file}"


@check("VER-5", "leases")
def what_it_does_not_know_is_left(run: Recording) -> Iterator[str]:
    job = run.job("ended", "of a later kind")
    if job["status"] != "pending" and (job["status"], job["error_code"]) != ("failed", "WORKER_FAILURE"):
        yield f"a job of a kind that it cannot know is {job['status']} with {job['error_code']}"


@check("REG-4", "joining")
def lines_and_version_are_there(run: Recording) -> Iterator[str]:
    for row in run.rows("joined", "data_planes"):
        if _list(row["lines"]) is None or not row["version"]:
            yield f"lines is {row['lines']!r} and version {row['version']!r}"


def _list(text: str) -> list[Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, list) else None

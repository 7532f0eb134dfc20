"""Faults of removals."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from tests.conformance.planes.faults.fault import Proxy, edit, fault, nothing, put

from kurabito.dataplane.deletion import job as delete_job
from kurabito.dataplane.deletion import log, steps, trash
from kurabito.dataplane.deletion.steps import StepExecution
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.removal import aliases, file_refs
from kurabito.dataplane.removal.moves import move_to_trash
from kurabito.dataplane.removal.pairs import Pair, open_pair
from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.jobs import JOBS

_SQL = log._SQL


@fault("JOB-1")
def begins_what_is_not_allowed() -> None:
    put(JOBS, "claimable", "status = 'pending'")


@fault("DELETE-2")
def takes_steps_backwards() -> None:
    edit(_SQL, "next_step", "ORDER BY step.position", "ORDER BY step.position DESC")
    edit(_SQL, "next_step", "step.position > :after", ":after = :after")


@fault("DELETE-3")
def trusts_the_plan() -> None:
    put(StepExecution, "_check_decision", nothing)


@fault("DELETE-4")
def does_not_look_at_the_disk() -> None:
    def open_both(step: Any, roots: Any) -> Pair:
        wanted = step._step
        return open_pair(roots, roots.file(wanted.library_id, wanted.relative_path), step._kept(roots))

    put(StepExecution, "_open", open_both)


@fault("DELETE-5")
def trusts_the_hashes() -> None:
    put(Pair, "compare", nothing)


@fault("DELETE-5")
def believes_a_wrong_hash() -> None:
    put(StepExecution, "_have_read_again", nothing)


@fault("DELETE-6")
def says_nothing_of_a_dry_run() -> None:
    note = log.note
    put(log, "note", lambda conn, intent, state, *rest: note(conn, intent, state, *rest) if rest else None)


@fault("DELETE-7")
def does_not_say_where_it_goes() -> None:
    edit(_SQL, "intend", ":trash_path, :now", "NULL, :now")


@fault("DELETE-9")
def forgets_that_a_file_is_gone() -> None:
    edit(_SQL, "file_is_gone", "is_missing = 1", "is_missing = 0")


@fault("DELETE-9")
def forgets_the_entry() -> None:
    edit(_SQL, "add_entry", "WHERE log.id = :id", "WHERE log.id = :id AND 1 = 0")


@fault("DELETE-10")
def gives_up_at_a_refusal() -> None:
    refuse = StepExecution._refuse

    def refuse_and_fail(step: Any, refused: Any) -> None:
        refuse(step, refused)
        if not step._job.dry_run:
            raise JobFailed(ErrorCode.DISK_FAILURE, "a step was refused")

    put(StepExecution, "_refuse", refuse_and_fail)


@fault("DELETE-8")
def copies_into_the_trash() -> None:
    move = move_to_trash

    def copy(pair: Any, aside: Any, *rest: Any) -> Any:
        seen = move(pair, aside, *rest)
        with os.fdopen(os.open(aside.name, os.O_RDONLY, dir_fd=aside.folder), "rb") as file:
            content = file.read()
            os.unlink(aside.name, dir_fd=aside.folder)
            with os.fdopen(os.open(aside.name, os.O_WRONLY | os.O_CREAT, dir_fd=aside.folder), "wb") as new:
                new.write(content)
        return seen

    put(steps, "move_to_trash", copy)


@fault("DELETE-11")
def begins_every_step_at_its_beginning() -> None:
    next_step = log.next_step

    def forget(*args: Any) -> Any:
        step = next_step(*args)
        return step and replace(step, begun_as=None, trash_path=None)

    put(log, "next_step", forget)


@fault("DELETE-12")
def leaves_what_others_began() -> None:
    put(delete_job, "settle_abandoned", nothing)


@fault("TRASH-1")
def opens_the_trash_to_all() -> None:
    os.umask(0)
    put(
        file_refs,
        "os",
        Proxy(os, mkdir=lambda name, mode, *, dir_fd: os.mkdir(name, 0o777, dir_fd=dir_fd)),
    )


@fault("TRASH-3")
def writes_no_sidecar() -> None:
    put(Sidecar, "write", nothing)


@fault("TRASH-4")
def purges_the_last_copy() -> None:
    find = trash._Leaving._find_another

    def find_any(leaving: Any, roots: Any, entry: Any, trashed: Any) -> Any:
        try:
            return find(leaving, roots, entry, trashed)
        except file_refs.RemovalRefused:
            os.unlink(trashed.name, dir_fd=trashed.folder)
            return None

    put(trash._Leaving, "_find_another", find_any)


@fault("TRASH-5")
def restores_without_saying_so() -> None:
    edit(_SQL, "file_is_back", "is_missing = 0", "is_missing = 1")


@fault("TRASH-7")
def stops_a_purge_at_a_refusal() -> None:
    each = delete_job._each

    def each_or_fail(job: LeasedJob, entries: list[str], act: Any) -> Any:
        if refusals := each(job, entries, act):
            raise JobFailed(refusals[0].error_code, str(refusals[0]))
        return []

    put(delete_job, "_each", each_or_fail)


@fault("DELETE-1")
def asks_for_permission_once() -> None:
    put(delete_job, "_refuse_unless_allowed", nothing)


@fault("DELETE-13")
def trusts_every_mount() -> None:
    for name in ("refuse_twins", "refuse_seen_elsewhere", "refuse_touched"):
        put(aliases, name, nothing)

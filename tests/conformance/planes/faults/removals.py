"""Faults of plans that remove files."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from tests.conformance.planes.faults.fault import Proxy, edit, fault, nothing, put

from kurabito.dataplane.deletion import discards, log, steps, trash
from kurabito.dataplane.deletion import job as delete_job
from kurabito.dataplane.deletion.steps import StepExecution
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.jobs import JobFailed
from kurabito.dataplane.removal import aliases, sidecar
from kurabito.dataplane.removal.file_refs import FileRef
from kurabito.dataplane.removal.moves import move_to_trash
from kurabito.dataplane.removal.pairs import Pair, open_pair
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


@fault("DELETE-8", check="a file is renamed")
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


@fault("DELETE-11", check="a step that was begun is taken again")
def begins_every_step_at_its_beginning() -> None:
    next_step = log.next_step

    def forget(*args: Any) -> Any:
        step = next_step(*args)
        return step and replace(step, begun_as=None, trash_path=None)

    put(log, "next_step", forget)


@fault("DELETE-12", check="what its keeper deleted is listed when it cannot go back")
def lists_only_what_a_plan_moved() -> None:
    stays = log.stays_in_trash
    put(log, "stays_in_trash", lambda conn, log_id, _=None: stays(conn, log_id))


@fault("DELETE-12", check="what a dead plane began is mended")
def leaves_what_others_began() -> None:
    put(delete_job, "settle_abandoned", nothing)


@fault("DELETE-12")
def leaves_a_sidecar_without_its_file() -> None:
    put(trash, "sidecar", Proxy(sidecar, remove=nothing))


@fault("DELETE-1")
def asks_for_permission_once() -> None:
    put(delete_job, "_refuse_unless_allowed", nothing)


@fault("DELETE-3")
def keeps_what_it_also_removes() -> None:
    edit(_SQL, "next_step", "other.file_id = step.kept_file_id", "other.file_id = -1")


@fault("DELETE-4")
def keeps_a_copy_in_the_trash() -> None:
    put(FileRef, "in_trash", None)


@fault("DELETE-4")
def follows_links_when_it_removes() -> None:
    def follow(root: Any, folders: list[str]) -> int:
        return os.open(root.folder.joinpath(*folders), os.O_RDONLY | os.O_DIRECTORY)

    put(Root, "open_folder", follow)


@fault("DELETE-6")
def makes_the_trash_on_a_dry_run() -> None:
    open_both = StepExecution._open

    def open_and_make(step: Any, roots: Any) -> Pair:
        wanted = step._step
        roots.file(wanted.library_id, roots.trash_path(wanted.library_id, wanted.relative_path, "x"), create=True)
        return open_both(step, roots)

    put(StepExecution, "_open", open_and_make)


@fault("DELETE-7")
def takes_what_is_in_other_hands() -> None:
    edit(_SQL, "contested", "log.state = 'intent'", "log.state = 'never'")


@fault("DELETE-9")
def enters_another_size() -> None:
    edit(_SQL, "add_entry", "step.size_bytes", "step.size_bytes + 1")


@fault("DELETE-13")
def trusts_every_mount() -> None:
    for name in ("refuse_twins", "refuse_seen_elsewhere", "refuse_touched"):
        put(aliases, name, nothing)


@fault("DELETE-14")
def forgets_what_was_deleted() -> None:
    put(log, "_add_discarded", nothing)


@fault("DELETE-14")
def tells_of_a_copy_of_what_was_deleted() -> None:
    told = discards._Discard._sidecar
    put(discards._Discard, "_sidecar", lambda *args: replace(told(*args), kept_path="/a copy"))


@fault("DELETE-14")
def begins_every_deletion_at_its_beginning() -> None:
    put(log, "begun_at", lambda *_: None)

"""`delete` jobs: each step of a plan is checked against the disk, written down, taken, and written down again.

    check    both files opened, compared to the last byte      (nothing stored)
    intent   in a transaction that holds only with the lease   (what is about to be done, and under which name in the trash)
    act      a last look, then one rename
    outcome  done, or refused and why                          (with what it means for the file)

A crash after the intent is found by whoever takes the job next, or any other delete job. It looks at the disk, puts back what
was half done, and begins the step anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from kurabito.dataplane import delete_log as log
from kurabito.dataplane.delete_log import Intent, Step
from kurabito.dataplane.delete_moves import (
    Pair,
    discard,
    move_to_trash,
    open_pair,
    put_back,
    replace_by_clone,
    replace_by_link,
)
from kurabito.dataplane.delete_places import Place, Refused, Seen, Visit
from kurabito.dataplane.delete_trash import purge, restore, settle_abandoned
from kurabito.dataplane.held import HeldJob
from kurabito.dataplane.jobs import JobFailed
from kurabito.errors import PathEscapes, RootUnavailable
from kurabito.protocol.codes import ErrorCode
from kurabito.protocol.deletion import DeleteMode, LogAction, LogState

_ACT: Final[dict[DeleteMode, Callable[[Pair, Place], Seen]]] = {
    DeleteMode.TRASH: move_to_trash,
    DeleteMode.HARDLINK: replace_by_link,
    DeleteMode.REFLINK: replace_by_clone,
}


def delete(job: HeldJob) -> None:
    """Do a `delete` job."""
    settle_abandoned(job)
    match job.payload:
        case {"plan": int(plan_id)}:
            _take_steps(job, plan_id)
        case {"restore": [*entries]}:
            _each(job, entries, restore)
        case {"purge": [*entries]}:
            _each(job, entries, purge)
        case _:
            raise JobFailed(ErrorCode.WORKER_FAILURE, "the job's payload names neither a plan nor entries of the trash")


def _each(job: HeldJob, entries: list[str], act: Callable[[HeldJob, int, str], None]) -> None:
    for position, entry_id in enumerate(entries, start=1):
        job.check()
        act(job, position, entry_id)
        job.report(position, position / len(entries))


def _take_steps(job: HeldJob, plan_id: int) -> None:
    plan = job.read(lambda conn: log.plan_of(conn, plan_id))
    if plan is None:
        raise JobFailed(ErrorCode.WORKER_FAILURE, f"there is no plan {plan_id}")
    mode, total = plan
    processed, after = job.read(lambda conn: log.count_settled(conn, job.id)), 0
    while (step := _next(job, plan_id, after)) is not None:
        job.check()
        _Taking(job, plan_id, mode, step).take()
        processed, after = processed + 1, step.position
        job.report(processed, processed / total)


def _next(job: HeldJob, plan_id: int, after: int) -> Step | None:
    return job.read(lambda conn: log.next_step(conn, job.id, plan_id, after))


class _Taking:
    """One step of a plan."""

    def __init__(self, job: HeldJob, plan_id: int, mode: DeleteMode, step: Step) -> None:
        self._job = job
        self._mode = mode
        self._step = step
        self._begun_as = step.begun_as
        self._intent = Intent(
            job.id,
            step.position,
            LogAction(mode.value),
            step.library_id,
            step.relative_path,
            plan_id,
            step.kept_library_id,
            step.kept_path,
        )

    def take(self) -> None:
        """Bring the step to an end, one way or the other."""
        try:
            with Visit(self._folder_of) as visit:
                if not self._was_done(visit):
                    self._check_decision()
                    pair = self._open(visit)
                    pair.compare(self._job.check)
                    if self._job.dry_run:
                        self._job.write(lambda conn: log.note(conn, self._intent, LogState.CHECKED))
                    else:
                        self._act(visit, pair)
        except Refused as refused:
            self._refuse(refused)
        except RootUnavailable as problem:
            self._refuse(Refused(ErrorCode.ROOT_UNAVAILABLE, str(problem)))
        except PathEscapes as problem:
            self._refuse(Refused(ErrorCode.PATH_ESCAPES, str(problem)))
        except OSError as problem:
            self._refuse(Refused(ErrorCode.DISK_FAILURE, f"the file or its copy cannot be used: {problem.strerror}"))

    def _was_done(self, visit: Visit) -> bool:
        """Put back what an earlier attempt left half done; true when it had come to its end and only did not say so."""
        step, log_id = self._step, self._begun_as
        if log_id is None or step.trash_path is None:
            return False
        self._see_that_it_is_ours()
        try:
            source, aside = visit.begun(step.library_id, step.relative_path, step.trash_path)
        except (RootUnavailable, OSError) as problem:
            # To refuse it now could leave a file in the trash that nobody knows of.
            raise JobFailed(
                ErrorCode.ROOT_UNAVAILABLE, f"a step that was begun cannot be looked at: {problem}"
            ) from None
        if not self._undo(aside, source):
            self._job.write(lambda conn: log.stays_in_trash(conn, log_id))
            return True
        there = source.look()
        if there is not None:
            found = there
            unread = self._job.read(lambda conn: log.unread_of_size(conn, found.size))
            self._job.write(lambda conn: log.not_gone(conn, step.library_id, step.relative_path, found, unread))
        kept = self._kept(visit).look()
        if self._mode is not DeleteMode.HARDLINK or there is None or kept is None or there.file != kept.file:
            return False
        self._job.write(lambda conn: log.linked(conn, log_id, step, there))
        return True

    def _check_decision(self) -> None:
        """Refuse what was decided about other files than are known now."""
        step = self._step
        if step.kept_is_removed:
            raise Refused(ErrorCode.KEPT_IN_DOUBT, "the plan removes the kept copy too")
        if step.is_stale:
            raise Refused(ErrorCode.FILE_CHANGED, "the file changed, moved or was hashed again since the plan was made")
        if step.kept_is_stale:
            raise Refused(
                ErrorCode.KEPT_CHANGED, "the kept copy changed, moved or was hashed again since the plan was made"
            )

    def _open(self, visit: Visit) -> Pair:
        step = self._step
        try:
            source = visit.place(step.library_id, step.relative_path)
        except (FileNotFoundError, NotADirectoryError):
            raise Refused(ErrorCode.FILE_MISSING, "the folder of the file is not there any more") from None
        pair = open_pair(visit, source, self._kept(visit))
        if (pair.source_seen.size, pair.source_seen.mtime_ns) != (step.size_bytes, step.mtime_ns):
            raise Refused(ErrorCode.FILE_CHANGED, "the file is not as large or as old as when the plan was made")
        if (pair.kept_seen.size, pair.kept_seen.mtime_ns) != (step.size_bytes, step.kept_mtime_ns):
            raise Refused(ErrorCode.KEPT_CHANGED, "the kept copy is not as large or as old as when the plan was made")
        return pair

    def _kept(self, visit: Visit) -> Place:
        try:
            return visit.place(self._step.kept_library_id, self._step.kept_path)
        except (FileNotFoundError, NotADirectoryError):
            raise Refused(
                ErrorCode.KEPT_MISSING, "the folder of the kept copy is not there any more, so this one stays"
            ) from None

    def _act(self, visit: Visit, pair: Pair) -> None:
        step = self._step
        log_id = self._begun_as or log.new_id()
        trash_path = step.trash_path or visit.trash_path(step.library_id, step.relative_path, log_id)
        if self._begun_as is None:
            self._job.write(lambda conn: log.intend(conn, self._intent, log_id, trash_path))
            self._begun_as = log_id
        else:
            # An earlier attempt wrote it down already.
            self._see_that_it_is_ours()
        aside = visit.place(step.library_id, trash_path, create=True)
        pair.look_again()
        try:
            now = _ACT[self._mode](pair, aside)
        except (Refused, OSError):
            # It may have failed because another did it, who took the job while this process stood still.
            self._see_that_it_is_ours()
            if self._undo(aside, pair.source):
                raise
            self._job.write(lambda conn: log.stays_in_trash(conn, log_id))
            return
        if self._mode is DeleteMode.TRASH:
            self._job.write(lambda conn: log.trashed(conn, log_id, step))
        else:
            self._job.write(lambda conn: log.linked(conn, log_id, step, now))

    def _see_that_it_is_ours(self) -> None:
        """Renew the lease, or raise LeaseLost before the disk is touched."""
        self._job.write(lambda _: None)

    def _undo(self, aside: Place, source: Place) -> bool:
        """Leave things as they were; false when a file is in the trash and something else where it was."""
        try:
            if self._mode is DeleteMode.TRASH:
                return aside.look() is None or put_back(aside, source)
            discard(aside, source)
        except OSError as problem:
            raise JobFailed(
                ErrorCode.DISK_FAILURE,
                f"a step could neither be taken nor undone: {problem.strerror}; the next delete job sees to it",
            ) from None
        return True

    def _refuse(self, refused: Refused) -> None:
        log_id, intent = self._begun_as, self._intent
        if log_id is None:
            self._job.write(lambda conn: log.note(conn, intent, LogState.REFUSED, refused))
        else:
            self._job.write(lambda conn: log.settle(conn, log_id, LogState.REFUSED, refused))

    def _folder_of(self, library_id: int) -> Path:
        return self._job.read(lambda conn: log.root_of(conn, library_id))

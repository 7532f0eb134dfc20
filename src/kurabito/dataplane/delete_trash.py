"""Out of the trash: back to where a file was, or away for good; and what others began and left."""

from __future__ import annotations

from pathlib import Path

from kurabito.dataplane import delete_log as log
from kurabito.dataplane.delete_log import Abandoned, Entry, Intent
from kurabito.dataplane.delete_moves import discard, open_pair, put_back, remove
from kurabito.dataplane.delete_places import Place, Refused, Seen, Visit
from kurabito.dataplane.held import HeldJob
from kurabito.dataplane.jobs import JobFailed
from kurabito.errors import PathEscapes, RootUnavailable
from kurabito.logs import get_logger
from kurabito.protocol.codes import ErrorCode
from kurabito.protocol.deletion import LogAction, LogState

_log = get_logger(__name__)


def restore(job: HeldJob, position: int, entry_id: str) -> None:
    """Put a file back where it was, if nothing is there now."""
    _Leaving(job, position, entry_id, LogAction.RESTORE).leave()


def purge(job: HeldJob, position: int, entry_id: str) -> None:
    """Remove a file for good, if another copy of it is there, to the last byte."""
    _Leaving(job, position, entry_id, LogAction.PURGE).leave()


class _Leaving:
    """One entry that leaves the trash."""

    def __init__(self, job: HeldJob, position: int, entry_id: str, action: LogAction) -> None:
        self._job = job
        self._position = position
        self._entry_id = entry_id
        self._action = action
        self._begun_as: str | None = None

    def leave(self) -> None:
        entry = self._job.read(lambda conn: log.entry_of(conn, self._job.id, self._position, self._entry_id))
        if entry is None:
            # It left already, with this job before a crash or with another one.
            return
        self._begun_as = entry.begun_as
        intent = Intent(self._job.id, self._position, self._action, entry.library_id, entry.relative_path)
        try:
            with Visit(lambda library_id: _folder_of(self._job, library_id)) as visit:
                lying = visit.place(entry.library_id, entry.trash_path)
                if self._action is LogAction.RESTORE:
                    self._restore(visit, entry, intent, lying)
                else:
                    self._purge(visit, entry, intent, lying)
        except Refused as refused:
            self._refuse(intent, refused)
        except (RootUnavailable, PathEscapes) as problem:
            if entry.begun_as is not None:
                raise JobFailed(ErrorCode.ROOT_UNAVAILABLE, f"what was begun cannot be looked at: {problem}") from None
            self._refuse(intent, Refused(ErrorCode.ROOT_UNAVAILABLE, str(problem)))
        except OSError as problem:
            if entry.begun_as is not None:
                raise JobFailed(ErrorCode.DISK_FAILURE, f"what was begun cannot be looked at: {problem}") from None
            self._refuse(intent, Refused(ErrorCode.DISK_FAILURE, f"the trash cannot be used: {problem.strerror}"))

    def _restore(self, visit: Visit, entry: Entry, intent: Intent, lying: Place) -> None:
        if self._begun_as is None and lying.look() is None:
            raise Refused(ErrorCode.FILE_MISSING, "the file is not in the trash any more; somebody took it")
        log_id = self._intend(intent, entry)
        target = visit.place(entry.library_id, entry.relative_path, create=True)
        there = _bring_back(lying, target)
        if there is None:
            raise Refused(ErrorCode.TARGET_EXISTS, "another file is where it was; move that one first")
        unread = _unread_of(self._job, there)
        self._job.write(lambda conn: log.restored(conn, log_id, entry, there, unread))

    def _purge(self, visit: Visit, entry: Entry, intent: Intent, lying: Place) -> None:
        if lying.look() is not None:
            self._find_another(visit, entry, lying)
        log_id = self._intend(intent, entry)
        remove(lying)
        self._job.write(lambda conn: log.purged(conn, log_id, entry))

    def _find_another(self, visit: Visit, entry: Entry, lying: Place) -> None:
        for library_id, path in self._job.read(lambda conn: log.other_copies(conn, entry)):
            try:
                open_pair(visit, lying, visit.place(library_id, path)).compare(self._job.check)
            except (Refused, RootUnavailable, PathEscapes, OSError):
                continue
            return
        raise Refused(ErrorCode.LAST_COPY, "no other copy of this file was found, so it stays in the trash")

    def _intend(self, intent: Intent, entry: Entry) -> str:
        if (log_id := self._begun_as) is None:
            log_id = log.new_id()
            self._job.write(lambda conn: log.intend(conn, intent, log_id, entry.trash_path))
            self._begun_as = log_id
        else:
            self._job.write(lambda _: None)
        return log_id

    def _refuse(self, intent: Intent, refused: Refused) -> None:
        if (log_id := self._begun_as) is None:
            self._job.write(lambda conn: log.note(conn, intent, LogState.REFUSED, refused))
        else:
            self._job.write(lambda conn: log.settle(conn, log_id, LogState.REFUSED, refused))


def settle_abandoned(job: HeldJob) -> None:
    """Undo or finish what jobs that are over left half done: they were cancelled, or lost one worker too many."""
    for begun in job.read(lambda conn: log.abandoned(conn, job.id)):
        # As before every touch of the disk: renew the lease, or learn that it is gone.
        job.write(lambda _: None)
        try:
            with Visit(lambda library_id: _folder_of(job, library_id)) as visit:
                _settle(job, visit, begun)
        except (Refused, RootUnavailable, PathEscapes, OSError) as problem:
            # A disk that is not there now may be there when the next job looks.
            _log.warning("a step stays half done", step=begun.id, problem=str(problem))


def _settle(job: HeldJob, visit: Visit, begun: Abandoned) -> None:
    target, lying = visit.begun(begun.library_id, begun.relative_path, begun.trash_path)
    lost = Refused(ErrorCode.WORKER_LOST, "its worker was lost; nothing was changed, or it was put back")
    match begun.action:
        case LogAction.TRASH:
            if lying.look() is not None and not put_back(lying, target):
                job.write(lambda conn: log.stays_in_trash(conn, begun.id))
                return
            if (found := target.look()) is not None:
                unread = _unread_of(job, found)
                job.write(lambda conn: log.not_gone(conn, begun.library_id, begun.relative_path, found, unread))
        case LogAction.HARDLINK | LogAction.REFLINK:
            discard(lying, target)
            if begun.action is LogAction.HARDLINK and _is_linked(visit, begun, target):
                job.write(lambda conn: log.settle(conn, begun.id, LogState.DONE))
                return
        case LogAction.RESTORE | LogAction.PURGE:
            entry = job.read(lambda conn: log.entry_of(conn, job.id, 0, lying.name))
            if entry is not None and begun.action is LogAction.RESTORE and (there := _bring_back(lying, target)):
                unread = _unread_of(job, there)
                job.write(lambda conn: log.restored(conn, begun.id, entry, there, unread))
                return
            if entry is not None and begun.action is LogAction.PURGE and lying.look() is None:
                job.write(lambda conn: log.purged(conn, begun.id, entry))
                return
    job.write(lambda conn: log.settle(conn, begun.id, LogState.REFUSED, lost))


def _is_linked(visit: Visit, begun: Abandoned, target: Place) -> bool:
    if begun.kept_library_id is None or begun.kept_path is None:
        return False
    kept, there = visit.place(begun.kept_library_id, begun.kept_path).look(), target.look()
    return kept is not None and there is not None and kept.file == there.file


def _bring_back(lying: Place, target: Place) -> Seen | None:
    """Put back what was about to be, unless that had been done before a crash; None when another file is there."""
    if lying.look() is not None and not put_back(lying, target):
        return None
    return target.look()


def _unread_of(job: HeldJob, there: Seen) -> list[int]:
    # Looked for before anything is written: it may take a moment, and nobody has to wait for that.
    return job.read(lambda conn: log.unread_of_size(conn, there.size))


def _folder_of(job: HeldJob, library_id: int) -> Path:
    return job.read(lambda conn: log.root_of(conn, library_id))

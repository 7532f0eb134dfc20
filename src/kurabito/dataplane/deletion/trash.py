"""Out of the trash: back to where a file was, or away for good; and what others began and left."""

from __future__ import annotations

from pathlib import Path

from kurabito.dataplane.deletion import log
from kurabito.dataplane.deletion.model import Abandoned, Intent, TrashedFile
from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.removal import sidecar
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused, sync
from kurabito.dataplane.removal.moves import put_back
from kurabito.dataplane.removal.own_names import settle_leftovers, unlink
from kurabito.dataplane.removal.pairs import Pair, open_pair
from kurabito.dataplane.removal.replacement import destroy, discard, settle_link
from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.logs import get_logger
from kurabito.protocol.deletion import LogAction, LogState
from kurabito.protocol.error_codes import ErrorCode

_log = get_logger(__name__)


def restore(job: LeasedJob, position: int, entry_id: str) -> RemovalRefused | None:
    """Put a file back where it was, if nothing is there now; why it was not, if it was not."""
    return _Leaving(job, position, entry_id, LogAction.RESTORE).leave()


def purge(job: LeasedJob, position: int, entry_id: str) -> RemovalRefused | None:
    """Remove a file for good, if another copy of it is there, to the last byte; why it was not, if it was not."""
    return _Leaving(job, position, entry_id, LogAction.PURGE).leave()


class _Leaving:
    """One entry that leaves the trash."""

    def __init__(self, job: LeasedJob, position: int, entry_id: str, action: LogAction) -> None:
        self._job = job
        self._position = position
        self._entry_id = entry_id
        self._action = action
        self._begun_as: str | None = None

    def leave(self) -> RemovalRefused | None:
        entry = self._job.read(lambda conn: log.entry_of(conn, self._job.id, self._position, self._entry_id))
        if entry is None:
            # It left already, with this job before a crash or with another one.
            return None
        if entry.refused_as is not None:
            # This job came to it before it was given back or reset.
            return RemovalRefused(ErrorCode(entry.refused_as), entry.refused_because or "")
        self._begun_as = entry.begun_as
        intent = Intent(self._job.id, self._position, self._action, entry.library_id, entry.relative_path)
        try:
            with OpenRoots[int](lambda library_id: _folder_of(self._job, library_id)) as roots:
                trashed = self._open(roots, entry)
                if self._action is LogAction.RESTORE:
                    self._restore(roots, entry, intent, trashed)
                else:
                    self._purge(roots, entry, intent, trashed)
        except RemovalRefused as refused:
            return self._refuse(intent, refused)
        except (RootUnavailable, PathEscapes) as problem:
            if entry.begun_as is not None:
                raise JobFailed(ErrorCode.ROOT_UNAVAILABLE, f"what was begun cannot be looked at: {problem}") from None
            return self._refuse(intent, RemovalRefused(ErrorCode.ROOT_UNAVAILABLE, str(problem)))
        except OSError as problem:
            if entry.begun_as is not None:
                raise JobFailed(ErrorCode.DISK_FAILURE, f"what was begun cannot be looked at: {problem}") from None
            cause = RemovalRefused(ErrorCode.DISK_FAILURE, f"the disk refused it: {problem.strerror}")
            return self._refuse(intent, cause)
        return None

    def _open(self, roots: OpenRoots[int], entry: TrashedFile) -> FileRef:
        """Where it lies; raises RootUnavailable without the trash folder, because a disk that is not mounted looks like that."""
        if entry.begun_as is not None:
            return roots.begun(entry.library_id, entry.relative_path, entry.trash_path)[1]
        try:
            return roots.file(entry.library_id, entry.trash_path)
        except FileNotFoundError:
            raise RootUnavailable("the trash folder is not there; is its disk mounted?") from None

    def _restore(self, roots: OpenRoots[int], entry: TrashedFile, intent: Intent, trashed: FileRef) -> None:
        if self._begun_as is None and trashed.look() is None:
            raise RemovalRefused(
                ErrorCode.FILE_MISSING, "the file is not in the trash any more; it was moved or removed there"
            )
        log_id = self._intend(intent, entry)
        target = roots.file(entry.library_id, entry.relative_path, create=True)
        there = _bring_back(trashed, target)
        if there is None:
            raise RemovalRefused(ErrorCode.TARGET_EXISTS, "another file is where it was; move that one first")
        unread = _unread_of(self._job, there)
        self._job.write(lambda conn: log.restored(conn, log_id, entry, there, unread))

    def _purge(self, roots: OpenRoots[int], entry: TrashedFile, intent: Intent, trashed: FileRef) -> None:
        is_there = trashed.look() is not None
        pair = self._find_another(roots, entry, trashed) if is_there and not entry.is_discarded else None
        log_id = self._intend(intent, entry)
        if pair is not None:
            destroy(pair)
        elif is_there:
            unlink(trashed)
            sync(trashed)
        sidecar.remove(trashed)
        self._job.write(lambda conn: log.purged(conn, log_id, entry))

    def _find_another(self, roots: OpenRoots[int], entry: TrashedFile, trashed: FileRef) -> Pair:
        if entry.successor_path is not None:
            return self._find_successor(roots, entry.library_id, entry.successor_path, trashed)
        for library_id, path in self._job.read(lambda conn: log.other_copies(conn, entry)):
            try:
                pair = open_pair(roots, trashed, roots.file(library_id, path))
                pair.compare(self._job.check)
            except (RemovalRefused, RootUnavailable, PathEscapes, OSError):
                continue
            return pair
        raise RemovalRefused(ErrorCode.LAST_COPY, "no other copy of this file was found, so it stays in the trash")

    def _find_successor(self, roots: OpenRoots[int], library_id: int, path: str, trashed: FileRef) -> Pair:
        """The file that took its place, which has another content; while that is there, this one is not needed."""
        try:
            return open_pair(roots, trashed, roots.file(library_id, path))
        except (RemovalRefused, RootUnavailable, PathEscapes, OSError):
            raise RemovalRefused(
                ErrorCode.LAST_COPY,
                "the file that took its place is not there any more, so this one stays in the trash",
            ) from None

    def _intend(self, intent: Intent, entry: TrashedFile) -> str:
        if (log_id := self._begun_as) is None:
            log_id = log.new_id()
            self._job.write(lambda conn: log.intend(conn, intent, log_id, entry.trash_path))
            self._begun_as = log_id
        else:
            self._job.write(lambda _: None)
        return log_id

    def _refuse(self, intent: Intent, refused: RemovalRefused) -> RemovalRefused:
        if (log_id := self._begun_as) is None:
            self._job.write(lambda conn: log.note(conn, intent, LogState.REFUSED, refused))
        else:
            self._job.write(lambda conn: log.settle(conn, log_id, LogState.REFUSED, refused))
        return refused


def settle_abandoned(job: LeasedJob) -> None:
    """Undo or finish what jobs that are over left half done: they were cancelled, or lost one worker too many."""
    for begun in job.read(lambda conn: log.abandoned(conn, job.id)):
        # As before every touch of the disk: renew the lease, or learn that it is gone.
        job.write(lambda _: None)
        try:
            with OpenRoots[int](lambda library_id: _folder_of(job, library_id)) as roots:
                _settle(job, roots, begun)
        except (RemovalRefused, RootUnavailable, PathEscapes, OSError) as problem:
            # A disk that is not there now may be there when the next job looks.
            _log.warning("step left half done", step=begun.id, problem=str(problem))


def _settle(job: LeasedJob, roots: OpenRoots[int], begun: Abandoned) -> None:
    target, trashed = roots.begun(begun.library_id, begun.relative_path, begun.trash_path)
    is_settled = False
    match begun.action:
        case LogAction.TRASH:
            is_settled = _settle_trash(job, begun, trashed, target)
        case LogAction.HARDLINK:
            is_settled = _settle_link(job, roots, begun, trashed, target)
        case LogAction.REFLINK:
            discard(trashed, target)
        case LogAction.RESTORE | LogAction.PURGE:
            is_settled = _settle_leaving(job, begun, trashed, target)
    if not is_settled:
        lost = RemovalRefused(ErrorCode.WORKER_LOST, "its worker was lost; nothing was changed, or it was put back")
        job.write(lambda conn: log.settle(conn, begun.id, LogState.REFUSED, lost))


def _settle_trash(job: LeasedJob, begun: Abandoned, trashed: FileRef, target: FileRef) -> bool:
    settle_leftovers(trashed, target)
    if trashed.look() is not None and not put_back(trashed, target):
        noted = Sidecar.read(trashed)
        job.write(lambda conn: log.stays_in_trash(conn, begun.id, noted))
        return True
    sidecar.remove(trashed)
    if (found := target.look()) is not None:
        unread = _unread_of(job, found)
        job.write(lambda conn: log.not_gone(conn, begun.library_id, begun.relative_path, found, unread))
    return False


def _settle_link(job: LeasedJob, roots: OpenRoots[int], begun: Abandoned, aside: FileRef, target: FileRef) -> bool:
    kept = _kept_of(roots, begun)
    if aside.look() is not None and not job.read(log.may_remove):
        raise RemovalRefused(
            ErrorCode.DELETION_NOT_ALLOWED, "what a link replaced is not removed while allow_delete is off"
        )
    try:
        settle_link(lambda one, other: open_pair(roots, one, other), aside, target, kept)
    except RemovalRefused:
        job.write(lambda conn: log.stays_in_trash(conn, begun.id))
        return True
    there, staying = target.look(), None if kept is None else kept.look()
    if there is None or staying is None or there.file != staying.file:
        return False
    job.write(lambda conn: log.settle(conn, begun.id, LogState.DONE))
    return True


def _settle_leaving(job: LeasedJob, begun: Abandoned, trashed: FileRef, target: FileRef) -> bool:
    entry = job.read(lambda conn: log.entry_of(conn, job.id, 0, trashed.name))
    if entry is None:
        return False
    if begun.action is LogAction.RESTORE and (there := _bring_back(trashed, target)):
        unread = _unread_of(job, there)
        job.write(lambda conn: log.restored(conn, begun.id, entry, there, unread))
        return True
    if begun.action is LogAction.PURGE and trashed.look() is None:
        sidecar.remove(trashed)
        job.write(lambda conn: log.purged(conn, begun.id, entry))
        return True
    return False


def _kept_of(roots: OpenRoots[int], begun: Abandoned) -> FileRef | None:
    if begun.kept_library_id is None or begun.kept_path is None:
        return None
    try:
        return roots.file(begun.kept_library_id, begun.kept_path)
    except (RootUnavailable, OSError):
        return None


def _bring_back(trashed: FileRef, target: FileRef) -> FileStamp | None:
    """Put back what was about to be, unless that had been done before a crash; None when another file is there."""
    settle_leftovers(trashed, target)
    if trashed.look() is not None and not put_back(trashed, target):
        return None
    sidecar.remove(trashed)
    return target.look()


def _unread_of(job: LeasedJob, there: FileStamp) -> list[int]:
    # Looked for before anything is written: it may take a moment, and no writer has to wait for that.
    return job.read(lambda conn: log.unread_of_size(conn, there.size))


def _folder_of(job: LeasedJob, library_id: int) -> Path:
    return job.read(lambda conn: log.root_of(conn, library_id))

"""One step of a plan: a file that goes, because a copy of it stays."""

from __future__ import annotations

from pathlib import Path

from kurabito.dataplane.deletion import log
from kurabito.dataplane.deletion.model import DeleteStep, Intent
from kurabito.dataplane.deletion.refusals import refusing
from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.removal import sidecar
from kurabito.dataplane.removal.file_refs import FileRef, OpenRoots, RemovalRefused
from kurabito.dataplane.removal.moves import move_to_trash, put_back
from kurabito.dataplane.removal.own_names import settle_leftovers
from kurabito.dataplane.removal.pairs import Pair, open_pair
from kurabito.dataplane.removal.replacement import discard, replace_by_link, settle_link
from kurabito.dataplane.removal.shared_blocks import share_blocks
from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.protocol.deletion import DeleteMode, LogAction, LogState
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode


class StepExecution:
    """One step, from its check to its outcome."""

    def __init__(self, job: LeasedJob, plan_id: int, mode: DeleteMode, step: DeleteStep) -> None:
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
        with refusing(self._refuse, "the file or its copy cannot be used"), OpenRoots(self._folder_of) as roots:
            if not self._was_done(roots):
                self._check_decision()
                self._check_and_act(roots)

    def _was_done(self, roots: OpenRoots[int]) -> bool:
        """Put back what an earlier attempt left half done; true when it had come to its end and only did not say so."""
        step, log_id = self._step, self._begun_as
        if log_id is None or step.trash_path is None:
            return False
        self._see_that_it_is_ours()
        try:
            source, aside = roots.begun(step.library_id, step.relative_path, step.trash_path)
        except (RootUnavailable, OSError) as problem:
            # To refuse it now could leave a file in the trash that no table knows of.
            raise JobFailed(
                ErrorCode.ROOT_UNAVAILABLE, f"a step that was begun cannot be looked at: {problem}"
            ) from None
        kept = self._kept_if_there(roots)
        if not self._undo(roots, aside, source, kept):
            self._note_stays(log_id, aside)
            return True
        there, staying = source.look(), None if kept is None else kept.look()
        if there is not None:
            found = there
            unread = self._job.read(lambda conn: log.unread_of_size(conn, found.size))
            self._job.write(lambda conn: log.not_gone(conn, step.library_id, step.relative_path, found, unread))
        if self._mode is not DeleteMode.HARDLINK or there is None or staying is None or there.file != staying.file:
            return False
        self._job.write(lambda conn: log.linked(conn, log_id, step, there))
        return True

    def _check_decision(self) -> None:
        """Refuse what was decided about other files than are known now."""
        step = self._step
        if step.kept_is_removed:
            raise RemovalRefused(ErrorCode.KEPT_IN_DOUBT, "the plan removes the kept copy too")
        if step.is_stale:
            raise RemovalRefused(
                ErrorCode.FILE_CHANGED, "the file changed, moved or was hashed again since the plan was made"
            )
        if step.kept_is_stale:
            raise RemovalRefused(
                ErrorCode.KEPT_CHANGED, "the kept copy changed, moved or was hashed again since the plan was made"
            )

    def _check_and_act(self, roots: OpenRoots[int]) -> None:
        pair = self._open(roots)
        try:
            pair.compare(self._job.check)
            if self._job.dry_run:
                self._job.write(lambda conn: log.note(conn, self._intent, LogState.CHECKED))
            else:
                self._act(roots, pair)
        except RemovalRefused as refused:
            if refused.error_code is ErrorCode.CONTENT_DIFFERS:
                self._have_read_again(pair)
            raise

    def _open(self, roots: OpenRoots[int]) -> Pair:
        step = self._step
        try:
            source = roots.file(step.library_id, step.relative_path)
        except (FileNotFoundError, NotADirectoryError):
            raise RemovalRefused(ErrorCode.FILE_MISSING, "the folder of the file is not there any more") from None
        pair = open_pair(roots, source, self._kept(roots))
        if source.in_trash is not None:
            raise RemovalRefused(ErrorCode.PATH_ESCAPES, "the file lies in a trash folder, which belongs to no library")
        if (pair.source_seen.size, pair.source_seen.mtime_ns) != (step.size_bytes, step.mtime_ns):
            raise RemovalRefused(ErrorCode.FILE_CHANGED, "the file is not as large or as old as when the plan was made")
        if (pair.kept_seen.size, pair.kept_seen.mtime_ns) != (step.size_bytes, step.kept_mtime_ns):
            raise RemovalRefused(
                ErrorCode.KEPT_CHANGED, "the kept copy is not as large or as old as when the plan was made"
            )
        return pair

    def _kept(self, roots: OpenRoots[int]) -> FileRef:
        try:
            return roots.file(self._step.kept_library_id, self._step.kept_path)
        except (FileNotFoundError, NotADirectoryError):
            raise RemovalRefused(
                ErrorCode.KEPT_MISSING, "the folder of the kept copy is not there any more, so this one stays"
            ) from None

    def _kept_if_there(self, roots: OpenRoots[int]) -> FileRef | None:
        try:
            return self._kept(roots)
        except (RemovalRefused, RootUnavailable, OSError):
            # What was begun is undone all the same.
            return None

    def _act(self, roots: OpenRoots[int], pair: Pair) -> None:
        step = self._step
        log_id = self._begun_as or log.new_id()
        trash_path = step.trash_path or roots.trash_path(step.library_id, step.relative_path, log_id)
        if self._begun_as is None:
            self._job.write(lambda conn: log.intend(conn, self._intent, log_id, trash_path))
            self._begun_as = log_id
        else:
            # An earlier attempt wrote it down already.
            self._see_that_it_is_ours()
        match self._mode:
            case DeleteMode.REFLINK:
                share_blocks(pair, self._job.check)
                self._job.write(lambda conn: log.shared(conn, log_id, step))
            case DeleteMode.HARDLINK | DeleteMode.TRASH:
                aside = roots.file(step.library_id, trash_path, create=True)
                self._move(roots, pair, aside, log_id)

    def _move(self, roots: OpenRoots[int], pair: Pair, aside: FileRef, log_id: str) -> None:
        step = self._step
        try:
            if self._mode is DeleteMode.TRASH:
                self._sidecar(aside).write(aside)
                now = move_to_trash(pair, aside, self._see_that_it_is_ours)
            else:
                now = replace_by_link(pair, aside)
        except (RemovalRefused, OSError):
            # It may have failed because another data plane took the job, while this process was stopped, and did the step.
            self._see_that_it_is_ours()
            if self._undo(roots, aside, pair.source, pair.kept):
                raise
            self._note_stays(log_id, aside)
            return
        if self._mode is DeleteMode.TRASH:
            self._job.write(lambda conn: log.trashed(conn, log_id, step))
        else:
            self._job.write(lambda conn: log.linked(conn, log_id, step, now))

    def _see_that_it_is_ours(self) -> None:
        """Renew the lease, or raise LeaseLost before the disk is touched."""
        self._job.write(lambda _: None)

    def _undo(self, roots: OpenRoots[int], aside: FileRef, source: FileRef, kept: FileRef | None) -> bool:
        """Leave things as they were; false when a file is in the trash and something else where it was."""
        try:
            match self._mode:
                case DeleteMode.TRASH:
                    settle_leftovers(aside, source)
                    if aside.look() is not None and not put_back(aside, source):
                        return False
                    sidecar.remove(aside)
                case DeleteMode.HARDLINK:
                    settle_link(lambda one, other: open_pair(roots, one, other), aside, source, kept)
                case DeleteMode.REFLINK:
                    discard(aside, source)
        except RemovalRefused:
            return aside.look() is None
        except OSError as problem:
            raise JobFailed(
                ErrorCode.DISK_FAILURE,
                f"a step could neither be taken nor undone: {problem.strerror}; the next delete job sees to it",
            ) from None
        return True

    def _note_stays(self, log_id: str, aside: FileRef) -> None:
        self._sidecar(aside).write(aside)
        self._job.write(lambda conn: log.stays_in_trash(conn, log_id))

    def _sidecar(self, aside: FileRef) -> Sidecar:
        """What is to be known of the file when the database is not."""
        step = self._step
        above = "/".join(aside.folders[:-1])
        return Sidecar(
            path=step.relative_path.removeprefix(above + "/") if above else step.relative_path,
            size_bytes=step.size_bytes,
            mtime_ns=step.mtime_ns,
            hash_algorithm=HashAlgorithm(step.hash_algorithm),
            content_hash=bytes(step.content_hash),
            trashed_at=self._job.read(lambda conn: conn.now()),
            library=str(aside.root),
            reason=step.reason,
            kept_path=str(self._folder_of(step.kept_library_id) / step.kept_path),
            plan_id=self._intent.plan_id,
        )

    def _have_read_again(self, pair: Pair) -> None:
        """The two are not equal although their hashes are: find out which one is not what its hash says, and have it read."""
        step = self._step
        whole = Reader(mapped=False).whole(HashAlgorithm(step.hash_algorithm))
        files = ((step.file_id, pair.source_fd), (step.kept_file_id, pair.kept_fd))
        wrong = [file for file, fd in files if whole(fd, step.size_bytes)[0] != bytes(step.content_hash)]
        self._job.write(lambda conn: log.read_again(conn, wrong or [file for file, _ in files]))

    def _refuse(self, refused: RemovalRefused) -> None:
        log_id, intent = self._begun_as, self._intent
        if log_id is None:
            self._job.write(lambda conn: log.note(conn, intent, LogState.REFUSED, refused))
        else:
            self._job.write(lambda conn: log.settle(conn, log_id, LogState.REFUSED, refused))

    def _folder_of(self, library_id: int) -> Path:
        return self._job.read(lambda conn: log.root_of(conn, library_id))

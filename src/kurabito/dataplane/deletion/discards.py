"""Files that their keeper deleted: each goes to the trash, from where it can be put back, whether a copy of it is there or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from kurabito.dataplane.deletion import log
from kurabito.dataplane.deletion.model import BegunStep, Intent
from kurabito.dataplane.deletion.refusals import refusing
from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.jobs import JobFailed, LeasedJob
from kurabito.dataplane.removal import sidecar, successor
from kurabito.dataplane.removal.file_refs import FileRef, FileStamp, OpenRoots, RemovalRefused
from kurabito.dataplane.removal.moves import put_back
from kurabito.dataplane.removal.own_names import settle_leftovers
from kurabito.dataplane.removal.sidecar import Sidecar
from kurabito.protocol.deletion import LogAction, LogState
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode

REASON: Final = "discarded"
"""Why the file lies in the trash, as its sidecar says."""


class DiscardedFile(NamedTuple):
    """A file as its keeper saw it when it was deleted."""

    file_id: int
    library_id: int
    path: str
    size_bytes: int
    mtime_ns: int


def discard(job: LeasedJob, position: int, asked: Any) -> None:
    """Move one file to the trash, or say why not."""
    match asked:
        case {
            "file_id": int(file_id),
            "library_id": int(library_id),
            "path": str(path),
            "size_bytes": int(size),
            "mtime_ns": int(mtime_ns),
        }:
            _Discard(job, position, DiscardedFile(file_id, library_id, path, size, mtime_ns)).take()
        case _:
            raise JobFailed(ErrorCode.WORKER_FAILURE, "the job's payload names a file in a way that is not understood")


class _Discard:
    """One file, from its check to its outcome."""

    def __init__(self, job: LeasedJob, position: int, file: DiscardedFile) -> None:
        self._job = job
        self._file = file
        self._intent = Intent(job.id, position, LogAction.TRASH, file.library_id, file.path)
        self._begun: BegunStep | None = None

    def take(self) -> None:
        begun = self._job.read(lambda conn: log.begun_at(conn, self._job.id, self._intent.position))
        if begun is not None and begun.state != LogState.INTENT:
            # This job brought it to an end before it was given back.
            return
        self._begun = begun
        with refusing(self._refuse, "the disk refused it"), OpenRoots(self._folder_of) as roots:
            if begun is not None and not self._put_back(roots, begun):
                return
            try:
                self._act(roots)
            except FileNotFoundError as problem:
                raise RemovalRefused(ErrorCode.FILE_MISSING, "the file is not there any more") from problem

    def _put_back(self, roots: OpenRoots[int], begun: BegunStep) -> bool:
        """Undo what a crash left half done; false when it cannot be, and the file stays in the trash."""
        self._see_that_it_is_ours()
        try:
            source, aside = roots.begun(self._file.library_id, self._file.path, begun.trash_path)
        except (RootUnavailable, OSError) as problem:
            raise JobFailed(ErrorCode.ROOT_UNAVAILABLE, f"what was begun cannot be looked at: {problem}") from None
        settle_leftovers(aside, source)
        if aside.look() is not None and not put_back(aside, source):
            noted = Sidecar.read(aside)
            self._job.write(lambda conn: log.stays_in_trash(conn, begun.id, noted))
            return False
        sidecar.remove(aside)
        return True

    def _act(self, roots: OpenRoots[int]) -> None:
        file = self._file
        known = self._job.read(lambda conn: log.file_to_discard(conn, *file))
        if known is None:
            raise RemovalRefused(
                ErrorCode.FILE_CHANGED, "the file changed or moved since it was deleted; look at it again"
            )
        source = roots.file(file.library_id, file.path)
        seen = source.look()
        if seen is None:
            raise RemovalRefused(ErrorCode.FILE_MISSING, "the file is not there any more, or is no ordinary file")
        if source.in_trash is not None:
            raise RemovalRefused(ErrorCode.PATH_ESCAPES, "the file lies in a trash folder, which belongs to no library")
        if (seen.size, seen.mtime_ns) != (file.size_bytes, file.mtime_ns):
            raise RemovalRefused(ErrorCode.FILE_CHANGED, "the file is not as large or as old as when it was deleted")
        digest = known.content_hash or self._hash(roots, source, seen, known.algorithm)
        log_id = self._begun.id if self._begun else log.new_id()
        trash_path = self._begun.trash_path if self._begun else roots.trash_path(file.library_id, file.path, log_id)
        if self._begun is None:
            self._job.write(lambda conn: log.intend(conn, self._intent, log_id, trash_path))
            self._begun = BegunStep(log_id, LogState.INTENT.value, trash_path)
        aside = roots.file(file.library_id, trash_path, create=True)
        noted = self._sidecar(aside, known.algorithm, digest)
        noted.write(aside)
        self._see_that_it_is_ours()
        try:
            successor.retire(source, aside, seen)
        except (RemovalRefused, OSError):
            self._see_that_it_is_ours()
            if aside.look() is None:
                sidecar.remove(aside)
            raise
        self._job.write(lambda conn: log.discarded(conn, log_id, file.file_id, noted))

    def _hash(self, roots: OpenRoots[int], source: FileRef, seen: FileStamp, algorithm: HashAlgorithm) -> bytes:
        fd = roots.open_file(source)
        reader = Reader(mapped=False)
        begun = reader.begin(algorithm)
        while not reader.read_on(begun, fd, seen.size, 0):
            # After each block: the job may be another's by now.
            self._job.check()
        return begun.digest()[0]

    def _sidecar(self, aside: FileRef, algorithm: HashAlgorithm, digest: bytes) -> Sidecar:
        above = "/".join(aside.folders[:-1])
        path = self._file.path
        return Sidecar(
            path=path.removeprefix(above + "/") if above else path,
            size_bytes=self._file.size_bytes,
            mtime_ns=self._file.mtime_ns,
            hash_algorithm=algorithm,
            content_hash=digest,
            trashed_at=self._job.read(lambda conn: conn.now()),
            library=str(aside.root),
            reason=REASON,
            kept_path="",
            plan_id=None,
        )

    def _see_that_it_is_ours(self) -> None:
        """Renew the lease, or raise LeaseLost before the disk is touched."""
        self._job.write(lambda _: None)

    def _refuse(self, refused: RemovalRefused) -> None:
        begun = self._begun
        if begun is None:
            self._job.write(lambda conn: log.note(conn, self._intent, LogState.REFUSED, refused))
        else:
            self._job.write(lambda conn: log.settle(conn, begun.id, LogState.REFUSED, refused))

    def _folder_of(self, library_id: int) -> Path:
        return self._job.read(lambda conn: log.root_of(conn, library_id))

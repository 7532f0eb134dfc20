"""A scan session: how far a scan came, so that another worker can go on where one died."""

from __future__ import annotations

from dataclasses import dataclass, field

from kurabito.dataplane.files.paths import shown
from kurabito.dataplane.scan.queries import SESSION, SQL
from kurabito.db import Connection
from kurabito.protocol.enums import ScanStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.terms import NAMED_PROBLEMS


@dataclass
class ScanProgress:
    """What one scan has seen up to the path `resume_after`."""

    id: int
    status: ScanStatus
    total_paths: int | None
    """What the last scan counted, while this one does not know."""
    files: int = 0
    folders: int = 0
    bytes: int = 0
    errors: int = 0
    resume_after: str = ""
    unreadable: list[str] = field(default_factory=list)
    """The first few paths that could not be read, with the reason."""

    @property
    def paths(self) -> int:
        """How many entries of folders were seen."""
        return self.files + self.folders

    @property
    def progress(self) -> float:
        """The fraction of the whole, as far as anybody knows."""
        return self.paths / self.total_paths if self.total_paths else 0.0

    def note_problem(self, path: str, problem: OSError) -> None:
        """Count a path that is there and could not be looked at."""
        self.errors += 1
        if len(self.unreadable) < NAMED_PROBLEMS:
            self.unreadable.append(f"{shown(path)!r}: {problem.strerror}")


def begin(conn: Connection, job: str, library: int) -> ScanProgress:
    """The session of a job: a new one, or the one that its last worker could not finish."""
    session = _last_of(conn, job)
    if session is None or session.status is ScanStatus.FAILED:
        conn.run(SQL.abandon_others, {"library": library, "job": job})
        conn.run(SQL.begin_session, {"library": library, "job": job})
        session = _last_of(conn, job)
        assert session is not None
    if session.status is ScanStatus.RUNNING:
        # What lies ahead is looked at again, and what is seen then is not unseen.
        conn.run(SQL.forget_unseen_ahead, {"session": session.id, "after": session.resume_after})
    return session


def _last_of(conn: Connection, job: str) -> ScanProgress | None:
    found = conn.one(SQL.last_session, {"job": job})
    if found is None:
        return None
    row = SESSION.row(found)
    return ScanProgress(
        row.id,
        ScanStatus(row.status),
        row.total_paths,
        row.files_seen,
        row.directories_seen,
        row.bytes_seen,
        row.error_count,
        row.resume_after or "",
        row.error_message.split("\n") if row.error_message and row.status == ScanStatus.RUNNING else [],
    )


def mark(conn: Connection, session: ScanProgress) -> None:
    """Remember how far the scan came. Whatever was found up to there must be stored in the same transaction or before."""
    values = {
        "session": session.id,
        "files": session.files,
        "folders": session.folders,
        "bytes": session.bytes,
        "errors": session.errors,
        "after": session.resume_after,
        "unreadable": "\n".join(session.unreadable) or None,
    }
    conn.run(SQL.mark_session, values)


def count(
    conn: Connection, session: ScanProgress, *, added: int = 0, changed: int = 0, moved: int = 0, removed: int = 0
) -> None:
    """Count what was stored, in the transaction that stores it."""
    values = {"session": session.id, "added": added, "changed": changed, "moved": moved, "removed": removed}
    conn.run(SQL.count_in_session, values)


def has_changes(conn: Connection, session: ScanProgress) -> bool:
    """Whether the scan found anything to be other than it was known."""
    changes: int | None = conn.value(SQL.changes_of_session, {"session": session.id})
    return changes is not None and changes > 0


def succeed(conn: Connection, session: ScanProgress) -> None:
    """Write that everything was seen that could be, and what could not."""
    mark(conn, session)
    message = None
    if session.errors:
        more = ", …" if session.errors > len(session.unreadable) else ""
        message = (
            f"{session.errors} folders or files could not be read ({', '.join(session.unreadable)}{more}); "
            "what was not seen is not taken for missing. Give this user the right to read them, or ignore them"
        )
    _end(conn, session, ScanStatus.SUCCEEDED, ErrorCode.SCAN_INCOMPLETE if session.errors else None, message)


def fail(conn: Connection, session: ScanProgress, code: ErrorCode, message: str) -> None:
    """Write why the scan came to nothing."""
    _end(conn, session, ScanStatus.FAILED, code, message)


def _end(
    conn: Connection, session: ScanProgress, status: ScanStatus, code: ErrorCode | None, message: str | None
) -> None:
    values = {
        "session": session.id,
        "status": status.value,
        "code": code and code.value,
        "message": message,
    }
    conn.run(SQL.end_session, values)

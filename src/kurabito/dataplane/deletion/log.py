"""What a delete job reads from the database, and what it writes down before and after every step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.files.walk import signed
from kurabito.dataplane.removal.file_refs import FileStamp, RemovalRefused
from kurabito.db import AdvisoryLock, Connection, Queries
from kurabito.protocol.deletion import (
    KEPT_IS_STALE,
    MAY_REMOVE,
    STEP_IS_STALE,
    DeleteMode,
    LogAction,
    LogState,
    TrashExit,
)
from kurabito.protocol.error_codes import ErrorCode

_SQL: Final = Queries(
    "kurabito.dataplane.deletion", "deletion.sql", stale=STEP_IS_STALE, kept_stale=KEPT_IS_STALE, may_remove=MAY_REMOVE
)


@dataclass(frozen=True, slots=True)
class DeleteStep:
    """One file that is to go, as the control plane decided; and what the database knows about it by now."""

    position: int
    file_id: int
    library_id: int
    relative_path: str
    size_bytes: int
    mtime_ns: int
    hash_algorithm: str
    content_hash: bytes
    kept_file_id: int
    kept_library_id: int
    kept_path: str
    kept_mtime_ns: int
    reason: str
    is_stale: int
    kept_is_stale: int
    kept_is_removed: int
    begun_as: str | None
    """The id in the log, when this step was begun and did not come to its end."""
    trash_path: str | None


@dataclass(frozen=True, slots=True)
class TrashedFile:
    """A file in the trash."""

    id: str
    file_id: int
    library_id: int
    relative_path: str
    trash_path: str
    size_bytes: int
    hash_algorithm: str
    content_hash: bytes
    successor_path: str | None
    """The file that took its place; None when a plan removed it."""
    begun_as: str | None
    refused_as: str | None
    """The code, when this job was refused to have it leave."""
    refused_because: str | None


@dataclass(frozen=True, slots=True)
class Intent:
    """Something that is about to be done to a file."""

    job_id: str
    position: int
    action: LogAction
    library_id: int
    relative_path: str
    plan_id: int | None = None
    kept_library_id: int | None = None
    kept_path: str | None = None

    def values(self) -> dict[str, Any]:
        return {
            "job_id": self.job_id,
            "plan_id": self.plan_id,
            "position": self.position,
            "action": self.action.value,
            "library_id": self.library_id,
            "relative_path": self.relative_path,
            "kept_library_id": self.kept_library_id,
            "kept_path": self.kept_path,
        }


@dataclass(frozen=True, slots=True)
class Abandoned:
    """An intent of a job that is over."""

    id: str
    action: LogAction
    library_id: int
    relative_path: str
    kept_library_id: int | None
    kept_path: str | None
    trash_path: str


def new_id() -> str:
    """An id for a step; also the name that its file has in the trash, so no two programs may ever choose the same."""
    return uuid4().hex


def root_of(conn: Connection, library_id: int) -> Path:
    root = conn.value(_SQL.root_of, {"id": library_id})
    if root is None:
        raise RootUnavailable(f"there is no library {library_id} any more")
    return Path(root)


def may_remove(conn: Connection) -> bool:
    """Whether the keeper lets anything be removed."""
    return conn.one(_SQL.may_remove) is not None


def plan_of(conn: Connection, plan_id: int) -> tuple[DeleteMode, int] | None:
    """How the files of a plan go, and how many they are."""
    found = conn.all(_SQL.plan, {"plan_id": plan_id})
    return next(((DeleteMode(mode), file_count) for mode, file_count in found), None)


def next_step(conn: Connection, job_id: str, plan_id: int, after: int) -> DeleteStep | None:
    """The first step behind `after` that this job has not brought to an end."""
    row = conn.one(_SQL.next_step, {"job_id": job_id, "plan_id": plan_id, "after": after})
    return None if row is None else DeleteStep(*row)


def count_settled(conn: Connection, job_id: str) -> int:
    return int(conn.value(_SQL.settled_steps, {"job_id": job_id}))


def intend(conn: Connection, intent: Intent, log_id: str, trash_path: str) -> None:
    """Write down what is about to be done; raises RemovalRefused when another job has one of the files in hand."""
    conn.lock(AdvisoryLock.DELETION)
    values = intent.values()
    if (other := conn.value(_SQL.contested, values)) is not None:
        raise RemovalRefused(
            ErrorCode.KEPT_IN_DOUBT,
            f"job {other} has this file or its kept copy in hand; plan again when it is over",
        )
    conn.run(_SQL.intend, {**values, "id": log_id, "trash_path": trash_path})


def note(conn: Connection, intent: Intent, state: LogState, refused: RemovalRefused | None = None) -> None:
    """Write down a step that was never begun."""
    conn.run(_SQL.note, {**intent.values(), "id": new_id(), "state": state.value, **_why(refused)})


def settle(conn: Connection, log_id: str, state: LogState, refused: RemovalRefused | None = None) -> None:
    """Write down how a step that was begun ended."""
    conn.run(_SQL.settle, {"id": log_id, "state": state.value, **_why(refused)})


def stays_in_trash(conn: Connection, log_id: str) -> None:
    """Write down that a file is in the trash, and another one where it was."""
    settle(conn, log_id, LogState.DONE)
    conn.run(_SQL.add_entry, {"id": log_id})


def trashed(conn: Connection, log_id: str, step: DeleteStep) -> None:
    """Write down that a file is in the trash."""
    stays_in_trash(conn, log_id)
    values = {"file_id": step.file_id, "library_id": step.library_id, "relative_path": step.relative_path}
    conn.run(_SQL.file_is_gone, values)


def unread_of_size(conn: Connection, size: int) -> list[int]:
    """The files of a size that were not read, because no other had it: what comes back may be equal to them."""
    return [file for (file,) in conn.all(_SQL.unread_of_size, {"size_bytes": size})]


def not_gone(conn: Connection, library_id: int, relative_path: str, there: FileStamp, unread: list[int]) -> None:
    """Write down that a file is where it was after all, if it is the one that was known there."""
    seen = {"size_bytes": there.size, "mtime_ns": there.mtime_ns}
    where = {"device": signed(there.device), "inode": signed(there.inode)}
    conn.run(_SQL.file_was_not_gone, {"library_id": library_id, "relative_path": relative_path, **seen, **where})
    _want(conn, unread)


def linked(conn: Connection, log_id: str, step: DeleteStep, now: FileStamp) -> None:
    """Write down that a name leads to another file now, of the same content."""
    settle(conn, log_id, LogState.DONE)
    values = {"file_id": step.file_id, "library_id": step.library_id, "relative_path": step.relative_path}
    where = {"device": signed(now.device), "inode": signed(now.inode), "mtime_ns": now.mtime_ns}
    conn.run(_SQL.file_is_linked, {**values, **where, "kept_id": step.kept_file_id})


def shared(conn: Connection, log_id: str, step: DeleteStep) -> None:
    """Write down that a file uses the blocks of another now."""
    settle(conn, log_id, LogState.DONE)
    conn.run(_SQL.blocks_are_shared, {"file_id": step.file_id, "kept_id": step.kept_file_id})


def read_again(conn: Connection, files: list[int]) -> None:
    """Forget what the contents of these files were thought to be, and have them read."""
    for file in files:
        conn.run(_SQL.read_again, {"id": file})


def entry_of(conn: Connection, job_id: str, position: int, entry_id: str) -> TrashedFile | None:
    """The entry, while it is in the trash."""
    row = conn.one(_SQL.entry, {"job_id": job_id, "position": position, "id": entry_id})
    return None if row is None else TrashedFile(*row)


def restored(conn: Connection, log_id: str, entry: TrashedFile, there: FileStamp, unread: list[int]) -> None:
    """Write down that a file is where it was."""
    settle(conn, log_id, LogState.DONE)
    conn.run(_SQL.entry_left, {"id": entry.id, "left_as": TrashExit.RESTORED})
    values = {"file_id": entry.file_id, "library_id": entry.library_id, "relative_path": entry.relative_path}
    content = {"hash_algorithm": entry.hash_algorithm, "content_hash": entry.content_hash}
    seen = {"size_bytes": there.size, "mtime_ns": there.mtime_ns}
    if not conn.run(_SQL.file_is_back, {**values, **content, **seen}):
        where = {"device": signed(there.device), "inode": signed(there.inode)}
        conn.run(_SQL.add_file, {"library_id": entry.library_id, "relative_path": entry.relative_path, **seen, **where})
    _want(conn, unread)


def purged(conn: Connection, log_id: str, entry: TrashedFile) -> None:
    """Write down that a file is gone for good."""
    settle(conn, log_id, LogState.DONE)
    conn.run(_SQL.entry_left, {"id": entry.id, "left_as": TrashExit.PURGED})


def other_copies(conn: Connection, entry: TrashedFile) -> list[tuple[int, str]]:
    """Library and path of files that should have the same content."""
    values = {"hash_algorithm": entry.hash_algorithm, "content_hash": entry.content_hash}
    return [(library_id, path) for library_id, path in conn.all(_SQL.other_copies, values)]


def abandoned(conn: Connection, job_id: str) -> list[Abandoned]:
    """What was begun by jobs that are not taken up again."""
    rows = conn.all(_SQL.abandoned, {"job_id": job_id})
    return [Abandoned(log_id, LogAction(action), *rest) for log_id, action, *rest in rows]


def _want(conn: Connection, files: list[int]) -> None:
    for file in files:
        conn.run(_SQL.want_hash, {"id": file})


def _why(refused: RemovalRefused | None) -> dict[str, str | None]:
    return {
        "error_code": None if refused is None else refused.error_code.value,
        "error_message": None if refused is None else str(refused),
    }

"""What a delete job reads from the database, and what it writes down before and after every step."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from uuid import uuid4

from kurabito.dataplane.deletion.model import Abandoned, BegunStep, DeleteStep, Intent, KnownFile, TrashedFile
from kurabito.dataplane.errors import RootUnavailable
from kurabito.dataplane.files.walk import signed
from kurabito.dataplane.removal.file_refs import FileStamp, RemovalRefused
from kurabito.dataplane.removal.sidecar import Sidecar
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
from kurabito.protocol.enums import HashAlgorithm
from kurabito.protocol.error_codes import ErrorCode

_SQL: Final = Queries(
    "kurabito.dataplane.deletion", "deletion.sql", stale=STEP_IS_STALE, kept_stale=KEPT_IS_STALE, may_remove=MAY_REMOVE
)


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


def stays_in_trash(conn: Connection, log_id: str, noted: Sidecar | None = None) -> None:
    """Write down that a file is in the trash, and another one where it was. One that no plan moved is what was `noted` of it."""
    settle(conn, log_id, LogState.DONE)
    if not conn.run(_SQL.add_entry, {"id": log_id}) and noted is not None:
        _add_discarded(conn, log_id, 0, noted)


def begun_at(conn: Connection, job_id: str, position: int) -> BegunStep | None:
    """What this job wrote down about a step."""
    row = conn.one(_SQL.begun_at, {"job_id": job_id, "position": position})
    return None if row is None else BegunStep(*row)


def file_to_discard(
    conn: Connection, file_id: int, library_id: int, path: str, size: int, mtime_ns: int
) -> KnownFile | None:
    """The file, if it is known as it was when it was deleted."""
    values = {"file_id": file_id, "library_id": library_id, "path": path, "size_bytes": size, "mtime_ns": mtime_ns}
    row = conn.one(_SQL.file_to_discard, values)
    if row is None:
        return None
    algorithm, digest = row
    return KnownFile(HashAlgorithm(algorithm), None if digest is None else bytes(digest))


def discarded(conn: Connection, log_id: str, file_id: int, noted: Sidecar) -> None:
    """Write down that a file that was deleted is in the trash."""
    settle(conn, log_id, LogState.DONE)
    _add_discarded(conn, log_id, file_id, noted)
    conn.run(_SQL.discarded_is_gone, {"id": log_id, "file_id": file_id})


def _add_discarded(conn: Connection, log_id: str, file_id: int, noted: Sidecar) -> None:
    content = {"hash_algorithm": noted.hash_algorithm.value, "content_hash": noted.content_hash}
    conn.run(_SQL.add_discarded, {"id": log_id, "file_id": file_id, "size_bytes": noted.size_bytes, **content})


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

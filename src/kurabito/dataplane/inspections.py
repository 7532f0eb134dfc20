"""Inspections: a data plane lists the files of a folder for the control plane, which sees no disk.

Nothing above the folder is looked at, no link is followed, and what is no regular file is passed over. A data plane that does
not see the folder puts the row back: on another machine it may be there, or here once its disk is mounted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

from kurabito.dataplane.errors import DiskError, PathEscapes, RootUnavailable
from kurabito.dataplane.files.paths import Root, as_name, check_relative
from kurabito.dataplane.files.walk import Entry, Walk, signed
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import LeasedWork
from kurabito.db import Connection, Queries
from kurabito.db.rows import Column
from kurabito.logs import get_logger
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.inspections import (
    FINISH_COLUMNS,
    FINISH_VALUES,
    INSPECTIONS,
    MOST_INSPECTED,
    InspectionKind,
)
from kurabito.protocol.leased.retries import FINISH, FilingStatus, wait_after

_SQL: Final = Queries("kurabito.dataplane", "inspections.sql")

_log = get_logger(__name__)


class NotInspected(DiskError):
    """The files of a folder could not be listed."""

    code = "not_inspected"

    def __init__(self, code: ErrorCode, *, passes: bool = True, **facts: Any) -> None:
        super().__init__(f"{code}: {facts}")
        self.error_code = code
        self.passes = passes
        self.facts = facts


class InspectionWork(LeasedWork[LeasedRow]):
    """Looks at the files of downloads that are complete."""

    spec = INSPECTIONS
    noun = "inspection"
    row_type = LeasedRow
    only = f"kind = '{InspectionKind.ARRIVAL}'"

    def do(self, row: LeasedRow) -> None:
        paths = row.values["paths"]
        try:
            files = list_files(Path(row.values["folder"]), None if paths is None else json.loads(paths), row)
        except NotInspected as problem:
            _log.warning("folder not inspected", inspection=row.id, problem=str(problem))
            status = FilingStatus.PENDING if problem.passes else FilingStatus.FAILED
            delay = wait_after(row.values["tries"]) if problem.passes else None
            facts = json.dumps(problem.facts, ensure_ascii=False)
            self._end(row, [status.value, problem.error_code.value, facts, delay, None, None])
            return
        row.write(lambda conn: _store(conn, row.id, files))
        total = sum(size for _, size, *_ in files)
        self._end(row, [FilingStatus.COMPLETED.value, None, None, None, len(files), total])

    def _end(self, row: LeasedRow, ended: Sequence[Any]) -> None:
        row.settle(FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)


def list_files(folder: Path, paths: Sequence[str] | None, row: LeasedRow) -> list[Entry]:
    """The regular files below a folder, in order, or those of them that are named; raises NotInspected."""
    try:
        with Root(folder) as root:
            listed = _walk(root, row) if paths is None else [_look(root, path) for path in sorted(set(paths))]
    except RootUnavailable:
        raise NotInspected(ErrorCode.ROOT_UNAVAILABLE, folder=str(folder)) from None
    except PathEscapes as problem:
        raise NotInspected(ErrorCode.PATH_ESCAPES, passes=False, folder=str(folder), problem=str(problem)) from None
    files = [file for file in listed if file is not None]
    if not files:
        # The downloader says that it is complete, so this is another folder, or the files are being moved.
        raise NotInspected(ErrorCode.FILE_MISSING, folder=str(folder), path=min(paths or [""]))
    return files


def _walk(root: Root, row: LeasedRow) -> list[Entry | None]:
    walk = Walk(root.fd)
    files: list[Entry | None] = []
    for batch in walk.batches():
        row.check()
        files += batch
        if len(files) > MOST_INSPECTED:
            raise NotInspected(ErrorCode.TOO_MANY_FILES, passes=False, folder=str(root.folder), most=MOST_INSPECTED)
    for path, problem in walk.problems:
        raise NotInspected(ErrorCode.FILE_UNREADABLE, folder=str(root.folder), path=path, problem=problem.strerror)
    return files


def _look(root: Root, path: str) -> Entry | None:
    """A file as it lies there; None when it is a link, or nothing that has content."""
    *folders, name = check_relative(path)
    try:
        found = os.stat(as_name(name), dir_fd=root.open_folder(list(folders)), follow_symlinks=False)
    except FileNotFoundError:
        raise NotInspected(ErrorCode.FILE_MISSING, folder=str(root.folder), path=path) from None
    except NotADirectoryError:
        # A link that leads elsewhere, in the place of a folder.
        return None
    except OSError as problem:
        raise NotInspected(
            ErrorCode.FILE_UNREADABLE, folder=str(root.folder), path=path, problem=problem.strerror
        ) from None
    if not S_ISREG(found.st_mode):
        return None
    return path, found.st_size, found.st_mtime_ns, signed(found.st_ino), signed(found.st_dev)


def _store(conn: Connection, inspection_id: int, files: Sequence[Entry]) -> None:
    conn.run(_SQL.forget, {"id": inspection_id})
    columns = _columns(files)
    conn.run_rows(_SQL.add, list(columns), {"id": inspection_id})


def _columns(files: Sequence[Entry]) -> Iterator[Column]:
    yield Column("position", "integer", range(len(files)))
    names = ("relative_path", "size_bytes", "mtime_ns", "inode", "device")
    for name, values in zip(names, zip(*files, strict=True), strict=True):
        yield Column(name, "text" if name == "relative_path" else "bigint", values)

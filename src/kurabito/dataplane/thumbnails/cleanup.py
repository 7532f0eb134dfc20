"""Cleanups: the thumbnails of a group are removed, each file first, then its row."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import LeasedWork
from kurabito.dataplane.thumbnails.folder import ThumbFolder
from kurabito.db import Connection, Queries
from kurabito.logs import get_logger
from kurabito.protocol.enums import CleanupStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.cleanups import CLEANUPS, FINISH, FINISH_COLUMNS, FINISH_VALUES

_SQL: Final = Queries("kurabito.dataplane.thumbnails", "cleanup.sql")
_ELSEWHERE: Final = (errno.ELOOP, errno.ENOTDIR, errno.EISDIR)
"""A link in the way, or a folder in its place."""
_AT_ONCE: Final = 100
"""Pictures in one transaction, so that no other writer waits long."""

_log = get_logger(__name__)


class _Removed(NamedTuple):
    """How far a group is."""

    last: int
    is_more: bool = True
    problem: str | None = None


class CleanupWork(LeasedWork[LeasedRow]):
    """Removes thumbnails that are ready or failed, one group after another."""

    spec = CLEANUPS
    noun = "cleanup"
    row_type = LeasedRow

    def __init__(self, *, state: Path) -> None:
        self._folder = ThumbFolder(state)

    def do(self, row: LeasedRow) -> None:
        done = _Removed(0)

        def remove_some(conn: Connection) -> _Removed:
            return self._remove_some(conn, row.values["group_key"], done.last)

        while done.is_more:
            done = row.write(remove_some)
        is_done = done.problem is None
        status = CleanupStatus.COMPLETED if is_done else CleanupStatus.FAILED
        ended = (status.value, None if is_done else ErrorCode.DISK_FAILURE.value, done.problem)
        row.settle(FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS)

    def _remove_some(self, conn: Connection, group_key: str, after: int) -> _Removed:
        """Remove a few pictures and their rows. They are locked meanwhile, so that none is drawn again between the two."""
        rows = conn.all(_SQL.finished_of_group, {"group_key": group_key, "after": after, "limit": _AT_ONCE})
        last = after
        for last, output_path in rows:
            if problem := self._remove(output_path):
                return _Removed(after, is_more=False, problem=problem)
            conn.run(_SQL.forget, {"id": last})
        return _Removed(last, is_more=bool(rows))

    def _remove(self, output_path: str) -> str | None:
        """Remove one picture; what went wrong if it has to be tried again."""
        try:
            self._folder.remove(output_path)
        except PathEscapes as escaped:
            # Whatever is there, it is none of ours: the row goes and the file stays.
            _log.warning("a thumbnail's path led elsewhere", problem=str(escaped))
        except OSError as problem:
            if problem.errno in _ELSEWHERE:
                _log.warning("a thumbnail's path led elsewhere", path=output_path, problem=problem.strerror)
                return None
            return f"the picture {output_path} cannot be removed: {problem.strerror}"
        return None

"""The line of work that removes the thumbnails of a group: each file first, then its row."""

from __future__ import annotations

import errno
import threading
from pathlib import Path
from typing import Final, NamedTuple

from kurabito.clock import SECOND
from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.leasing.lease_keeper import LeaseKeeper
from kurabito.dataplane.leasing.leased_row import HEARTBEAT, LEASE, LeasedRow, Stopped
from kurabito.dataplane.thumbnails.folder import ThumbFolder
from kurabito.db import Connection, Database, Dialect, Queries, leases
from kurabito.errors import LeaseLost
from kurabito.logs import get_logger
from kurabito.protocol.enums import CleanupStatus
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased import thumbnails
from kurabito.protocol.leased.thumbnails import CLEANUPS

_LOCKED: Final = {Dialect.SQLITE: "", Dialect.POSTGRES: "FOR UPDATE"}
_SQL: Final = {
    dialect: Queries("kurabito.dataplane.thumbnails", "cleanup.sql", claimable=CLEANUPS.claimable, locked=locked)
    for dialect, locked in _LOCKED.items()
}
_ELSEWHERE: Final = (errno.ELOOP, errno.ENOTDIR, errno.EISDIR)
"""A link in the way, or a folder in its place."""
_AT_ONCE: Final = 100
"""Pictures in one transaction, so that nobody else waits long."""

_log = get_logger(__name__)


class _Removed(NamedTuple):
    """How far a group is."""

    last: int
    is_more: bool = True
    problem: str | None = None


class LeasedCleanup(LeasedRow):
    """The right to remove the thumbnails of one group."""

    noun = "cleanup"
    group_key: str


class CleanupLine:
    """Removes thumbnails that are ready or failed, one group at a time."""

    name = "cleanup"

    def __init__(
        self, database: Database, *, state: Path, name: str, lease: float = LEASE, heartbeat: float = HEARTBEAT
    ) -> None:
        self._database = database
        self._folder = ThumbFolder(state)
        self._plane = name
        self._lease = lease
        self._heart = LeaseKeeper(heartbeat)
        self._held: LeasedCleanup | None = None
        self._stopping = threading.Event()

    def work(self) -> bool:
        """Clean up one group; false when there is none that is due."""
        if self._stopping.is_set() or not self._database.read_blocking(self._is_due):
            return False
        held = self._database.write_blocking(self._claim)
        if held is None:
            return False
        self._held = held
        if self._stopping.is_set():
            # Asked to stop between the claim and here, where nobody could know of it.
            held.stop()
        try:
            with self._heart, held:
                self._clean(held)
        except Stopped:
            self._give_back(held)
        except LeaseLost as lost:
            _log.warning("cleanup lost", cleanup=held.id, problem=str(lost))
        finally:
            self._held = None
        return True

    def stop(self) -> None:
        """Give the group back at the next step, and take no other."""
        self._stopping.set()
        if (held := self._held) is not None:
            held.stop()

    def _is_due(self, conn: Connection) -> bool:
        row = conn.one(_SQL[conn.dialect].is_due)
        return row is not None and bool(row[0])

    def _claim(self, conn: Connection) -> LeasedCleanup | None:
        # Whoever looks for work also sees to what others left lying.
        leases.recover(conn, CLEANUPS)
        owner = leases.new_owner(self._plane)
        rows = leases.claim(conn, CLEANUPS, owner, lease=round(self._lease * SECOND), limit=1)
        if not rows:
            return None
        key, group_key = rows[0]
        held = LeasedCleanup(self._database, CLEANUPS, key, owner, heart=self._heart, lease=self._lease)
        held.group_key = group_key
        return held

    def _clean(self, held: LeasedCleanup) -> None:
        done = _Removed(0)

        def remove_some(conn: Connection) -> _Removed:
            return self._remove_some(conn, held.group_key, done.last)

        while done.is_more:
            done = held.write(remove_some)
        if done.problem is None:
            self._finish(held, CleanupStatus.COMPLETED)
        else:
            self._finish(held, CleanupStatus.FAILED, ErrorCode.DISK_FAILURE, done.problem)

    def _remove_some(self, conn: Connection, group_key: str, after: int) -> _Removed:
        """Remove a few pictures and their rows. They are locked meanwhile, so that none is drawn anew between the two."""
        sql = _SQL[conn.dialect]
        rows = conn.all(sql.finished_of_group, {"group_key": group_key, "after": after, "limit": _AT_ONCE})
        for key, output_path in rows:
            if problem := self._remove(output_path):
                return _Removed(after, is_more=False, problem=problem)
            conn.run(sql.forget, {"id": key})
        return _Removed(rows[-1][0]) if rows else _Removed(after, is_more=False)

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

    def _finish(
        self, held: LeasedCleanup, status: CleanupStatus, code: ErrorCode | None = None, message: str | None = None
    ) -> None:
        ended = [(held.id, held.owner, status.value, code and code.value, message)]
        given, columns = thumbnails.CLEANUP_VALUES, thumbnails.CLEANUP_COLUMNS
        held.write(lambda conn: leases.finish(conn, CLEANUPS, thumbnails.FINISH, ended, given=given, columns=columns))

    def _give_back(self, held: LeasedCleanup) -> None:
        columns, rows = thumbnails.GIVEN_BACK_COLUMNS, [(held.id, held.owner)]
        # Whoever has it by now needs nothing from us.
        self._database.write_blocking(lambda conn: leases.finish(conn, CLEANUPS, leases.RECOVER, rows, columns=columns))

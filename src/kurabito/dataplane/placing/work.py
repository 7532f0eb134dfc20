"""Placements: leased rows, each a file that comes into a library."""

from __future__ import annotations

from collections.abc import Callable

from kurabito.dataplane.leasing.leased_row import Stopped
from kurabito.dataplane.leasing.runner import LeasedWork
from kurabito.dataplane.placing import store
from kurabito.dataplane.placing.execution import execute
from kurabito.dataplane.placing.link_batch import link_more
from kurabito.dataplane.placing.modes import Placed
from kurabito.dataplane.placing.placement_row import LeasedPlacement
from kurabito.dataplane.placing.refusals import PlacementRefused
from kurabito.dataplane.placing.store import Retired, TargetLibrary
from kurabito.db import Connection
from kurabito.errors import LeaseLost
from kurabito.logs import get_logger
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.placements import PLACEMENTS, PlacedBy
from kurabito.protocol.leased.retries import FilingStatus, wait_after

_log = get_logger(__name__)


class PlacementWork(LeasedWork[LeasedPlacement]):
    """Brings files into libraries."""

    spec = PLACEMENTS
    noun = "placement"
    row_type = LeasedPlacement
    claims_next = True

    def do(self, row: LeasedPlacement) -> None:
        try:
            library, placed, retired = execute(row)
        except (LeaseLost, Stopped):
            raise
        except PlacementRefused as refused:
            self._refuse(row, refused)
        except Exception as problem:  # noqa: BLE001 - whatever it was, this file is not placed and the next one may be
            _log.exception("placement failed", placement=row.id)
            facts = {"problem": f"{type(problem).__name__}: {problem}"}
            row.refuse(FilingStatus.FAILED, ErrorCode.WORKER_FAILURE, facts, None)
        else:
            row.complete(placed.method, placed.seen, placed.content_hash, _entering(row, library, placed, retired))
            _log.info("file placed", placement=row.id, method=placed.method, path=row.values["target_path"])
            if placed.method is PlacedBy.LINK and (more := link_more(row, library)):
                _log.info("more files placed", method=PlacedBy.LINK, files=more, library=library.id)

    def _refuse(self, row: LeasedPlacement, refused: PlacementRefused) -> None:
        _log.warning("file not placed", placement=row.id, problem=str(refused), waits=refused.passes)
        if refused.passes:
            delay = wait_after(row.values["tries"])
            row.refuse(FilingStatus.PENDING, refused.error_code, refused.facts, delay)
        else:
            row.refuse(FilingStatus.FAILED, refused.error_code, refused.facts, None)


def _entering(
    row: LeasedPlacement, library: TargetLibrary, placed: Placed, retired: Retired | None
) -> Callable[[Connection], None]:
    """Has the library know the file, without a scan, and the trash what went there for it."""
    source, path = row.values["source_path"], row.values["target_path"]

    def enter(conn: Connection) -> None:
        if retired is not None:
            store.retire(conn, library, retired, successor=path)
        if row.leaves_trash:
            store.leave_trash(conn, library, source)
        is_renamed = placed.method is PlacedBy.RENAME and store.rename(conn, library.id, source, path)
        if not is_renamed:
            store.enter(conn, library, path, placed.seen, placed.content_hash)

    return enter

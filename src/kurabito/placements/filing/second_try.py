"""What a placement is tried again with: the modes that its library has now, and a name by the naming that it has now.

A keeper who allowed copies, or shortened a template, did it for this file: with what was stored before it would fail again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kurabito.db import Connection
from kurabito.library.libraries import FILING_MODES
from kurabito.placements.filing import destination, planner, store
from kurabito.placements.filing.store import Placement
from kurabito.protocol.error_codes import ErrorCode


def begin(conn: Connection, placements: Sequence[Placement]) -> int:
    """Have placements tried again, now; how many there were that are neither under way nor done."""
    targets: dict[int, Mapping[str, str]] = {}
    return sum(_begin_one(conn, placement, targets) for placement in placements)


def _begin_one(conn: Connection, placement: Placement, targets: dict[int, Mapping[str, str]]) -> bool:
    is_of_download = FILING_MODES.issuperset(placement.modes)
    modes = destination.modes_of(conn, placement.library_id) if is_of_download else ()
    is_too_long = placement.error_code is ErrorCode.NAME_TOO_LONG
    target = _shorter(conn, placement, targets) if is_of_download and is_too_long else None
    return store.retry(conn, placement.id, target, modes)


def _shorter(conn: Connection, placement: Placement, targets: dict[int, Mapping[str, str]]) -> str | None:
    """The name by the naming of now. A download is planned once, however many of its names were too long."""
    found = store.inspection_of(conn, placement.id)
    if found is None:
        return None
    inspection_id, series_id, path = found
    if inspection_id not in targets:
        destination.forget_empty(conn, series_id)
        targets[inspection_id] = planner.targets_now(conn, inspection_id)
    return targets[inspection_id].get(path)

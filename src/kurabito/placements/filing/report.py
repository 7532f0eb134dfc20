"""How far the filing of one download is: its files, where they go, and what a person has to say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.placements.filing import store
from kurabito.placements.filing.planner import left_files
from kurabito.placements.filing.questions import FileQuestion, choosable_libraries, of_inspection
from kurabito.placements.filing.store import Placement
from kurabito.placements.plans import PlannedFile
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.retries import FilingStatus

_SQL: Final = Queries("kurabito.placements.filing", "report.sql")
_MOST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingReport:
    """How far the filing of a download is."""

    inspection: FilingStatus
    """Whether its files are listed."""
    is_planned: bool
    """Whether it is decided what becomes of them."""
    error_code: ErrorCode | None
    """Why they are not."""
    error_facts: Mapping[str, Any]
    placements: Sequence[Placement]
    """Those that are not done come first."""
    more: int
    """How many there are besides."""
    questions: Sequence[FileQuestion]
    """Those that are open, and those whose answer can be taken back."""
    left: Sequence[PlannedFile] = ()
    """Where nothing was filed or asked: why each file stays where it is."""
    libraries: Sequence[tuple[int, str]] = ()
    """The libraries that can be chosen, by id and name."""
    tidied_at: datetime | None = None
    """When its downloader was done seeding, and forgot it."""
    names_gone: int = 0
    """How many names in the folder for downloads went then."""


def report_of(conn: Connection, download_id: int) -> FilingReport | None:
    """How far it is; None when nothing was begun. The downloads of a batch share one."""
    row = conn.one(_SQL.inspection, {"download_id": download_id})
    if row is None:
        return None
    inspection_id, first_id, status, code, facts, is_planned, tidied_at = row
    placements, count, gone = store.of_download(conn, first_id, _MOST)
    questions = of_inspection(conn, inspection_id)
    return FilingReport(
        inspection=FilingStatus(status),
        is_planned=bool(is_planned),
        error_code=None if code is None else ErrorCode(code),
        error_facts=json.loads(facts or "{}"),
        placements=placements,
        more=count - len(placements),
        questions=questions,
        left=() if placements or questions or not is_planned else left_files(conn, inspection_id),
        libraries=choosable_libraries(conn),
        tidied_at=None if tidied_at is None else to_datetime(tidied_at),
        names_gone=gone,
    )

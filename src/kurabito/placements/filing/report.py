"""How far the filing of one download is: its files, where they go, and what a person has to say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.placements.filing import store
from kurabito.placements.filing.reasons import FilingReason
from kurabito.placements.filing.store import Placement
from kurabito.placements.plans.reasons import PlanReason
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.retries import FilingStatus
from kurabito.reasons import Reason, reason_of

_SQL: Final = Queries("kurabito.placements.filing", "report.sql")
_MOST: Final = 200
_OURS: Final = frozenset({FilingReason.NO_LIBRARY.value, FilingReason.SEVERAL_LIBRARIES.value})


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What a person has to say before a file is filed; without a path it is about all of them."""

    path: str | None
    reason: Reason[FilingReason] | Reason[PlanReason]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilingReport:
    """How far the filing of a download is."""

    inspection: FilingStatus
    """Whether its files are listed."""
    error_code: ErrorCode | None
    """Why they are not."""
    error_facts: Mapping[str, Any]
    placements: Sequence[Placement]
    questions: Sequence[OpenQuestion]


def report_of(conn: Connection, download_id: int) -> FilingReport | None:
    """How far it is; None when nothing was begun. The downloads of a batch share one."""
    row = conn.one(_SQL.inspection, {"download_id": download_id})
    if row is None:
        return None
    inspection_id, first_id, status, code, facts = row
    questions = conn.all(_SQL.questions, {"id": inspection_id, "most": _MOST})
    return FilingReport(
        inspection=FilingStatus(status),
        error_code=None if code is None else ErrorCode(code),
        error_facts=json.loads(facts or "{}"),
        placements=store.page(conn, limit=_MOST, download_id=first_id)[::-1],
        questions=[OpenQuestion(path, _reason(reason)) for path, reason in questions],
    )


def _reason(stored: str) -> Reason[FilingReason] | Reason[PlanReason]:
    """The reason of a question: ours, or that of the plan."""
    values = json.loads(stored)
    if values["code"] in _OURS:
        return reason_of(FilingReason, values)
    return reason_of(PlanReason, values)

"""Where the words of reasons stand in the catalogues."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from kurabito.catalog.states import FilterReason
from kurabito.downloads.paths.tests import PathReason
from kurabito.downloads.reasons import DownloadReason
from kurabito.maintenance.wal import CheckpointReason
from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import Reason

_SECTIONS: Final[Mapping[type[StrEnum], str]] = {
    FilterReason: "filter_reason",
    DownloadReason: "download_reason",
    CheckpointReason: "checkpoint_reason",
    PathReason: "path_reason",
    PlanReason: "plan_reason",
}


def key_of(reason: Reason[Any]) -> str:
    """The key of a reason's message. What came of offering a download has its words already."""
    if reason.code is DownloadReason.OUTCOME:
        return f"attempt.{reason.facts['outcome']}"
    return f"{_SECTIONS[type(reason.code)]}.{reason.code}"

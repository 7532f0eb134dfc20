"""Where the words of reasons stand in the catalogues."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from kurabito.access.reasons import SecurityReason
from kurabito.catalog.states import DoubtReason, FilterReason
from kurabito.downloads.connections.model import ConnectionReason
from kurabito.downloads.items import TransferDetail
from kurabito.downloads.paths.tests import PathReason
from kurabito.downloads.profiles.score import UnwantedReason
from kurabito.downloads.reasons import DownloadReason
from kurabito.downloads.search.decisions import SearchReason
from kurabito.maintenance.wal import CheckpointReason
from kurabito.placements.adoption.reasons import AdoptionReason
from kurabito.placements.naming.reasons import TemplateReason
from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import InputReason, Reason
from kurabito.settings.problems import SettingReason
from kurabito.settings.verdicts import VerdictReason

SECTIONS: Final[Mapping[type[StrEnum], str]] = {
    FilterReason: "filter_reason",
    DoubtReason: "doubt_reason",
    DownloadReason: "download_reason",
    CheckpointReason: "checkpoint_reason",
    PathReason: "path_reason",
    TransferDetail: "transfer",
    InputReason: "input",
    SettingReason: "setting_reason",
    SecurityReason: "security_reason",
    ConnectionReason: "connection_reason",
    VerdictReason: "setting_verdict",
    PlanReason: "plan_reason",
    AdoptionReason: "adoption_reason",
    TemplateReason: "template_reason",
    SearchReason: "search_reason",
    UnwantedReason: "unwanted_reason",
}


def key_of(reason: Reason[Any]) -> str:
    """The key of a reason's message. What came of offering a download, and what its downloader does, have their words already."""
    if reason.code is DownloadReason.OUTCOME:
        return f"attempt.{reason.facts['outcome']}"
    if reason.code is DownloadReason.TRANSFER:
        return f"transfer.{reason.facts['detail']}"
    return f"{SECTIONS[type(reason.code)]}.{reason.code}"

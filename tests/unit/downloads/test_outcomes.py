"""What a downloader's answer, or its silence, comes to."""

from __future__ import annotations

from typing import Final

import pytest

from kurabito.downloads.dispatch.outcomes import outcome_of
from kurabito.downloads.items import DownloadItemResult
from kurabito.downloads.reasons import DownloadReason
from kurabito.downloads.states import CleanupKind, Outcome
from kurabito.http.errors import (
    BadAnswer,
    BadStatus,
    ConnectionBroke,
    HostNotAllowed,
    OutboundError,
    TimedOut,
    TooLarge,
    Unreachable,
)
from kurabito.reasons import Reason

URL: Final = "https://feeds.example/7.torrent"


@pytest.mark.parametrize(
    ("problem", "outcome"),
    [
        (Unreachable("nobody listens"), Outcome.UNREACHABLE),
        (HostNotAllowed("inside your network", "10.0.0.7"), Outcome.UNREACHABLE),
        (BadStatus("refused as a whole", 401), Outcome.UNREACHABLE),
        (BadStatus("broke while it worked", 500), Outcome.UNCLEAR),
        (ConnectionBroke("gone in the middle"), Outcome.UNCLEAR),
        (TimedOut("no answer in time"), Outcome.UNCLEAR),
        (TooLarge("more than anybody reads"), Outcome.UNCLEAR),
        (BadAnswer("no list of results"), Outcome.UNCLEAR),
    ],
)
def test_what_may_have_arrived_without_an_answer_is_looked_up(problem: OutboundError, outcome: Outcome) -> None:
    owed = CleanupKind.LOOK if outcome is Outcome.UNCLEAR else None
    assert outcome_of(None, problem) == (outcome, Reason(DownloadReason(problem.code), {"text": str(problem)}), owed)


def test_an_answer_counts_whatever_happened_to_the_rest() -> None:
    broke = ConnectionBroke("gone in the middle")
    assert outcome_of(DownloadItemResult.accepted(URL, "a" * 40), broke) == (Outcome.ACCEPTED, None, None)
    assert outcome_of(DownloadItemResult.rejected(URL, "disk full"), broke) == (
        Outcome.REJECTED,
        Reason(DownloadReason.OTHER, {"text": "disk full"}),
        None,
    )
    assert outcome_of(DownloadItemResult.rejected(URL, None), None) == (
        Outcome.REJECTED,
        Reason(DownloadReason.UNEXPLAINED),
        None,
    )


def test_one_that_an_answer_leaves_out_is_looked_up() -> None:
    assert outcome_of(None, None) == (Outcome.UNCLEAR, Reason(DownloadReason.UNMENTIONED), CleanupKind.LOOK)

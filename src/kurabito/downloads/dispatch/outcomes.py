"""What a downloader's answer means for a download, and what its silence does."""

from __future__ import annotations

from typing import NamedTuple

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.dispatch.outbox import DownloadRequest
from kurabito.downloads.items import DownloadItemResult, ItemStatus
from kurabito.downloads.reasons import DownloadReason, because, by_problem, in_its_words
from kurabito.downloads.states import CleanupKind, Outcome
from kurabito.http.errors import BadStatus, ConnectionBroke, OutboundError, Unreachable, UrlNotAllowed
from kurabito.reasons import Reason


class AnswerOutcome(NamedTuple):
    """Whether a downloader took a download, why not, and whether it has to be looked at again."""

    outcome: Outcome
    reason: Reason[DownloadReason] | None = None
    cleanup: CleanupKind | None = None


def outcome_of(answer: DownloadItemResult | None, problem: OutboundError | None) -> AnswerOutcome:
    """What an answer means, or the problem on the way where there is none."""
    match answer, problem:
        case DownloadItemResult(status=ItemStatus.ACCEPTED), _:
            return AnswerOutcome(Outcome.ACCEPTED)
        case DownloadItemResult(reason=reason), _:
            return AnswerOutcome(
                Outcome.REJECTED, in_its_words(reason) if reason else because(DownloadReason.UNEXPLAINED)
            )
        case None, BadStatus(answered=status) if status < 500:
            return AnswerOutcome(Outcome.UNREACHABLE, by_problem(problem))
        case None, UrlNotAllowed():
            return AnswerOutcome(Outcome.UNREACHABLE, by_problem(problem))
        case None, Unreachable() if not isinstance(problem, ConnectionBroke):
            return AnswerOutcome(Outcome.UNREACHABLE, by_problem(problem))
        case None, OutboundError():
            return AnswerOutcome(Outcome.UNCLEAR, by_problem(problem), CleanupKind.LOOK)
        case _:
            return AnswerOutcome(Outcome.UNCLEAR, because(DownloadReason.UNMENTIONED), CleanupKind.LOOK)


def hash_of(request: DownloadRequest, answer: DownloadItemResult | None) -> str | None:
    """The hash of a download. A magnet link or a plain URL names it; of a torrent its downloader knows best."""
    answered = answer.hash if answer is not None else None
    return (answered or request.hash) if request.download_type is DownloadType.TORRENT else (request.hash or answered)

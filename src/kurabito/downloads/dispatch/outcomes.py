"""What a downloader's answer comes to, and what its silence does."""

from __future__ import annotations

from typing import NamedTuple

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.dispatch.answers import ReadItem
from kurabito.downloads.reasons import DownloadReason, because, by_problem, in_its_words
from kurabito.downloads.states import CleanupKind, Outcome
from kurabito.downloads.store import DownloadRequest
from kurabito.http.errors import BadStatus, ConnectionBroke, OutboundError, Unreachable, UrlNotAllowed
from kurabito.reasons import Reason


class AnswerOutcome(NamedTuple):
    """Whether something was taken, why not, and whether that has to be looked up."""

    outcome: Outcome
    reason: Reason[DownloadReason] | None = None
    owed: CleanupKind | None = None


def outcome_of(answer: ReadItem | None, problem: OutboundError | None) -> AnswerOutcome:
    """What an answer comes to, or the problem on the way where there is none."""
    match answer, problem:
        case ReadItem(is_accepted=True), _:
            return AnswerOutcome(Outcome.ACCEPTED)
        case ReadItem(reason=reason), _:
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


def hash_of(request: DownloadRequest, answer: ReadItem | None) -> str | None:
    """What a download is called. A magnet link or a plain URL says it itself; of a torrent its downloader knows best."""
    told = answer.hash if answer is not None else None
    return (told or request.hash) if request.download_type is DownloadType.TORRENT else (request.hash or told)

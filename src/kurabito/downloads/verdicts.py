"""What a downloader's answer comes to, and what its silence does."""

from __future__ import annotations

from typing import NamedTuple

from kurabito.catalog.download_types import DownloadType
from kurabito.downloads.answers import ItemAnswer
from kurabito.downloads.rows import Parcel
from kurabito.downloads.states import Outcome, Owed
from kurabito.errors import BadStatus, ConnectionBroke, OutboundError, Unreachable, UrlNotAllowed


class Verdict(NamedTuple):
    """Whether something was taken, why not, and whether that has to be looked up."""

    outcome: Outcome
    reason: str | None = None
    owed: Owed | None = None


def judge(answer: ItemAnswer | None, problem: OutboundError | None) -> Verdict:
    """What an answer comes to, or the problem on the way where there is none."""
    match answer, problem:
        case ItemAnswer(is_accepted=True), _:
            return Verdict(Outcome.ACCEPTED)
        case ItemAnswer(reason=reason), _:
            return Verdict(Outcome.REJECTED, reason or "no reason given")
        case None, BadStatus(answered=status) if status < 500:
            return Verdict(Outcome.UNREACHABLE, str(problem))
        case None, UrlNotAllowed():
            return Verdict(Outcome.UNREACHABLE, str(problem))
        case None, Unreachable() if not isinstance(problem, ConnectionBroke):
            return Verdict(Outcome.UNREACHABLE, str(problem))
        case None, OutboundError():
            return Verdict(Outcome.UNCLEAR, str(problem), Owed.LOOK)
        case _:
            return Verdict(Outcome.UNCLEAR, "it said nothing about this one", Owed.LOOK)


def hash_of(parcel: Parcel, answer: ItemAnswer | None) -> str | None:
    """What a download is called. A magnet link or a plain URL says it itself; of a torrent its downloader knows best."""
    told = answer.hash if answer is not None else None
    return (told or parcel.hash) if parcel.download_type is DownloadType.TORRENT else (parcel.hash or told)

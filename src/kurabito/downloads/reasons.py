"""Why a download is where it is, and why a downloader did not take it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from kurabito.downloads.items import TransferDetail, read_detail
from kurabito.downloads.states import Outcome
from kurabito.http.errors import OutboundError
from kurabito.reasons import LONGEST_TEXT, TEXT, Reason, in_other_words

SAID: Final = "said"
"""The fact that has what each downloader said: its name beside the reason."""


class DownloadReason(StrEnum):
    """The value is the message's key below `download_reason`, and is stored."""

    OTHER = "other"
    """In the downloader's own words: `text`."""
    NO_TYPE = "no_type"
    NO_DOWNLOADER = "no_downloader"
    """For its `type`."""
    NOT_TAKEN = "not_taken"
    """Each downloader has `said` why."""
    GAVE_UP = "gave_up"
    """It stalled, and the others have `said` why they do not take it."""
    NO_ANSWER = "no_answer"
    """Its downloader does not answer; `said` is the problem."""
    NO_HASH = "no_hash"
    """The `downloader` took it and did not tell its hash."""
    REMOVED = "removed"
    """The downloader has it no longer."""
    REPORTED = "reported"
    """The downloader reports an error, and does not say which."""
    TRANSFER = "transfer"
    """The downloader says in a word of ours what is wrong, its `detail`; `text` is what else it says, if anything."""
    STOOD_STILL = "stood_still"
    DEAD = "dead"
    """Nothing came of it for `hours`, and no peer has it."""
    NO_METADATA = "no_metadata"
    """For `hours` no peer told what the torrent contains."""
    DOWNLOADER_AWAY = "downloader_away"
    DOWNLOADER_REMOVED = "downloader_removed"
    """The `downloader` was removed; null where its name is not known."""
    SWITCHED_OFF = "switched_off"
    """The `downloader` is switched off."""
    ANOTHER_EPISODE = "another_episode"
    """The downloader has one torrent for this and for `title`."""
    UNSAFE_FILES = "unsafe_files"
    """It brought programs, `files`, where videos should be. It stays at its downloader: Kurabito did not add it."""
    UNSAFE_REMOVED = "unsafe_removed"
    """The same, and it is deleted there with its files."""
    REPLACED = "replaced"
    FILTERED = "filtered"
    CANCELLED = "cancelled"
    """By the user, as is what follows."""
    SENT_ELSEWHERE = "sent_elsewhere"
    NO_ROOM = "no_room"
    """It needs `needed_bytes`, and `left_bytes` are left."""
    UNEXPLAINED = "unexplained"
    """It was refused, and no reason was given."""
    UNMENTIONED = "unmentioned"
    """The answer said nothing about this one."""
    OUTCOME = "outcome"
    """Nothing is known but the `outcome` of offering it."""
    OUTBOUND = "outbound"
    """The downloader could not be asked, as is what follows; `text` is the error."""
    URL_NOT_ALLOWED = "url_not_allowed"
    HOST_NOT_ALLOWED = "host_not_allowed"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    TOO_LARGE = "too_large"
    BAD_STATUS = "bad_status"
    BAD_ANSWER = "bad_answer"


def because(code: DownloadReason, **facts: Any) -> Reason[DownloadReason]:
    """A reason of ours."""
    return Reason(code, facts)


def by_detail(detail: str | None) -> Reason[DownloadReason]:
    """What a downloader says of a download that it has no hope for."""
    known = read_detail(detail)
    if known is None:
        return because(DownloadReason.REPORTED)
    if known.code is TransferDetail.OTHER:
        return in_its_words(known.facts[TEXT])
    return because(DownloadReason.TRANSFER, detail=known.code.value, **known.facts)


def in_its_words(text: str) -> Reason[DownloadReason]:
    """What a downloader says."""
    return in_other_words(DownloadReason, text)


def by_problem(problem: OutboundError) -> Reason[DownloadReason]:
    """Why a downloader could not be asked."""
    return because(DownloadReason(problem.code), **{TEXT: str(problem)[:LONGEST_TEXT]})


def said_by(downloader: str, reason: Reason[DownloadReason] | None, outcome: Outcome) -> dict[str, Any]:
    """What one downloader said, as a fact."""
    known = reason or because(DownloadReason.OUTCOME, outcome=outcome.value)
    return {"downloader": downloader, **known.as_facts()}


def because_of(code: DownloadReason, said: Iterable[dict[str, Any]]) -> Reason[DownloadReason]:
    """A reason that downloaders gave."""
    return because(code, **{SAID: list(said)})


class DispatchCause(StrEnum):
    """Why downloads are sent; the task that sends them has it, and the log."""

    NEW_LINKS = "new_links"
    LET_THROUGH = "let_through"
    """A filter excludes them no longer."""
    CHOSEN = "chosen"
    """Among several releases."""
    GRABBED = "grabbed"
    """Its keeper took it from a search."""
    SEARCHED = "searched"
    """The search for what is wanted found it."""
    NEXT_BEST = "next_best"
    """Another release could not be downloaded."""
    REGISTERED = "downloader_registered"
    ANSWERS = "downloader_answers"
    """Again."""
    TRIED_AGAIN = "tried_again"
    """After a wait."""
    LEFT_BEHIND = "left_behind"
    """By a crash."""
    SENT_ELSEWHERE = "sent_elsewhere"
    RETRIED = "retried"
    """By the user, as is what follows."""
    WANTED_AGAIN = "wanted_again"

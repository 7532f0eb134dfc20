"""Reasons are stored as codes with facts, and made into words at the edge."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from markupsafe import Markup

from kurabito.api.reasons import WhyAnswer, in_english, sentence_of
from kurabito.catalog.states import FilterReason
from kurabito.cli.collection.wanted import WHY
from kurabito.downloads.reasons import DownloadReason, because, because_of, by_problem, in_its_words, said_by
from kurabito.downloads.states import Outcome
from kurabito.downloads.wanted.store import WantedReason
from kurabito.http.errors import ConnectionBroke, OutboundError
from kurabito.reasons import LONGEST_TEXT, Reason, in_other_words, read_reason
from kurabito.web.languages import catalogues
from kurabito.web.words import Words

NOT_TAKEN = because_of(
    DownloadReason.NOT_TAKEN,
    [
        said_by("A", in_its_words("<full>"), Outcome.REJECTED),
        said_by("B", because(DownloadReason.NO_ROOM, needed_bytes=3 << 29, left_bytes=0), Outcome.UNREACHABLE),
        said_by("C", None, Outcome.UNCLEAR),
        said_by("D", by_problem(ConnectionBroke("http://d broke")), Outcome.UNCLEAR),
    ],
)


def words(tag: str) -> Words:
    return Words(catalogues()[tag], datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "reason",
    [
        Reason(FilterReason.EXCLUDED, {"rule": 'no "small" ones 日本'}),
        Reason(FilterReason.OTHER, {"text": "x"}),
    ],
)
def test_what_is_stored_is_read_again(reason: Reason[FilterReason]) -> None:
    assert read_reason(FilterReason, reason.stored()) == reason


@pytest.mark.parametrize(
    "stored", ["excluded by hand", '{"code": "of tomorrow", "facts": {}}', '{"code": "excluded"}', "[1]", "{"]
)
def test_what_is_no_reason_of_this_version_is_a_text(stored: str) -> None:
    assert read_reason(FilterReason, stored) == in_other_words(FilterReason, stored)


def test_where_nothing_is_stored_there_is_no_reason() -> None:
    assert (read_reason(FilterReason, None), read_reason(FilterReason, ""), sentence_of(None), WhyAnswer.of(None)) == (
        None, None, None, None
    )  # fmt: skip


def test_a_text_of_others_is_cut() -> None:
    assert len(in_other_words(FilterReason, "x" * 9_999).facts["text"]) == LONGEST_TEXT


def test_every_problem_on_the_way_to_a_downloader_is_a_reason() -> None:
    def below(kind: type[OutboundError]) -> set[str]:
        return {kind.code, *(code for one in kind.__subclasses__() for code in below(one))}

    assert below(OutboundError) <= set(DownloadReason)


def test_the_api_says_it_in_english() -> None:
    read = read_reason(DownloadReason, NOT_TAKEN.stored())
    assert read is not None
    room = "not enough room: it needs 1.5 GiB, and 0.0 GiB are left beside what is under way and the reserve"
    assert in_english(read) == f"A: <full>; B: {room}; C: unclear; D: http://d broke"
    told = WhyAnswer.of(read)
    assert told is not None
    assert (told.code, [one["code"] for one in told.facts["said"]]) == (
        "not_taken", ["other", "no_room", "outcome", "unreachable"]
    )  # fmt: skip


def test_the_page_says_it_in_the_readers_language() -> None:
    broke = Markup('<bdi lang="en">http://d broke</bdi>')
    for tag in catalogues():
        say = words(tag).say
        parts = [
            "<bdi>A</bdi>: <bdi>&lt;full&gt;</bdi>",
            f"<bdi>B</bdi>: {say('download_reason.no_room', needed_bytes='1.5 GiB', left_bytes='0 B')}",
            f"<bdi>C</bdi>: {say('attempt.unclear')}",
            f"<bdi>D</bdi>: {say('download_reason.unreachable', text=broke)}",
        ]
        expected = say("download_reason.not_taken", said=Markup(" · ".join(parts)))
        assert words(tag).because(NOT_TAKEN) == expected


def test_a_downloader_without_a_name_is_called_what_it_is() -> None:
    removed = because(DownloadReason.DOWNLOADER_REMOVED, downloader=None)
    assert in_english(removed).startswith("its downloader was removed; ")
    assert words("en").because(removed).startswith(words("en").say("downloads.downloader"))


def test_the_command_says_why_each_episode_is_wanted() -> None:
    assert set(WHY) == set(WantedReason)

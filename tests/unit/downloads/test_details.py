"""What a downloader does with a download: words of ours are said in the reader's language, its own as they are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kurabito.api.reasons import in_english
from kurabito.downloads.items import TransferDetail, is_obstacle, read_detail, with_text
from kurabito.downloads.reasons import DownloadReason, by_detail
from kurabito.reasons import OTHER
from kurabito.web.languages import catalogues
from kurabito.web.words import Words


@pytest.mark.parametrize(
    ("detail", "code", "facts", "is_in_the_way"),
    [
        ("paused", "paused", {}, False),
        ("queued: 5 others go first", "queued", {"text": "5 others go first"}, True),
        (with_text(TransferDetail.UNWRITABLE, "Permission denied"), "unwritable", {"text": "Permission denied"}, True),
        ("no_room", "no_room", {}, True),
        ("no room: /srv is full", "no_room", {"text": "/srv is full"}, True),
        ("forcedDL", "other", {"text": "forcedDL"}, False),
        ("tracker: not registered", "other", {"text": "tracker: not registered"}, True),
        ("other", "other", {"text": "other"}, False),
    ],
)
def test_a_word_is_read_with_what_is_said_beside_it(
    detail: str, code: str, facts: dict[str, Any], is_in_the_way: bool
) -> None:
    read = read_detail(detail)
    assert read is not None
    assert (read.code.value, read.facts) == (code, facts)
    assert is_obstacle(read) is is_in_the_way


@pytest.mark.parametrize("detail", [None, ""])
def test_what_says_nothing_is_nothing(detail: str | None) -> None:
    assert read_detail(detail) is None
    assert not is_obstacle(read_detail(detail))


def test_what_went_wrong_is_said_in_the_readers_language_and_the_program_is_quoted() -> None:
    words = Words(catalogues()["ja"], datetime(2026, 1, 1, tzinfo=UTC))
    unwritable = read_detail("unwritable: <full>")
    assert unwritable is not None
    said = f"<bdi>{catalogues()['ja'].text('transfer.unwritable')}</bdi>: " + '<bdi lang="en">&lt;full&gt;</bdi>'
    assert str(words.because(unwritable)) == said
    assert str(words.because(by_detail("unwritable: <full>"))) == said
    assert str(words.because(by_detail("<its own>"))) == "<bdi>&lt;its own&gt;</bdi>"


@pytest.mark.parametrize(
    ("detail", "code", "sentence"),
    [
        (None, DownloadReason.REPORTED, "the downloader reports an error"),
        ("files_missing", DownloadReason.TRANSFER, "its files are missing"),
        (
            "unwritable: EIO",
            DownloadReason.TRANSFER,
            "its folder cannot be written; make room, or check its rights (EIO)",
        ),
        ("disk full", DownloadReason.OTHER, "disk full"),
    ],
)
def test_why_a_download_failed_is_a_code(detail: str | None, code: DownloadReason, sentence: str) -> None:
    reason = by_detail(detail)
    assert (reason.code, in_english(reason)) == (code, sentence)


@pytest.mark.parametrize("code", [code for code in TransferDetail if code != OTHER])
def test_every_word_makes_a_sentence_for_the_api(code: TransferDetail) -> None:
    assert in_english(by_detail(code.value))

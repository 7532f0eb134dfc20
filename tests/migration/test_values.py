"""Values of the earlier system, however they were spelt."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.db.adoption.values import digest, flag, job_id, moment, number, text, word

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# From 2001 to 2100: every moment at which the earlier system can have written something.
MOMENTS = st.integers(1_000_000_000_000_000, 4_102_444_800_000_000)
SPELLINGS: list[Callable[[datetime], str]] = [
    lambda at: at.strftime("%Y-%m-%d %H:%M:%S.%f"),
    lambda at: at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    lambda at: at.strftime("%Y-%m-%d %H:%M:%S.%f UTC"),
    lambda at: at.strftime("%Y-%m-%d %H:%M:%S.%f +00:00"),
    lambda at: at.strftime("%Y-%m-%d %H:%M:%S.%f") + "000",
    lambda at: at.astimezone(timezone(timedelta(hours=-9, minutes=-30))).isoformat(),
    lambda at: at.astimezone(timezone(timedelta(hours=8))).strftime("%Y-%m-%dT%H:%M:%S.%f%z"),
]


@given(MOMENTS, st.sampled_from(SPELLINGS))
def test_a_time_that_was_text_is_read_to_the_microsecond(at: int, spelt: Callable[[datetime], str]) -> None:
    assert moment(spelt(EPOCH + timedelta(microseconds=at))) == at


@given(MOMENTS)
def test_the_unit_of_a_number_is_told_by_its_size(at: int) -> None:
    assert moment(at) == moment(at * 1000) == moment(str(at)) == at
    assert moment(at // 1000) == at // 1000 * 1000
    assert moment(at // 1_000_000) == at // 1_000_000 * 1_000_000
    assert abs(moment(at / 1_000_000) - at) <= 1
    assert moment(f"{at // 1_000_000}.5") == at // 1_000_000 * 1_000_000 + 500_000


def test_the_day_alone_and_the_beginning_of_time_are_times() -> None:
    assert moment("2024-05-06") == moment("2024-05-06T00:00:00Z")
    assert moment(0) == moment("1970-01-01 00:00:00") == 0


@pytest.mark.parametrize("value", ["", "yesterday", "2024-13-01", b"\xff", 10**21, math.nan, math.inf])
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises((ValueError, OverflowError)):
        moment(value)


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        (flag, True, 1), (flag, "TRUE", 1), (flag, b"f", 0), (flag, 0, 0), (flag, "no", 0),
        (number, "9007199254740993", 2**53 + 1), (number, 7.0, 7), (number, b"-3", -3), (number, "1e3", 1000),
        (text, b"\xc3\xa4", "ä"), (text, 5, "5"),
        (job_id, 17, "17"), (job_id, "17", "17"), (job_id, b"abc", "abc"),
        (job_id, bytes(range(16)), "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        (digest, b"\x11", b"\x11"), (digest, "AB12", b"\xab\x12"), (digest, " sha256:ab12 ", b"\xab\x12"),
    ],
)  # fmt: skip
def test_other_values(read: Callable[[Any], Any], value: Any, expected: Any) -> None:
    assert read(value) == expected


@pytest.mark.parametrize(
    ("read", "value"), [(flag, "maybe"), (flag, 2), (number, "a few"), (number, 1.5), (digest, "xyz"), (text, b"\xff")]
)
def test_what_makes_no_sense_is_refused(read: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read(value)


@pytest.mark.parametrize("spelt", ["running", "RUNNING", " Running ", "JobStatus.RUNNING", b"running"])
def test_a_word_is_known_however_it_is_spelt(spelt: Any) -> None:
    assert word(spelt, ("pending", "running")) == "running"
    with pytest.raises(ValueError, match="is none of pending, failed"):
        word(spelt, ("pending", "failed"))

"""Where the doctor draws the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kurabito.attention import Severity
from kurabito.clock import SECOND
from kurabito.doctor.machine import judge_clock, judge_space
from kurabito.doctor.stores import judge_skew, judge_version
from kurabito.maintenance.disk_space import DiskSpace

YEAR_2020 = 1_577_836_800 * SECOND


@pytest.mark.parametrize(
    ("free", "verdict"),
    [
        (0, Severity.BROKEN),
        (99_999_999, Severity.BROKEN),
        (500_000_000, Severity.WARNING),
        (2_000_000_000, Severity.OK),
    ],
)
def test_a_disk_is_full_before_its_last_byte(free: int, verdict: Severity) -> None:
    assert judge_space(DiskSpace(Path("/srv"), free)).verdict is verdict


@pytest.mark.parametrize(
    ("now", "verdict"), [(0, Severity.BROKEN), (YEAR_2020 - 1, Severity.BROKEN), (YEAR_2020, Severity.OK)]
)
def test_a_clock_that_was_never_set_is_broken(now: int, verdict: Severity) -> None:
    assert judge_clock(now).verdict is verdict


@pytest.mark.parametrize(
    ("number", "verdict"), [(120022, Severity.BROKEN), (130000, Severity.OK), (180001, Severity.OK)]
)
def test_an_old_server_is_broken(number: int, verdict: Severity) -> None:
    assert judge_version(number).verdict is verdict


@pytest.mark.parametrize(
    ("before", "there", "after", "says"),
    [
        (100, 100, 100, "by 0.0 s"),
        (100, 150, 200, "by 0.0 s"),
        (100, 93, 101, "by 7.0 s"),
        (100, 111, 101, "by 10.0 s"),
        (100, 104, 101, "by 3.0 s"),
    ],
)
def test_only_what_the_way_cannot_explain_is_skew(before: int, there: int, after: int, says: str) -> None:
    finding = judge_skew(before * SECOND, there * SECOND, after * SECOND)
    assert says in finding.says
    assert finding.verdict is (Severity.WARNING if float(says.split()[1]) > 5 else Severity.OK)

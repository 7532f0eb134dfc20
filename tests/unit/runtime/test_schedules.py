"""Schedules."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.clock import SECOND
from kurabito.errors import InvalidInput
from kurabito.runtime.schedules.cron import Cron
from kurabito.runtime.schedules.schedule import Every, Schedule


@given(st.floats(0.001, 1e6), st.integers(0, 4_000_000_000 * SECOND))
def test_ticks_enclose_now_and_are_one_period_apart(seconds: float, now: int) -> None:
    rule = Every(seconds)
    before, after = rule.latest(now), rule.next(now)
    assert before <= now < after
    assert after - before == round(seconds * SECOND)
    assert rule.latest(after) == after


def test_processes_that_started_at_different_times_count_the_same_ticks() -> None:
    assert Every(60).next(1_700_000_001 * SECOND) == Every(60).next(1_700_000_031 * SECOND) == 1_700_000_040 * SECOND


def test_a_period_may_be_a_timedelta() -> None:
    assert Every(timedelta(hours=1)).next(0) == 3600 * SECOND
    assert str(Every(timedelta(hours=1))) == "every 3600 s"


@pytest.mark.parametrize(("seconds", "text"), [(60, "60"), (0.25, "0.25"), (1_234_567, "1234567"), (100, "100")])
def test_a_period_names_itself_exactly(seconds: float, text: str) -> None:
    assert str(Every(seconds)) == f"every {text} s"


@pytest.mark.parametrize("seconds", [0, -1, 0.0001, float("nan"), float("inf"), "60", True])
def test_a_period_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidInput, match="seconds: "):
        Every(seconds)


def test_each_tick_gets_a_task_of_its_own() -> None:
    schedule = Schedule("clean", "clean_up", {"days": 7}, 1, "clean", Cron("@daily"))
    first, second = schedule.prepare(), schedule.prepare()
    assert first.id != second.id
    assert (first.task_type, first.payload, first.priority, first.unique_key) == (
        "clean_up",
        b'{"days":7}',
        1,
        "clean",
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"payload": object()}, "payload"),
        ({"task_type": ""}, "task_type"),
        ({"priority": 2**40}, "priority"),
        ({"unique_key": ""}, "unique_key"),
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
    ],
)
def test_a_schedule_that_could_not_fire_is_refused_when_it_is_declared(changes: dict[str, object], named: str) -> None:
    good = {"name": "n", "task_type": "t", "payload": None, "priority": 0, "unique_key": None, "rule": Every(1)}
    with pytest.raises(InvalidInput) as refused:
        Schedule(**(good | changes))  # type: ignore[arg-type]
    assert refused.value.field == named

"""Retry policies."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kurabito.errors import InvalidInput
from kurabito.runtime.tasks.retry import DEFAULT_RETRY, Exponential, Fixed, RetryPolicy

ERROR = RuntimeError("no")


def test_fixed_waits_the_same_after_every_attempt() -> None:
    assert [Fixed(1.5)(attempt, ERROR) for attempt in (1, 2, 500)] == [1.5, 1.5, 1.5]


def test_the_default_doubles_from_two_seconds_up_to_five_minutes() -> None:
    policy = Exponential(random=lambda: 0.5)
    assert [policy(attempt, ERROR) for attempt in range(1, 11)] == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert Exponential() == DEFAULT_RETRY
    assert DEFAULT_RETRY.jitter == 0.1


@pytest.mark.parametrize(("random", "share"), [(0.0, 0.9), (0.5, 1.0), (1.0, 1.1)])
def test_jitter_moves_the_wait_by_its_share_either_way_after_the_cap(random: float, share: float) -> None:
    policy = Exponential(base=10, cap=40, random=lambda: random)
    assert policy(1, ERROR) == pytest.approx(10 * share)
    assert policy(9, ERROR) == pytest.approx(40 * share)


def test_waits_of_tasks_that_failed_together_differ() -> None:
    assert len({DEFAULT_RETRY(1, ERROR) for _ in range(20)}) > 1


@given(
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.floats(1, 1e9),
    st.floats(0, 1),
    st.integers(-5, 10_000),
    st.floats(0, 1, exclude_max=True),
)
def test_a_wait_is_always_a_number_within_the_cap_and_its_jitter(
    base: float, cap: float, factor: float, jitter: float, attempt: int, random: float
) -> None:
    wait = Exponential(base, cap, factor, jitter, random=lambda: random)(attempt, ERROR)
    assert math.isfinite(wait)
    assert 0 <= wait <= cap * (1 + jitter) * (1 + 1e-9)


def test_ten_thousand_attempts_do_not_overflow() -> None:
    assert Exponential(jitter=0)(10_000, ERROR) == 300
    assert Exponential(base=0, jitter=0)(10_000, ERROR) == 0


@pytest.mark.parametrize("field", ["base", "cap", "factor", "jitter"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "2", None, True])
def test_a_value_that_is_no_sensible_number_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        Exponential(**{field: value})  # type: ignore[arg-type]
    assert refused.value.field == field


@pytest.mark.parametrize(("field", "value"), [("factor", 0.5), ("jitter", 1.5)])
def test_a_shrinking_wait_or_one_below_zero_is_refused(field: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=field):
        Exponential(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-0.1, float("nan"), 1e300])
def test_a_fixed_wait_must_be_a_wait(value: float) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        Fixed(value)


def test_any_function_of_attempt_and_error_is_a_policy() -> None:
    def by_error(attempt: int, error: BaseException) -> float:
        return 60.0 if isinstance(error, TimeoutError) else float(attempt)

    policy: RetryPolicy = by_error
    assert policy(3, ERROR) == 3
    assert policy(3, TimeoutError()) == 60

"""Guessing becomes slow."""

from __future__ import annotations

import pytest

from kurabito.access import LoginLimit
from kurabito.clock import ManualClock


@pytest.fixture
def limit(clock: ManualClock) -> LoginLimit:
    return LoginLimit(clock)


def test_a_few_mistakes_are_free(limit: LoginLimit) -> None:
    for _ in range(4):
        limit.failed("10.0.0.1")
    assert limit.wait("10.0.0.1") == 0


def test_then_each_mistake_doubles_the_wait_up_to_five_minutes(limit: LoginLimit, clock: ManualClock) -> None:
    waits = []
    for _ in range(4):
        limit.failed("10.0.0.1")
    for _ in range(12):
        limit.failed("10.0.0.1")
        waits.append(limit.wait("10.0.0.1"))
        clock.advance(waits[-1])
        assert limit.wait("10.0.0.1") == 0
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]


def test_others_do_not_wait(limit: LoginLimit) -> None:
    for _ in range(10):
        limit.failed("10.0.0.1")
    assert limit.wait("10.0.0.2") == 0


def test_whoever_comes_in_starts_anew(limit: LoginLimit) -> None:
    for _ in range(10):
        limit.failed("10.0.0.1")
    limit.succeeded("10.0.0.1")
    assert limit.wait("10.0.0.1") == 0


def test_an_hour_later_nothing_is_held_against_anybody(limit: LoginLimit, clock: ManualClock) -> None:
    for _ in range(10):
        limit.failed("10.0.0.1")
    clock.advance(3601)
    limit.failed("10.0.0.1")
    assert limit.wait("10.0.0.1") == 0


def test_guessing_from_everywhere_at_once_slows_everybody_down(limit: LoginLimit, clock: ManualClock) -> None:
    for number in range(100):
        limit.failed(f"10.0.0.{number}")
    assert limit.wait("192.168.0.1") == 60
    clock.advance(60)
    assert limit.wait("192.168.0.1") == 0


def test_memory_does_not_grow_with_the_number_of_addresses(limit: LoginLimit) -> None:
    for number in range(20_000):
        limit.failed(f"{number}")
    assert len(limit._failures) == 10_000


def guesses_within(limit: LoginLimit, clock: ManualClock, seconds: float, addresses: list[str]) -> int:
    """How many wrong passwords somebody patient can try from these addresses in that time."""
    end, guesses = clock.now() + seconds * 1_000_000, 0
    while clock.now() < end:
        for address in addresses:
            while limit.wait(address) == 0:
                limit.failed(address)
                guesses += 1
        clock.advance(1)
    return guesses


def test_a_day_of_guessing_gives_a_few_hundred_guesses(limit: LoginLimit, clock: ManualClock) -> None:
    assert guesses_within(limit, clock, 86_400, ["10.0.0.1"]) < 310


def test_ten_minutes_of_guessing_from_a_thousand_addresses_give_a_thousand(
    limit: LoginLimit, clock: ManualClock
) -> None:
    assert guesses_within(limit, clock, 600, [f"10.0.{number // 250}.{number % 250}" for number in range(1000)]) <= 1000

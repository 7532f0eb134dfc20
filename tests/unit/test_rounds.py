"""The rounds of a loop: a fault ends no loop, and a loop that keeps failing says why."""

from __future__ import annotations

import asyncio

import pytest

from kurabito.clock import ManualClock
from kurabito.errors import KurabitoError
from kurabito.rounds import PATIENCE, Rounds


class Unprintable(Exception):
    """An error whose text cannot be made."""

    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (KurabitoError("the disk is full"), "the disk is full"),
        (ValueError("a fault"), "ValueError: a fault"),
        (Unprintable(), "Unprintable"),
    ],
)
async def test_what_keeps_failing_is_told_after_a_while_until_it_works_again(problem: Exception, told: str) -> None:
    clock = ManualClock()
    rounds = Rounds("not done", clock)

    async def fail() -> int:
        raise problem

    async def work() -> int:
        return 1

    assert await rounds.do(fail) is None
    assert rounds.trouble is None
    clock.advance(PATIENCE)
    assert await rounds.do(fail) is None
    assert told in (rounds.trouble or "")
    assert await rounds.do(work) == 1
    assert rounds.trouble is None
    # The next failure begins anew.
    await rounds.do(fail)
    assert rounds.trouble is None


async def test_a_cancellation_gets_through() -> None:
    rounds = Rounds("not done")

    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await rounds.do(cancelled)

"""Threads run blocking functions for coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from kurabito.db.threads import Threads
from kurabito.errors import DatabaseUnavailable


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads(3, "sorter")
    yield threads
    threads.close()


async def test_what_a_function_returns_or_raises_reaches_whoever_asked(threads: Threads) -> None:
    assert await threads.run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)
    assert await threads.run(lambda: 8) == 8


async def test_functions_run_beside_one_another_and_no_more_than_there_are_threads(threads: Threads) -> None:
    together = threading.Barrier(3)
    await asyncio.gather(*(threads.run(lambda: together.wait(10)) for _ in range(3)))
    names = await asyncio.gather(*(threads.run(lambda: threading.current_thread().name) for _ in range(50)))
    assert set(names) <= {"sorter-0", "sorter-1", "sorter-2"}


async def test_one_thread_is_enough_for_what_comes_one_after_another(threads: Threads) -> None:
    names = set()
    for _ in range(20):
        names.add(await threads.run(lambda: threading.current_thread().name))
        # The thread says that it is free after it has answered.
        while not threads._idle._value:
            await asyncio.sleep(0.001)
    assert names == {"sorter-0"}


async def test_each_thread_begins_with_what_it_was_told() -> None:
    begun: list[str] = []
    threads = Threads(2, "sorter", begin=lambda: begun.append(threading.current_thread().name))
    together = threading.Barrier(2)
    await asyncio.gather(*(threads.run(lambda: together.wait(10)) for _ in range(2)))
    threads.close()
    assert sorted(begun) == ["sorter-0", "sorter-1"]


async def test_what_nobody_waits_for_any_more_is_not_begun(threads: Threads) -> None:
    go_on, ran = threading.Event(), []
    busy = [asyncio.ensure_future(threads.run(lambda: go_on.wait(10))) for _ in range(3)]
    given_up = asyncio.ensure_future(threads.run(lambda: ran.append("in vain")))
    # Time for the threads to begin the three before it.
    await asyncio.sleep(0.01)
    given_up.cancel()
    await asyncio.wait({given_up})
    go_on.set()
    await asyncio.gather(*busy)
    await threads.run(lambda: ran.append("later"))
    assert ran == ["later"]


async def test_closing_waits_for_what_was_asked_for_and_refuses_what_comes_after() -> None:
    threads = Threads(1, "sorter")
    done: list[int] = []
    asked = [asyncio.ensure_future(threads.run(partial(done.append, number))) for number in range(20)]
    await asyncio.sleep(0)
    await asyncio.to_thread(threads.close)
    await asyncio.gather(*asked)
    assert done == list(range(20))
    with pytest.raises(DatabaseUnavailable, match="closed"):
        await threads.run(lambda: None)

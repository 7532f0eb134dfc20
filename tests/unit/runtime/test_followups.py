"""What follows what."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from tests.support.waiting import PATIENCE

from kurabito.errors import InvalidInput
from kurabito.runtime import Fixed, Queue, Registry, Snooze, TaskContext, TaskState, Worker, open_queue
from kurabito.runtime.errors import PermanentError
from kurabito.runtime.tasks.followups import FollowUp, declare


@dataclass(frozen=True)
class Book:
    """A payload."""

    title: str
    pages: int


@pytest.fixture
async def queue() -> AsyncIterator[Queue]:
    async with open_queue("memory://") as queue:
        yield queue


async def titles(queue: Queue, task_type: str) -> list[object]:
    page = await queue.list(task_type=task_type)
    return [task.payload_as(object) for task in reversed(page.items)]


async def run(queue: Queue, registry: Registry, task_type: str, payload: object) -> TaskState:
    async with Worker(queue, registry):
        task = await queue.enqueue(task_type, payload)
        return (await queue.wait(task.id, timeout=PATIENCE)).state


async def test_the_result_is_the_payload_of_what_follows(queue: Queue) -> None:
    registry = Registry()

    @registry.task("buy")
    async def buy(title: str) -> Book:
        return Book(title, 3)

    declare(registry, [FollowUp(after="buy", then="shelve", why="a book belongs on a shelf", priority=5)])
    assert await run(queue, registry, "buy", "Botchan") is TaskState.SUCCEEDED
    (shelve,) = (await queue.list(task_type="shelve")).items
    assert (shelve.payload_as(Book), shelve.priority) == (Book("Botchan", 3), 5)


async def test_one_task_may_be_followed_by_many_or_none(queue: Queue) -> None:
    registry = Registry()

    @registry.task("buy")
    def buy(ctx: TaskContext, book: Book) -> Book:
        assert threading.current_thread() is not threading.main_thread()
        assert ctx.attempt == 1
        return book

    declare(
        registry,
        [
            FollowUp(after="buy", then="read", why="page by page", payloads=lambda book: range(1, book.pages + 1)),
            FollowUp(after="buy", then="frame", why="only pictures", payloads=lambda book: [book] * (book.pages == 1)),
        ],
    )
    assert await run(queue, registry, "buy", Book("Kokoro", 2)) is TaskState.SUCCEEDED
    assert await titles(queue, "read") == [1, 2]
    assert await titles(queue, "frame") == []


async def test_a_unique_key_is_made_of_the_payload(queue: Queue) -> None:
    registry = Registry()

    @registry.task("buy")
    async def buy(title: str, ctx: TaskContext) -> str:
        await ctx.enqueue("wrap", title)
        return title

    declare(
        registry, [FollowUp(after="buy", then="shelve", why="once is enough", unique_key=lambda title: f"on:{title}")]
    )
    async with Worker(queue, registry):
        for _ in range(2):
            task = await queue.enqueue("buy", "Sanshiro")
            await queue.wait(task.id, timeout=PATIENCE)
    assert await titles(queue, "shelve") == ["Sanshiro"]
    # What the handler itself asked for is asked for as before.
    assert await titles(queue, "wrap") == ["Sanshiro", "Sanshiro"]


async def test_a_failure_is_followed_by_nothing(queue: Queue) -> None:
    registry = Registry()

    @registry.task("buy")
    async def buy() -> None:
        raise PermanentError("sold out")

    declare(registry, [FollowUp(after="buy", then="shelve", why="a book belongs on a shelf")])
    assert await run(queue, registry, "buy", None) is TaskState.DEAD
    assert await titles(queue, "shelve") == []


async def test_a_payload_that_cannot_be_made_fails_the_task_and_stores_no_half(queue: Queue) -> None:
    registry = Registry()

    @registry.task("buy", max_attempts=1, retry=Fixed(0))
    async def buy() -> str:
        return "Mon"

    declare(
        registry,
        [
            FollowUp(after="buy", then="shelve", why="this one can be made"),
            FollowUp(after="buy", then="weigh", why="this one cannot", payloads=lambda title: [title.grams]),
        ],
    )
    assert await run(queue, registry, "buy", None) is TaskState.DEAD
    assert await titles(queue, "shelve") == []


async def test_a_task_that_asks_for_more_time_is_not_done_yet(queue: Queue) -> None:
    registry = Registry()

    @registry.task("buy", max_attempts=1)
    async def buy(ctx: TaskContext) -> object:
        return "Kusamakura" if ctx.progress else (ctx.report(1), Snooze(0.01))[1]

    spell = FollowUp(
        after="buy", then="shelve", why="a book belongs on a shelf", payloads=lambda title: [title.upper()]
    )
    declare(registry, [spell])
    assert await run(queue, registry, "buy", None) is TaskState.SUCCEEDED
    assert await titles(queue, "shelve") == ["KUSAMAKURA"]


def test_the_table_must_fit_the_registry_and_give_reasons() -> None:
    with pytest.raises(InvalidInput, match="'buy' is not registered"):
        declare(Registry(), [FollowUp(after="buy", then="shelve", why="a book belongs on a shelf")])
    with pytest.raises(InvalidInput, match="say why"):
        FollowUp(after="buy", then="shelve", why=" ")

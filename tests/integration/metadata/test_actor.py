"""The actor: syncs by itself, follows its mailbox beside that, and stops in good order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.clock import to_datetime
from kurabito.metadata import DownloadPoster, MetadataHandle
from kurabito.metadata.errors import MetadataStopped
from kurabito.metadata.posters.downloads import POSTER_DOWNLOAD_CONCURRENCY, PosterDownloads
from kurabito.metadata.runner import SYNC
from kurabito.metadata.sync import SYNC_CONCURRENCY
from kurabito.runtime import Registry, TaskState, Worker

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World
    from tests.support.waiting import Eventually

HOUR = 3600.0


@asynccontextmanager
async def acting(desk: Desk) -> AsyncIterator[MetadataHandle]:
    """The actor beside a worker, as they are served."""
    registry = Registry()
    desk.runner.join(registry)
    async with Worker(desk.queue, registry, grace=0.1):
        running = asyncio.create_task(desk.actor.run())
        await asyncio.sleep(0)
        yield desk.actor.handle
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def syncs(desk: Desk) -> list[TaskState]:
    return [task.state for task in await desk.queue.list(task_type=SYNC)]


def local(desk: Desk, ids: list[int]) -> bool:
    return all(desk.poster(one).startswith("/posters/") for one in ids)


async def test_a_sync_gives_every_record_what_it_lacks_and_a_second_one_finds_nothing_to_do(
    desk: Desk, world: World, made_up: Any
) -> None:
    world.shows = [made_up.Show(n, f"蔵{n}", "2020-05-01") for n in range(1, 31)]
    world.posters["/bad.jpg"] = (404, {}, b"")
    both = [
        desk.add(title_japanese=f"蔵{n}", year=2020, poster_url=world.url(f"/pic/{n}.jpg", "bgm.test"))
        for n in range(1, 31)
    ]
    shared = [desk.add(poster_url=world.url("/r/400/pic/1.jpg", "bgm.test")) for _ in range(2)]
    bad = desk.add(title_japanese="蔵3", year=2020, poster_url=world.url("/bad.jpg", "bgm.test"))
    unknown = desk.add(title_japanese="誰も知らない", year=2020, poster_url="http://10.0.0.1/private.jpg")
    bare = desk.add(title_japanese="蔵4", year=2020)
    result = await desk.sync()
    assert result == {
        "records": 35, "posters": 33, "posters_failed": 2, "ids": 32, "ids_not_found": 1, "ids_failed": 0,
    }  # fmt: skip
    assert local(desk, [*both, *shared, bare])
    assert [desk.get(one).details.tmdb_id for one in both] == list(range(1, 31))
    assert desk.poster(both[0]) == desk.poster(shared[0]) == desk.poster(shared[1])
    # One failure is that record's own, and is tried again; a lookup without a match is not.
    assert (desk.get(bad).details.tmdb_id, desk.poster(bad)) == (3, world.url("/bad.jpg", "bgm.test"))
    assert desk.get(unknown).tmdb_lookup_at == to_datetime(desk.clock.now())
    # A record that had no poster was given the one of TMDB.
    assert world.count("/t/p/4.jpg") == 1
    assert world.count("/pic/1.jpg") == 1
    before = len(world.asked)
    again = await desk.sync()
    assert (again["records"], again["posters_failed"]) == (2, 2)
    # The stories of the records are asked for by a task of their own, which may come at any moment.
    asked = {path for path in world.asked[before:] if "?language=" not in path and "/backdrop" not in path}
    assert asked == {"/bad.jpg"}


async def test_unreachable_and_refused_do_not_spend_the_lookup(
    desk: Desk, make_desk: Callable[..., Desk], world: World, made_up: Any, hurry: None
) -> None:
    world.shows = [made_up.Show(1, "蔵", "2020-05-01")]
    one = desk.add(title_japanese="蔵", year=2020)
    wrong, off = make_desk(key="wrong"), make_desk(key=None)
    assert "KURABITO_TMDB_KEY" in ((await wrong.sync_task()).last_error or "")
    assert (await off.sync())["records"] == 0
    world.is_down = True
    assert (await desk.sync_task()).state is TaskState.DEAD
    assert desk.get(one).tmdb_lookup_at is None
    world.is_down = False
    assert (await desk.sync())["ids"] == 1


async def test_the_first_sync_comes_at_the_start_and_then_one_an_hour(desk: Desk, eventually: Eventually) -> None:
    async with acting(desk):
        for number in range(1, 4):
            async with asyncio.timeout(PATIENCE):
                while await syncs(desk) != [TaskState.SUCCEEDED] * number:
                    await asyncio.sleep(0.01)
            desk.clock.advance(HOUR - 1)
            # Time for a sync to come too early: that none comes is told by no event.
            await asyncio.sleep(0.02)
            assert len(await syncs(desk)) == number
            desk.clock.advance(1)


async def test_five_posters_at_once_for_sync_single_and_batch_together_and_never_one_twice(
    desk: Desk, world: World, eventually: Eventually
) -> None:
    assert (POSTER_DOWNLOAD_CONCURRENCY, SYNC_CONCURRENCY) == (5, 5)
    world.hold = asyncio.Event()
    by_sync = [desk.add(poster_url=world.url(f"/pic/sync/{n}", "img.test")) for n in range(8)]
    alone, *batch = [desk.add() for _ in range(9)]
    async with acting(desk) as handle:
        await eventually(lambda: world.at_once == 5)
        await handle.download(alone, world.url("/pic/alone", "img.test"))
        await handle.download_batch([(one, world.url(f"/pic/{one}", "img.test")) for one in batch])
        # The same that a sync fetches: it is waited for, not asked for again.
        await handle.download(batch[0], world.url("/pic/sync/0", "img.test"))
        await eventually(lambda: desk.poster(batch[-1]) and desk.poster(batch[0]).endswith("/pic/sync/0"))
        assert world.at_once == 5
        world.hold.set()
        await eventually(lambda: local(desk, [*by_sync, alone, *batch]))
    assert world.most_at_once == 5
    assert world.count("/pic/sync/0") == 1
    assert desk.poster(batch[0]) == desk.poster(by_sync[0])


async def test_a_sync_works_on_five_records_at_once_however_many_posters_may_be_fetched(
    desk: Desk, world: World, eventually: Eventually
) -> None:
    desk.runner._downloads = PosterDownloads(desk.posters, at_once=50)
    world.hold = asyncio.Event()
    ids = [desk.add(poster_url=world.url(f"/pic/{n}", "img.test")) for n in range(12)]
    async with acting(desk) as handle:
        await eventually(lambda: world.at_once == 5)
        # What is asked for beside the sync is none of its five.
        await handle.download(desk.add(), world.url("/pic/alone", "img.test"))
        await eventually(lambda: world.at_once == 6)
        world.hold.set()
        await eventually(lambda: local(desk, ids))
    assert world.most_at_once == 6


async def test_lookups_wait_for_no_poster_and_have_no_limit_of_their_own(
    desk: Desk, world: World, eventually: Eventually, made_up: Any
) -> None:
    world.hold, world.hold_lists = asyncio.Event(), asyncio.Event()
    years = range(2000, 2020, 4)
    world.shows = [made_up.Show(year, f"name {year}", f"{year}-04-01") for year in years]
    ids = [
        desk.add(title_japanese=f"name {year}", year=year, poster_url=world.url(f"/pic/{year}", "img.test"))
        for year in years
    ]
    async with acting(desk):
        await eventually(lambda: world.at_once == POSTER_DOWNLOAD_CONCURRENCY)
        # Nobody gets a poster or an answer, and all five are looked up at once.
        await eventually(lambda: all(any(f"year={year}" in path for path in world.asked) for year in years))
        world.hold_lists.set()
        world.hold.set()
        await eventually(lambda: local(desk, ids))
    assert [desk.get(one).details.tmdb_id for one in ids] == list(years)


async def test_a_trigger_during_a_sync_brings_another_one_that_sees_what_came_since(
    desk: Desk, world: World, eventually: Eventually
) -> None:
    world.hold = asyncio.Event()
    early = desk.add()
    desk.add(poster_url=world.url("/pic/a", "img.test"))
    async with acting(desk) as handle:
        await eventually(lambda: world.at_once == 1)
        await handle.trigger_sync()
        await handle.trigger_sync()
        desk.database.write_blocking(
            lambda conn: conn.run(
                "UPDATE metadata SET poster_url = :url WHERE id = :id",
                {"url": world.url("/pic/b", "img.test"), "id": early},
            )
        )
        # Time for a second sync to begin beside the first: that none does is told by no event.
        await asyncio.sleep(0.05)
        assert await syncs(desk) == [TaskState.RUNNING]
        world.hold.set()
        await eventually(lambda: local(desk, [early]))
    assert len(await syncs(desk)) == 2


async def test_a_full_mailbox_slows_whoever_posts_and_loses_nothing(
    make_desk: Callable[..., Desk], world: World, eventually: Eventually
) -> None:
    desk = make_desk(capacity=2)
    ids = [desk.add() for _ in range(6)]
    handle = desk.actor.handle
    posting = [asyncio.create_task(handle.download(one, world.url(f"/pic/{one}", "img.test"))) for one in ids]
    # Time for more than two to get in: that none does is told by no event.
    await asyncio.sleep(0.05)
    assert sum(task.done() for task in posting) == 2
    async with acting(desk):
        await asyncio.gather(*posting)
        await eventually(lambda: local(desk, ids))


async def test_shutdown_waits_for_no_sync_and_no_download_and_what_was_asked_for_comes_at_the_next_start(
    desk: Desk, make_desk: Callable[..., Desk], world: World, eventually: Eventually
) -> None:
    world.hold = asyncio.Event()
    synced = [desk.add(poster_url=world.url(f"/pic/{n}", "img.test")) for n in range(7)]
    asked = [desk.add() for _ in range(100)]
    handle = desk.actor.handle
    assert not handle.is_running()
    async with acting(desk):
        assert handle.is_running()
        await eventually(lambda: world.at_once == 5)
        # More than are begun at a time: the rest waits in the mailbox.
        for one in asked:
            await handle.download(one, world.url(f"/pic/{one}", "img.test"))
        async with asyncio.timeout(10):
            await handle.shutdown()
        assert not handle.is_running()
        with pytest.raises(MetadataStopped):
            await handle.trigger_sync()
        await handle.shutdown()
    assert [desk.poster(one) for one in asked] == [world.url(f"/pic/{one}", "img.test") for one in asked]
    assert not any(desk.poster(one).startswith("/posters/") for one in synced)
    assert desk.files() == []
    world.hold.set()
    after_restart = make_desk()
    async with acting(after_restart):
        await eventually(lambda: local(desk, [*synced, *asked]))


async def test_a_sync_that_is_cancelled_stops_and_marks_nothing(
    desk: Desk, world: World, eventually: Eventually
) -> None:
    world.hold = asyncio.Event()
    ids = [desk.add(poster_url=world.url(f"/pic/{n}", "img.test")) for n in range(3)]
    async with acting(desk):
        await eventually(lambda: world.at_once == 3)
        (task,) = await desk.queue.list(task_type=SYNC)
        await desk.queue.cancel(task.id)
        await eventually(lambda: not desk.runner._downloads._shared._under_way)
        world.hold.set()
        assert not local(desk, ids[:1])
    assert desk.files() == []
    assert [desk.poster(one) for one in ids] == [world.url(f"/pic/{n}", "img.test") for n in range(3)]


async def test_a_message_that_cannot_be_followed_is_not_the_last(
    desk: Desk, world: World, eventually: Eventually
) -> None:
    one = desk.add()
    async with acting(desk) as handle:
        await desk.actor._mailbox.post(DownloadPoster("no number", "http://img.test/"))  # type: ignore[arg-type]
        await handle.download(10**9, world.url("/pic/of-nobody", "img.test"))
        await handle.download(one, world.url("/pic/1", "img.test"))
        await eventually(lambda: local(desk, [one]))

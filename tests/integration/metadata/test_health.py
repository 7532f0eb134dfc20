"""How the sources are: what failed is told with its cause and what it holds back, until it works again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.http import Outbound
from kurabito.http.errors import BadStatus
from kurabito.metadata.health import (
    MetadataSource,
    SourceFailure,
    SourceHealths,
    SourceReports,
    SourceState,
    failure_of,
)
from kurabito.metadata.records import TmdbKind
from kurabito.metadata.sources.index import KEEP, UPDATE, IndexOrigin, IndexUpdates
from kurabito.runtime import Registry, TaskState, Worker
from kurabito.runtime.model import Progress

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World

WEEK = 7 * 24 * 3600


def healths(desk: Desk) -> SourceHealths:
    return SourceHealths(desk.database, asks_tmdb=desk.tmdb.is_on)


async def test_tmdb_is_told_as_failing_with_what_waits_until_it_answers(
    desk: Desk, world: World, made_up: Any, hurry: None
) -> None:
    before = await healths(desk).all()
    assert {one.source: one.state for one in before.values()} == {
        MetadataSource.TMDB: SourceState.UNUSED,
        MetadataSource.BGM: SourceState.UNUSED,
        MetadataSource.INDEX: SourceState.OFF,
    }
    world.shows = [made_up.Show(1, "蔵", "2020-05-01")]
    for year in (2020, 2021):
        desk.add(title_japanese="蔵", year=year)
    world.is_down = True
    await desk.sync_task()
    (failing,) = (await healths(desk).failing()).values()
    assert (failing.source, failing.failure, failing.held_back) == (
        MetadataSource.TMDB,
        SourceFailure.UNREACHABLE,
        2,
    )
    assert failing.last_success_at is None
    world.is_down = False
    desk.clock.advance(1)
    assert (await desk.sync())["ids"] == 2
    after = (await healths(desk).all())[MetadataSource.TMDB]
    assert (after.state, after.held_back, after.failure) == (SourceState.WORKING, 0, SourceFailure.UNREACHABLE)
    assert after.last_success_at is not None


async def test_a_name_that_is_not_there_is_an_answer_and_the_same_failure_is_written_once_a_minute(
    desk: Desk, world: World, hurry: None
) -> None:
    assert await desk.tmdb.poster_of(TmdbKind.TV, 4711) is None
    assert MetadataSource.TMDB not in await healths(desk).failing()
    reports = SourceReports(desk.database, desk.clock)
    for answered in (503, 500, 401):
        desk.clock.advance(1)
        await reports.failed(MetadataSource.TMDB, BadStatus(f"answered {answered}", answered))
    found = (await healths(desk).failing())[MetadataSource.TMDB]
    assert (found.failure, found.message) == (SourceFailure.KEY_REFUSED, "answered 401")
    desk.clock.advance(60)
    await reports.failed(MetadataSource.TMDB, BadStatus("answered 403", 403))
    assert (await healths(desk).failing())[MetadataSource.TMDB].message == "answered 403"
    assert failure_of(BadStatus("", 429)) is SourceFailure.TOO_MANY_REQUESTS
    assert failure_of(ValueError()) is SourceFailure.BAD_ANSWER


def content(count: int) -> bytes:
    items = [{"title": f"蔵{n}", "type": "tv", "lang": "ja", "begin": "", "sites": []} for n in range(count)]
    return json.dumps({"items": items}).encode()


@pytest.fixture
def updates(desk: Desk, outbound: Outbound, world: World) -> IndexUpdates:
    return IndexUpdates(
        desk.queue,
        outbound,
        world.url("/data.json"),
        is_allowed=True,
        reports=SourceReports(desk.database, desk.clock),
        handle=desk.actor.handle,
    )


async def test_an_index_is_fetched_once_it_is_allowed_and_again_when_it_is_old(
    desk: Desk, updates: IndexUpdates, world: World, outbound: Outbound
) -> None:
    world.posters["/data.json"] = (200, {}, content(10))
    registry = Registry()
    updates.join(registry)
    assert {schedule.task_type for schedule in registry.schedules} == {KEEP}
    async with Worker(desk.queue, registry):
        assert await updates.update_if_old()
        done = await desk.queue.wait(await updates.begin_update(), timeout=PATIENCE)
    assert done.state is TaskState.SUCCEEDED
    imported = await updates.last_import()
    assert imported is not None
    assert (imported.entries, imported.origin) == (10, IndexOrigin.FETCHED)
    # A sync gives what is new to the records.
    assert len(desk.actor._mailbox.take_all()) == 1
    desk.clock.advance(WEEK)
    assert not await updates.update_if_old()
    desk.clock.advance(1)
    assert await updates.update_if_old()
    reports = SourceReports(desk.database, desk.clock)
    never = IndexUpdates(
        desk.queue, outbound, world.url("/x"), is_allowed=False, reports=reports, handle=desk.actor.handle
    )
    assert not await never.update_if_old()


async def test_a_fetched_index_that_lost_too_much_is_refused_and_told(
    desk: Desk, updates: IndexUpdates, world: World
) -> None:
    registry = Registry()
    updates.join(registry)
    world.posters["/data.json"] = (200, {}, content(10))
    async with Worker(desk.queue, registry):
        task = await desk.queue.enqueue(UPDATE)
        done = await desk.queue.wait(task.id, timeout=PATIENCE)
    # Each entry counts twice: it is stored, and then the index is made of it.
    assert (done.state, done.progress) == (TaskState.SUCCEEDED, Progress(20, 20))
    desk.clock.advance(1)
    for status, body, failure in (
        (200, content(7), SourceFailure.INDEX_REFUSED),
        (200, b"<html>", SourceFailure.BAD_ANSWER),
        (404, b"", SourceFailure.BAD_STATUS),
    ):
        world.posters["/data.json"] = (status, {}, body)
        desk.clock.advance(1)
        async with Worker(desk.queue, registry):
            task = await desk.queue.enqueue(UPDATE)
            assert (await desk.queue.wait(task.id, timeout=PATIENCE)).state is TaskState.DEAD
        found = (await SourceHealths(desk.database, asks_tmdb=True).failing())[MetadataSource.INDEX]
        assert found.failure is failure
    imported = await updates.last_import()
    assert imported is not None
    assert imported.entries == 10
    desk.clock.advance(WEEK)
    await updates._reports.failed(MetadataSource.INDEX, BadStatus("answered 404", 404))
    desk.clock.advance(6 * 3600 - 1)
    assert not await updates.update_if_old()
    desk.clock.advance(1)
    assert await updates.update_if_old()

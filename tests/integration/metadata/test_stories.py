"""Episodes, summaries and backdrops: asked for after the ids, within a budget, again while it airs and rarely afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.metadata.franchises import episodes_known
from kurabito.metadata.pending import Ids
from kurabito.metadata.posters.cleanup import PosterCleanup
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.metadata.stories import refresh
from kurabito.metadata.stories.refresh import STORIES
from kurabito.metadata.stories.store import Story, story_of
from kurabito.runtime import Registry, Worker

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World

SHOW: dict[str, Any] = {"tmdb_id": 100, "tmdb_kind": TmdbKind.TV, "tmdb_season": 1}


def told(desk: Desk, metadata_id: int) -> Story:
    return desk.database.read_blocking(lambda conn: story_of(conn, metadata_id))


def episodes(desk: Desk, metadata_id: int) -> list[tuple[int | float | None, str | None, date | None]]:
    details = desk.get(metadata_id).details
    known = desk.database.read_blocking(lambda conn: episodes_known(conn, details))
    return [(one.number, one.title("en"), one.air_date) for one in known]


async def refreshed(desk: Desk) -> dict[str, Any]:
    """A whole run, as the task that it is."""
    registry = Registry()
    desk.runner.join(registry)
    async with Worker(desk.queue, registry):
        task = await desk.queue.wait((await desk.queue.enqueue(STORIES)).id, timeout=PATIENCE)
    assert task.state == "succeeded", task.last_error
    result: dict[str, Any] = task.result
    return result


async def while_time_passes(desk: Desk) -> dict[str, Any]:
    """The same while seconds go by: bgm.tv is asked once a second."""
    run = asyncio.create_task(refreshed(desk))
    while not run.done():
        desk.clock.advance(1)
        await asyncio.sleep(0.005)
    return await run


@pytest.fixture
def shown(world: World, made_up: Any) -> World:
    """A show that ended long ago, at TMDB."""
    world.shows = [made_up.Show(100, "蔵の夜", "2020-01-05"), made_up.Show(7, "蔵の映画", "2020-01-05", kind="movie")]
    world.seasons[100, 1] = ["2020-01-05", "2020-01-12"]
    return world


async def test_a_season_that_tmdb_does_not_have_costs_its_episodes_and_nothing_else(desk: Desk, shown: World) -> None:
    one = desk.add(title_japanese="蔵の夜 第2期", **SHOW | {"tmdb_season": 2})
    shown.lost_seasons.add((100, 2))
    assert (await refreshed(desk))["failed"] == 0
    story = told(desk, one)
    assert story.summary("en") == "100 (en-US)"
    assert story.backdrop_url is not None
    assert episodes(desk, one) == []
    # One answer says that it is not there; the other languages need not be asked.
    assert shown.count("/3/tv/100/season") == 0


async def test_a_sync_is_followed_by_what_is_told_of_the_records(desk: Desk, shown: World) -> None:
    one = desk.add(title_japanese="蔵の夜", **SHOW)
    registry = Registry()
    desk.runner.join(registry)
    async with Worker(desk.queue, registry):
        await desk.queue.wait(await desk.runner.begin_sync(), timeout=PATIENCE)
        (follow_up,) = (await desk.queue.list(task_type=STORIES)).items
        done = await desk.queue.wait(follow_up.id, timeout=PATIENCE)
    assert done.result == {"records": 1, "failed": 0, "left": 0, "backdrops": 1, "backdrops_failed": 0}
    story = told(desk, one)
    assert dict(story.summaries) == {
        "ja": "100 (ja-JP)",
        "en": "100 (en-US)",
        "zh-Hans": "100 (zh-CN)",
        "zh-Hant": "100 (zh-TW)",
    }
    assert (story.backdrop_url or "").startswith("/posters/")
    assert story.ended_on == date(2020, 1, 12)
    # A number is no title, so the second has its Japanese one.
    assert episodes(desk, one) == [(1, "1 (en-US)", date(2020, 1, 5)), (2, "2 (ja-JP)", date(2020, 1, 12))]
    # The sync asks for the poster, and then one of each: details, and the season in three more languages.
    assert shown.count("/3/tv/100") == 5
    # The picture belongs to the record, so it is not swept away; without the record it is.
    sweep = PosterCleanup(desk.database, desk.posters, idle_for=0.0)
    assert (await sweep.sweep()).removed == 0
    await desk.service.delete(one)
    assert (await sweep.sweep()).removed == 2, "the poster and the backdrop"


async def test_what_has_ended_is_asked_for_rarely_and_what_airs_once_a_day(desk: Desk, shown: World) -> None:
    desk.add(title_japanese="蔵の夜", **SHOW)
    today = datetime.fromtimestamp(desk.clock.now() / 1_000_000, UTC).date()
    shown.shows.append(type(shown.shows[0])(101, "今の蔵", today.isoformat()))
    shown.seasons[101, 1] = [today.isoformat(), None]
    airing = desk.add(title_japanese="今の蔵", tmdb_id=101, tmdb_kind=TmdbKind.TV, air_date=today)
    assert (await refreshed(desk))["records"] == 2
    assert (await refreshed(desk))["records"] == 0
    assert told(desk, airing).ended_on is None
    desk.clock.advance(24 * 3600 + 1)
    shown.seasons[101, 1] = [today.isoformat(), (today + timedelta(days=7)).isoformat()]
    assert (await refreshed(desk))["records"] == 1
    assert [day for _, _, day in episodes(desk, airing)] == [today, today + timedelta(days=7)]
    desk.clock.advance(30 * 24 * 3600)
    assert (await refreshed(desk))["records"] == 1
    assert told(desk, airing).ended_on == today + timedelta(days=7)
    desk.clock.advance(30 * 24 * 3600)
    assert (await refreshed(desk))["records"] == 0
    desk.clock.advance(60 * 24 * 3600)
    assert (await refreshed(desk))["records"] == 2


async def test_another_id_is_another_question(desk: Desk, shown: World) -> None:
    one = desk.add(title_japanese="蔵の夜", kind=RecordKind.MOVIE, tmdb_id=7, tmdb_kind=TmdbKind.MOVIE)
    assert (await refreshed(desk))["records"] == 1
    assert shown.count("/3/movie/7") == 1
    assert episodes(desk, one) == []
    await desk.service.change(one, {**SHOW, "kind": RecordKind.TV})
    assert (await refreshed(desk))["records"] == 1
    assert len(episodes(desk, one)) == 2
    # What TMDB does not have any more is told as nothing, and asked for later.
    await desk.service.change(one, {"tmdb_id": 404})
    assert (await refreshed(desk))["records"] == 1
    assert dict(told(desk, one).summaries) == {}


async def test_the_second_cour_of_a_season_has_its_own_episodes(desk: Desk, shown: World) -> None:
    entries = [
        OfflineEntry("蔵", RecordKind.TV, "ja", ids, day)
        for ids, day in ((Ids(bgm_id=1, **SHOW), date(2020, 1, 5)), (Ids(bgm_id=2, **SHOW), date(2020, 1, 12)))
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    desk.database.write_blocking(lambda conn: conn.run("UPDATE offline_entries SET episode_count = 1"))
    shown.episodes = {
        1: [{"sort": 1, "name": "&lt;一&gt;", "name_cn": "", "airdate": "2020-01-05", "type": 0}],
        2: [{"sort": 2, "name": "二", "name_cn": "贰", "airdate": "", "type": 0}],
    }
    one, two = (desk.add(title_japanese="蔵", bgm_id=bgm_id, **SHOW) for bgm_id in (1, 2))
    assert (await while_time_passes(desk))["records"] == 2
    assert episodes(desk, one) == [(1, "1 (en-US)", date(2020, 1, 5))]
    # By TMDB it is the second of the season: that is where the day comes from.
    assert episodes(desk, two) == [(1, "二", date(2020, 1, 12))]


async def test_many_episodes_come_page_by_page(make_desk: Callable[..., Desk], world: World) -> None:
    desk = make_desk(key=None)
    world.episodes[5] = [{"sort": number, "name": f"第{number}", "airdate": "2001-01-01"} for number in range(1, 451)]
    one = desk.add(title_japanese="長い蔵", bgm_id=5)
    assert (await while_time_passes(desk))["records"] == 1
    assert len(episodes(desk, one)) == 450
    assert world.count("/v0/episodes") == 3


async def test_a_failure_is_one_record_s_own_and_a_host_that_stays_down_is_left_alone(desk: Desk, shown: World) -> None:
    ids = [desk.add(title_japanese="蔵の夜", **SHOW) for _ in range(6)]
    shown.troubles = [(400, {})]
    result = await refreshed(desk)
    assert (result["failed"], result["records"]) == (1, 5)
    assert told(desk, ids[0]).refreshed_at is None
    # It is put off, and comes back after an hour.
    assert (await refreshed(desk))["records"] == 0
    desk.clock.advance(3601)
    assert (await refreshed(desk))["records"] == 1
    desk.clock.advance(91 * 24 * 3600)
    before = told(desk, ids[0])
    shown.troubles = [(400, {})] * 6
    result = await refreshed(desk)
    assert (result["failed"], result["left"], len(shown.troubles)) == (3, 3, 3)
    # What was known stays.
    assert told(desk, ids[0]) == before


async def test_a_run_spends_no_more_than_its_budget(desk: Desk, shown: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "TMDB_BUDGET", 9)
    for _ in range(5):
        desk.add(title_japanese="蔵の夜", **SHOW)
    for expected in (2, 2, 1, 0):
        shown.asked.clear()
        assert (await refreshed(desk))["records"] == expected
        assert shown.count("/3/") <= 9


async def test_a_backdrop_that_is_no_picture_is_not_asked_for_again(desk: Desk, shown: World) -> None:
    shown.posters["/t/p/backdrop100.jpg"] = (200, {"Content-Type": "text/html"}, b"<html>")
    one = desk.add(title_japanese="蔵の夜", **SHOW)
    assert (await refreshed(desk))["backdrops_failed"] == 1
    assert told(desk, one).backdrop_url is None
    assert (await refreshed(desk))["backdrops_failed"] == 0


async def test_a_backdrop_whose_host_is_in_trouble_comes_with_a_later_run(
    desk: Desk, shown: World, hurry: None
) -> None:
    shown.posters["/t/p/backdrop100.jpg"] = (503, {}, b"")
    ids = [desk.add(title_japanese="蔵の夜", **SHOW) for _ in range(5)]
    # The host is left alone after three failures in a row.
    assert (await refreshed(desk))["backdrops_failed"] == 3
    shown.posters.clear()
    assert (await refreshed(desk))["backdrops"] == 5
    assert all((told(desk, one).backdrop_url or "").startswith("/posters/") for one in ids)

"""Services that answer with something else than they should: it is told, costs what it is about, and is asked again later."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.db import Dialect
from kurabito.metadata.calendar import CalendarService
from kurabito.metadata.errors import BgmtvError, TmdbError
from kurabito.metadata.health import MetadataSource, SourceFailure, SourceHealths
from kurabito.metadata.lookup import look_up
from kurabito.metadata.records import Details, TmdbKind
from kurabito.metadata.stories.sources import ask_tmdb
from kurabito.metadata.sync.write_batch import WriteBatch
from kurabito.runtime import TaskState

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World

Answer = tuple[int, dict[str, str], bytes]
HTML = b"<!doctype html><title>Log in to the network of this hotel</title>"


def answer_everything(world: World, answer: Callable[[str], Answer]) -> None:
    """Have every request answered in the same way."""

    async def told(target: str) -> Answer:
        return answer(target)

    world._answer = told  # type: ignore[method-assign]


async def failures(desk: Desk) -> dict[MetadataSource, SourceFailure | None]:
    found = await SourceHealths(desk.database, asks_tmdb=True).failing()
    return {source: health.failure for source, health in found.items()}


@pytest.mark.parametrize(
    "body",
    [HTML, b"[]", b"null", b'"text"', b"{}", b'{"results": 7, "data": 7}', b'{"results": [', b"[" * 100_000, b"\xff"],
    ids=lambda body: body[:20].decode("latin-1"),
)
async def test_an_answer_that_is_none_spends_nothing_and_is_told_as_a_failure(
    desk: Desk, world: World, hurry: None, body: bytes
) -> None:
    """A page of a proxy, say, which comes with 200. It does not mean that there is no such show, and no poster of it."""
    wanted = desk.add(title_japanese="蔵の夜", year=2020)
    shown = desk.add(title_japanese="蔵の朝", bgm_id=7, tmdb_id=8, tmdb_kind=TmdbKind.TV)
    answer_everything(world, lambda _: (200, {"Content-Type": "text/html"}, body))
    task = await desk.sync_task()
    assert task.state is TaskState.DEAD, task.result
    assert desk.get(wanted).tmdb_lookup_at is None
    assert desk.get(shown).poster_lookup_at is None
    bad = SourceFailure.BAD_ANSWER
    assert await failures(desk) == {MetadataSource.TMDB: bad, MetadataSource.BGM: bad}
    desk.clock.advance(1)
    with pytest.raises(BgmtvError):
        await CalendarService(desk.queue, desk.bangumi, desk.actor.handle).refresh_calendar()


@pytest.mark.parametrize(
    ("status", "headers", "failure"),
    [
        (302, {"Location": "/3/discover/tv"}, SourceFailure.BAD_ANSWER),
        (503, {"Retry-After": "31536000"}, SourceFailure.BAD_STATUS),
        (503, {"Retry-After": "9" * 400}, SourceFailure.BAD_STATUS),
        (429, {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"}, SourceFailure.TOO_MANY_REQUESTS),
    ],
    ids=["redirects", "a year", "digits", "a date"],
)
async def test_a_redirect_without_end_and_a_pause_of_a_year_are_told_and_not_waited_for(
    desk: Desk, world: World, status: int, headers: dict[str, str], failure: SourceFailure
) -> None:
    wanted = desk.add(title_japanese="蔵の夜", year=2020)
    answer_everything(world, lambda _: (status, headers, b""))
    assert (await desk.sync_task()).state is TaskState.DEAD
    assert await failures(desk) == {MetadataSource.TMDB: failure}
    # A list is tried three times, each time along five redirects.
    assert len(world.asked) == (1 if "Retry-After" in headers else 3 * 6)
    assert desk.get(wanted).tmdb_lookup_at is None


@pytest.mark.parametrize(
    "pause", ["soon", "-1", f"Fri, 01 Jan {'9' * 30} 00:00:00 GMT", "Fri, 01 Jan 2100 +" + "9" * 30]
)
async def test_a_pause_that_means_nothing_is_none(
    desk: Desk, world: World, made_up: Any, hurry: None, pause: str
) -> None:
    world.shows = [made_up.Show(1, "蔵の夜", "2020-05-01")]
    world.troubles = [(503, {"Retry-After": pause})]
    assert list(await desk.tmdb.titles_of(TmdbKind.TV, 2020)) == ["蔵の夜"]


async def test_a_title_that_cannot_be_kept_costs_no_other_of_its_list(desk: Desk, world: World, made_up: Any) -> None:
    good = made_up.Show(1, "蔵の夜", "2020-05-01").told()
    odd: list[Any] = [
        {**good, "id": 10**30}, {**good, "id": -1}, {**good, "id": None}, {**good, "original_name": None},
        {**good, "original_name": 7}, {**good, "genre_ids": 7}, {**good, "original_language": ["ja"]}, "text", None,
        {**good, "id": 2, "original_name": "蔵\ud83dの\x00朝", "poster_path": 7, "first_air_date": "٢٠٢٠-05-01"},
    ]  # fmt: skip
    listed = json.dumps({"results": [*odd, good], "total_pages": 1, "total_results": 1})
    listed = listed.replace('"id": null', '"id": 1e999')
    answer_everything(world, lambda _: (200, {}, listed.encode()))
    for title, tmdb_id in (("蔵の夜", 1), ("蔵の朝", 2)):
        wanted = desk.add(title_japanese=title, year=2020, poster_url="/posters/0123456789abcdef.jpg")
        assert (await desk.sync())["ids"] == 1
        assert desk.get(wanted).details.tmdb_id == tmdb_id
    # Read again from where the pages are kept.
    desk.tmdb._lists.clear()
    assert (await look_up(desk.tmdb, "蔵の夜", 2020)).tmdb_id == 1


async def test_the_calendar_keeps_what_can_be_kept(desk: Desk, world: World, made_up: Any) -> None:
    odd = [
        made_up.entry(10**30, "蔵の昼"), made_up.entry(0, "蔵の外"), made_up.entry(3, ["蔵"]), "text", None,
        made_up.entry(4, "蔵\ud83dの\x00夕", eps=10**30, summary="x" * 100_000, air_weekday=99, images={"large": None}),
        made_up.entry(5, "蔵の映画", name_cn="x" * 50_000, air_date="0001-01-01"),
    ]  # fmt: skip
    world.calendar = [
        {"weekday": {"id": 8}, "items": [made_up.entry(6, "蔵の八日")]},
        {"weekday": {"id": 3}, "items": [*odd, made_up.entry(1, "蔵の夜")]},
    ]
    text = json.dumps(world.calendar)
    answer_everything(world, lambda _: (200, {}, text.encode()))
    calendar = CalendarService(desk.queue, desk.bangumi, desk.actor.handle)
    assert (await calendar.refresh_calendar()).entries == 3
    kept = (await calendar.week()).days[3]
    assert [record.details.title_japanese for record in kept] == ["蔵の夕", "蔵の映画", "蔵の夜"]
    assert kept[0].details.episode_count is None
    assert len(kept[0].details.summary or "") == 20_000


async def test_episodes_that_repeat_without_end_are_read_once_and_odd_ones_left_out(
    make_desk: Callable[..., Desk], world: World
) -> None:
    desk = make_desk()
    if desk.database.dialect is Dialect.POSTGRES:
        pytest.skip("nothing is written")
    desk.clock.advance(3600)
    listed = [{"sort": n, "name": f"{n}", "airdate": "soon"} for n in range(1, 200)] + [{"sort": 1e12}]
    answer_everything(world, lambda _: (200, {}, json.dumps({"total": 10**9, "data": listed}).encode()))
    reading = desk.bangumi.episodes(7)
    desk.bangumi._turns._interval = 0.0
    assert [episode.counted for episode in await reading] == list(range(1, 200))
    assert len(world.asked) == 2


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"id": 1, "season/1": 7},
        {"id": 1, "translations": {"translations": [{}]}},
        {"id": 1, "overview": ["text"]},
    ],
)
async def test_a_story_of_another_shape_is_a_failure_of_tmdb(desk: Desk, world: World, said: dict[str, Any]) -> None:
    answer_everything(world, lambda _: (200, {}, json.dumps(said).encode()))
    with pytest.raises(TmdbError, match="nonsense"):
        await ask_tmdb(desk.tmdb, Details(tmdb_id=1, tmdb_kind=TmdbKind.TV))
    assert await failures(desk) == {MetadataSource.TMDB: SourceFailure.BAD_ANSWER}


async def test_a_finding_that_cannot_be_written_takes_no_other_with_it(desk: Desk) -> None:
    one, other = desk.add(title_japanese="蔵の夜"), desk.add(title_japanese="蔵の朝")
    findings = WriteBatch(desk.database, desk.clock)
    findings._written_at = desk.clock.now()
    sql = "UPDATE metadata SET tmdb_id = :tmdb_id WHERE id = :id"
    for metadata_id, tmdb_id in ((one, 5), (one, 10**30), (other, 6)):
        await findings.note(lambda conn, n=metadata_id, v=tmdb_id: conn.run(sql, {"id": n, "tmdb_id": v}))  # type: ignore[misc]
    await findings.write()
    assert [desk.get(number).details.tmdb_id for number in (one, other)] == [5, 6]

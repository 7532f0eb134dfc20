"""Services that fail: ids that are known come at once, one failure is one record's, and nothing is read twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.support.waiting import PATIENCE

from kurabito.db import Connection, Database, Dialect
from kurabito.metadata import pending, records
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.runtime import Registry, TaskState, Worker

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World

RECORDS = 300
LIST_PAGES = 6
RESTARTS = 30
POSTER = "/posters/0123456789abcdef.jpg"


def index(desk: Desk, count: int) -> list[int]:
    """An index of so many shows, and a record without ids or a poster for each."""
    entries = [
        OfflineEntry(f"蔵{n}", RecordKind.TV, "ja", Ids(bgm_id=n, tmdb_id=5000 + n, tmdb_kind=TmdbKind.TV))
        for n in range(1, count + 1)
    ]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    return add_all(desk, [Details(title_japanese=f"蔵{n}") for n in range(1, count + 1)])


def add_all(desk: Desk, wanted: list[Details]) -> list[int]:
    return desk.database.write_blocking(lambda conn: records.add_all(conn, wanted))


async def test_a_bgm_that_is_down_keeps_no_id_back(desk: Desk, world: World, hurry: None) -> None:
    ids = index(desk, RECORDS)
    world.bgm_is_down = True
    passing = asyncio.create_task(_time_passes(desk))
    result = await desk.sync()
    passing.cancel()
    assert [desk.get(one).details.tmdb_id for one in ids] == [5000 + n for n in range(1, RECORDS + 1)]
    assert (result["ids"], result["ids_failed"]) == (RECORDS, 0)
    # bgm.tv was left alone soon, so TMDB was asked where the posters are; it does not have these shows.
    assert world.count("/v0/") <= 30
    assert world.count("/3/discover") == 0


async def test_posters_come_when_bgm_is_back(
    make_desk: Callable[..., Desk], world: World, made_up: Any, hurry: None
) -> None:
    desk = make_desk(key=None)
    ids = index(desk, 2)
    world.bgm_is_down = True
    passing = asyncio.create_task(_time_passes(desk))
    first = await desk.sync()
    assert (first["ids"], first["posters_failed"]) == (2, 2)
    world.bgm_is_down = False
    for n in (1, 2):
        world.subjects[n] = made_up.entry(n, f"蔵{n}") | {"images": {"large": world.url(f"/pic/{n}.jpg", "bgm.test")}}
    assert (await desk.sync())["posters"] == 2
    passing.cancel()
    assert all(desk.poster(one).startswith("/posters/") for one in ids)


async def _time_passes(desk: Desk) -> None:
    while True:
        desk.clock.advance(1)
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(("rate", "syncs", "most"), [(0.05, 2, 1.3), (0.2, 3, 1.8), (0.5, 6, 4.0)])
async def test_a_tmdb_that_fails_now_and_then_is_asked_little_more_than_one_that_does_not(
    desk: Desk, world: World, made_up: Any, hurry: None, rate: float, syncs: int, most: float
) -> None:
    if desk.database.dialect is Dialect.POSTGRES:
        pytest.skip("what TMDB is asked does not depend on the database")
    collection = made_up.populate(world, range(2015, 2021), shows=150)[:RECORDS]
    assert len(collection) == RECORDS
    add_all(desk, [Details(title_japanese=one.title, year=one.year, poster_url=POSTER) for one in collection])
    world.error_rate = rate
    for _ in range(syncs):
        await desk.sync_task()
    asked = _lookups(world)
    looked_up = [desk.get(number) for number in range(1, RECORDS + 1)]
    assert all(record.tmdb_lookup_at is not None for record in looked_up)
    truths = {wanted.title: wanted.truth for wanted in collection}
    for record in looked_up:
        assert record.details.tmdb_id in (None, truths[record.details.title_japanese or ""])
    world.error_rate, world.asked[:] = 0.0, []
    desk.database.write_blocking(
        lambda conn: (
            conn.run("DELETE FROM tmdb_pages"),
            conn.run("UPDATE metadata SET tmdb_lookup_at = NULL, tmdb_id = NULL"),
        )
    )
    desk.tmdb._lists.clear()
    await desk.sync()
    assert asked <= most * _lookups(world)


def _lookups(world: World) -> int:
    """The requests to TMDB for ids and posters. What else is told of a record comes later, in a task of its own."""
    return sum(
        path.startswith("/3/") and "language=" not in path.replace("original_language=", "") for path in world.asked
    )


async def test_every_quick_restart_gets_further_and_reads_no_page_twice(
    make_desk: Callable[..., Desk], world: World, made_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = make_desk()
    collection = made_up.populate(world, range(2018, 2020), shows=120)
    add_all(desk, [Details(title_japanese=one.title, year=one.year, poster_url=POSTER) for one in collection])
    got_further = _tell_of_progress(desk.database, monkeypatch)
    restarts = 0
    while restarts < RESTARTS and desk.database.read_blocking(pending.count_lookups):
        restarts += 1
        before, kept = _progress(desk.database), _kept_pages(desk.database)
        got_further.clear()
        world.asked.clear()
        sync = asyncio.create_task(make_desk().runner._sync().run(lambda _done, _total: None))
        noticed = asyncio.create_task(got_further.wait())
        await asyncio.wait({sync, noticed}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
        for task in (sync, noticed):
            task.cancel()
        await asyncio.gather(sync, noticed, return_exceptions=True)
        assert _progress(desk.database) > before
        # What was under way when the process stopped is asked for again, and nothing else.
        assert not kept.intersection(map(_list_page, filter(_is_list, world.asked)))
    kept = _kept_pages(desk.database)
    world.asked.clear()
    await make_desk().runner._sync().run(lambda _done, _total: None)
    assert desk.database.read_blocking(pending.count_lookups) == 0
    asked = [_list_page(path) for path in world.asked if _is_list(path)]
    assert len(asked) == len(set(asked))
    assert not kept.intersection(asked)
    assert len(_kept_pages(desk.database)) >= 2 * LIST_PAGES


def _tell_of_progress(database: Database, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """An event that is set by each write after which more pages or more lookups are kept than before."""
    event, write = asyncio.Event(), database.write

    async def noticing(fn: Callable[[Connection], Any]) -> Any:
        before = _progress(database)
        answer = await write(fn)
        if _progress(database) > before:
            event.set()
        return answer

    monkeypatch.setattr(database, "write", noticing)
    return event


def _progress(database: Database) -> int:
    looked_up = "SELECT count(*) FROM metadata WHERE tmdb_lookup_at IS NOT NULL"
    return int(
        database.read_blocking(lambda conn: conn.value(f"SELECT (SELECT count(*) FROM tmdb_pages) + ({looked_up})"))
    )


def _kept_pages(database: Database) -> set[tuple[str, str, str]]:
    rows = database.read_blocking(lambda conn: conn.all("SELECT kind, year, page FROM tmdb_pages"))
    return {(kind, str(year), str(page)) for kind, year, page in rows}


def _is_list(path: str) -> bool:
    return path.startswith("/3/discover/")


def _list_page(path: str) -> tuple[str, str, str]:
    parts = urlsplit(path)
    query = parse_qs(parts.query)
    (year,) = query.get("first_air_date_year") or query["primary_release_year"]
    return parts.path.rpartition("/")[2], year, query["page"][0]


async def test_a_sync_that_could_ask_no_service_has_not_succeeded(
    desk: Desk, world: World, made_up: Any, hurry: None
) -> None:
    world.shows = [made_up.Show(1, "蔵", "2020-05-01")]
    desk.add(title_japanese="蔵", year=2020)
    world.is_down = True
    task = await desk.sync_task()
    assert task.state is TaskState.DEAD
    assert "TMDB was not read" in (task.last_error or "")
    world.is_down = False
    assert (await desk.sync())["ids"] == 1


async def test_a_refused_key_and_a_long_pause_end_the_lookups_of_a_sync_at_once(
    desk: Desk, make_desk: Callable[..., Desk], world: World
) -> None:
    for n in range(12):
        desk.add(title_japanese=f"蔵{n}", year=1990)
    assert (await make_desk(key="wrong").sync_task()).state is TaskState.DEAD
    assert world.count("/3/") <= 5
    world.asked.clear()
    world.troubles = [(429, {"Retry-After": "3600"})] * 50
    task = await desk.sync_task()
    assert task.state is TaskState.DEAD
    assert "12 lookups" in (task.last_error or "")
    assert world.count("/3/") <= 5


async def test_what_tmdb_says_in_a_moment_of_trouble_is_asked_again_and_a_refusal_is_not(
    desk: Desk, world: World, made_up: Any, hurry: None
) -> None:
    world.shows = [made_up.Show(1, "蔵", "2020-05-01")]
    world.troubles = [(500, {}), (503, {"Retry-After": "0"}), (200, {}), (504, {})]
    assert list(await desk.tmdb.titles_of(TmdbKind.TV, 2020)) == ["蔵"]
    assert world.count("/3/") == 5
    world.troubles = [(403, {})]
    with pytest.raises(TmdbError) as refused:
        await desk.tmdb.titles_of(TmdbKind.TV, 2021)
    assert not refused.value.may_pass
    assert world.count("/3/") == 6


async def test_ids_of_new_records_do_not_wait_for_the_posters_of_others(desk: Desk, world: World, made_up: Any) -> None:
    world.shows = [made_up.Show(1, "蔵", "2020-05-01")]
    world.hold = asyncio.Event()
    desk.add(poster_url=world.url("/pic/slow.jpg", "img.test"))
    registry = Registry()
    desk.runner.join(registry)
    async with Worker(desk.queue, registry, grace=0.1):
        await desk.runner.begin_sync()
        while not world.at_once:
            await asyncio.sleep(0.005)
        new = desk.add(title_japanese="蔵", year=2020, poster_url=POSTER)
        await desk.runner.begin_sync()
        async with asyncio.timeout(PATIENCE):
            while desk.get(new).details.tmdb_id != 1:
                await asyncio.sleep(0.01)
        assert world.at_once == 1
        world.hold.set()


async def test_no_report_of_a_sync_shows_more_than_there_is(
    desk: Desk, world: World, made_up: Any, hurry: None
) -> None:
    """Records that lack several things are one each, also where their posters are found on the way and requests fail."""
    collection = made_up.populate(world, range(2018, 2020), shows=60)
    wanted = [Details(title_japanese=one.title, year=one.year) for one in collection]
    wanted += [Details(title_chinese=f"藏{n}", poster_url=world.url(f"/pic/{n}.jpg", "img.test")) for n in range(10)]
    wanted += [Details(title_english=f"Cellar {n}", year=2018) for n in range(5)]
    records_in_all = len(add_all(desk, wanted))
    world.error_rate = 0.2
    for _ in range(2):
        reports = await _reports(desk)
        assert reports
        assert all(0 <= done <= total <= records_in_all for done, total in reports), reports
        assert [done for done, _ in reports] == sorted(done for done, _ in reports)
        assert len({total for _, total in reports}) <= 2, reports
        assert reports[-1][0] == reports[-1][1]


async def _reports(desk: Desk) -> list[tuple[int, int]]:
    reports: list[tuple[int, int]] = []
    await desk.runner._sync().run(lambda done, total: reports.append((done, total)))
    return reports

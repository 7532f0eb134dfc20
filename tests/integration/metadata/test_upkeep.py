"""What is kept in order by itself: an old calendar, posters that nobody shows, names that records had before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.db import migrate, open_database
from kurabito.db.migrate import PRODUCT, available
from kurabito.metadata import CalendarService, records
from kurabito.metadata.calendar import KEEP, REFRESH
from kurabito.metadata.posters.cleanup import PosterCleanup
from kurabito.runtime import Registry

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World

DAY = 86_400


async def test_a_calendar_is_refreshed_when_it_is_a_day_old_and_never_begun_by_itself(
    desk: Desk, world: World, made_up: Any
) -> None:
    calendar = CalendarService(desk.queue, desk.bangumi, desk.actor.handle)
    registry = Registry()
    calendar.join(registry)
    assert [schedule.task_type for schedule in registry.schedules] == [KEEP]
    assert not await calendar.refresh_if_old()
    world.calendar = [{"weekday": {"id": 1}, "items": [made_up.entry(1, "蔵の夜")]}]
    await calendar.refresh_calendar()
    desk.clock.advance(DAY)
    assert not await calendar.refresh_if_old()
    assert len(await desk.queue.list(task_type=REFRESH)) == 0
    desk.clock.advance(1)
    assert await calendar.refresh_if_old()
    assert await calendar.refresh_if_old()
    assert len(await desk.queue.list(task_type=REFRESH)) == 1


async def test_posters_that_no_record_shows_are_removed_and_no_other(desk: Desk, world: World) -> None:
    shown = desk.add(title_chinese="某", poster_url=world.url("/pic/1.jpg", "img.test"))
    gone = desk.add(title_chinese="某", poster_url=world.url("/pic/2.jpg", "img.test"))
    await desk.sync()
    kept, orphan = (desk.poster(one).removeprefix("/posters/") for one in (shown, gone))
    desk.database.write_blocking(lambda conn: records.forget(conn, gone))
    sweeper = PosterCleanup(desk.database, desk.posters)
    # It was fetched a moment ago, and may be on its way into a record.
    assert (await sweeper.sweep()).removed == 0
    for name in (kept, orphan):
        os.utime(desk.folder / name, (0, 0))
    # Whoever wants it again in that moment keeps it from going.
    path = await desk.posters.download_from_url(world.url("/pic/2.jpg", "img.test"))
    assert path == f"/posters/{orphan}"
    assert (await sweeper.sweep()).removed == 0
    os.utime(desk.folder / orphan, (0, 0))
    swept = await sweeper.sweep()
    assert (swept.posters, swept.removed) == (2, 1)
    assert desk.files() == [kept]
    # One that was put aside when we were killed is put back, for the next sweep to judge.
    (desk.folder / kept).rename(desk.folder / f".{kept}.old")
    desk.posters.prepare()
    assert desk.files() == [kept]
    await desk.posters.download_from_url(world.url("/pic/2.jpg", "img.test"))
    assert desk.files() == sorted([kept, orphan])


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_records_of_before_are_found_by_their_names(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    empty = f"sqlite:///{tmp_path}/before.db" if where == "sqlite" else request.getfixturevalue("fresh_postgres")
    database = open_database(empty)
    database.open()
    steps = available(database.dialect, PRODUCT)
    migrate(database, PRODUCT, [step for step in steps if step.number < 95])
    insert = (
        "INSERT INTO metadata (kind, title_japanese, title_english, created_at, updated_at) "
        "VALUES ('tv', :title, :english, :now, :now)"
    )
    values = {"title": "蔵の夜!", "english": "Kura NO yoru"}
    database.write_blocking(lambda conn: conn.run(insert, values))
    migrate(database, PRODUCT)
    found = database.read_blocking(lambda conn: records.named(conn, ["蔵の夜", "kuranoyoru", "other"]))
    assert {name: [record.id for record in each] for name, each in found.items()} == {"蔵の夜": [1], "kuranoyoru": [1]}
    database.close()

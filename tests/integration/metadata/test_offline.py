"""Ids without a request, and the calendar of any season, from a file; this week from bgm.tv."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import commands
from tests.support.commands import KURABITO
from tests.support.waiting import PATIENCE

from kurabito.errors import InvalidInput
from kurabito.metadata import CalendarService
from kurabito.metadata.errors import BgmtvError, IndexRefused
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordKind, TmdbKind
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import OfflineEntry, read_index
from kurabito.metadata.sources.index import IndexImport, IndexOrigin, import_index, last_import
from kurabito.runtime import Registry, Worker

if TYPE_CHECKING:
    from tests.integration.metadata.conftest import Desk
    from tests.integration.metadata.world import World


def item(title: str, begin: str, kind: str = "tv", chinese: str = "", **sites: str) -> dict[str, Any]:
    return {
        "title": title,
        "titleTranslate": {"zh-Hans": [chinese] if chinese else []},
        "type": kind,
        "lang": "ja",
        "officialSite": "",
        "begin": begin,
        "end": "",
        "comment": "",
        "sites": [{"site": site, "id": value} for site, value in sites.items()],
    }


FILE = [
    # Half past midnight of the first of January in Japan.
    item("蔵の夜", "2021-12-31T15:30:00.000Z", chinese="藏之夜", bangumi="11", tmdb="tv/101", mal="7", aniList="8"),
    item("蔵の夜 第2期", "2023-04-05T14:00:00.000Z", bangumi="12", tmdb="tv/101/season/2", anidb="9", mikan="3"),
    item("蔵の夜", "2022-08-01T00:00:00.000Z", "movie", bangumi="13", tmdb="movie/55"),
    item(
        "蔵の番外",
        "2022-03-31T15:00:00.000Z",
        "ova",
        chinese="藏之外传",
        bangumi="14",
        tmdb="tv/101/season/0/episode/4",
    ),
    item("古い蔵", "1985-01-05T00:00:00.000Z", bangumi="15", tmdb="tv/201-furui-kura"),
    item("古い蔵", "2022-01-08T00:00:00.000Z", bangumi="16", tmdb="tv/202", bilibili="28221"),
    item("蔵の双子", "2022-01-08T00:00:00.000Z", bangumi="17"),
    item("蔵の双子", "2022-01-09T00:00:00.000Z", bangumi="18", tmdb="tv/204"),
    # The last days of a quarter belong to the next season.
    item("早い蔵", "2022-09-17T00:00:00.000Z", bangumi="19"),
]
CONTENT = json.dumps({"siteMeta": {}, "items": FILE}, ensure_ascii=False).encode()


@pytest.fixture
def index(desk: Desk) -> Desk:
    entries = read_index(CONTENT).entries
    assert desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries)) == len(FILE)
    return desk


def test_the_file_is_read_in_the_time_of_japan_and_with_every_form_of_an_id() -> None:
    first, second, film, special, old, *_ = read_index(CONTENT).entries
    assert (first.air_date, first.title_chinese, first.kind) == (date(2022, 1, 1), "藏之夜", RecordKind.TV)
    assert first.ids == Ids(bgm_id=11, tmdb_id=101, tmdb_kind=TmdbKind.TV, mal_id=7, anilist_id=8)
    assert (second.ids.tmdb_id, second.ids.tmdb_season, second.ids.mikan_id) == (101, 2, 3)
    assert (film.ids.tmdb_kind, film.ids.tmdb_id) == (TmdbKind.MOVIE, 55)
    assert (special.air_date, special.ids.tmdb_season) == (date(2022, 4, 1), 0)
    assert old.ids.tmdb_id == 201


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"items": [1]}', b'{"items": {"a": "b"}}', b"\x1f\x8bno"])
def test_another_file_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="bangumi-data"):
        read_index(content)


async def test_an_entry_is_found_by_id_or_by_a_name_that_is_clear(index: Desk) -> None:
    cases = [
        (Details(bgm_id=12), 12),
        (Details(bgm_id=12, title_japanese="古い蔵", year=1985), 12),
        (Details(title_japanese="蔵の夜", year=2022), 11),
        (Details(title_japanese="蔵の夜", year=2022, kind=RecordKind.MOVIE), 13),
        (Details(title_japanese="蔵の夜", year=2021), 11),
        (Details(title_japanese="蔵の夜", year=2020), None),
        (Details(title_japanese="藏之夜"), 11),
        (Details(title_japanese="蔵の夜 第２期", year=2023), 12),
        (Details(title_japanese="古い蔵", year=1986), 15),
        (Details(title_japanese="古い蔵", year=2022), 16),
        (Details(title_japanese="古い蔵", year=1999), None),
        (Details(title_japanese="古い蔵"), None),
        (Details(title_japanese="蔵の双子", year=2022), None),
        (Details(title_japanese="知らない"), None),
        (Details(), None),
    ]
    found = index.database.read_blocking(lambda conn: offline.find_entries(conn, [wanted for wanted, _ in cases]))
    assert [entry and entry.ids.bgm_id for entry in found] == [bgm_id for _, bgm_id in cases]


async def test_a_sync_takes_ids_from_the_index_and_asks_tmdb_only_for_the_rest(
    index: Desk, make_desk: Callable[..., Desk], world: World, made_up: Any
) -> None:
    world.shows = [made_up.Show(900, "知らない", "2022-01-01")]
    world.subjects[12] = made_up.entry(12, "蔵の夜 第2期", date="2023-04-05") | {
        "images": {"large": world.url("/pic/12.jpg", "bgm.test")}
    }
    sequel = index.add(title_japanese="蔵の夜 第2期", year=2023)
    known = index.add(title_japanese="古い蔵", year=2022, poster_url="/posters/0123456789abcdef.jpg")
    other = index.add(title_japanese="知らない", year=2022, poster_url="/posters/0123456789abcdef.jpg")
    off = make_desk(key=None)
    assert (await off.sync())["ids"] == 2
    details = index.get(sequel).details
    assert (details.tmdb_id, details.tmdb_kind, details.tmdb_season) == (101, TmdbKind.TV, 2)
    assert (details.bgm_id, details.anidb_id, details.mikan_id) == (12, 9, 3)
    # The index has no pictures, so bgm.tv was asked for one.
    assert (details.poster_url or "").startswith("/posters/")
    assert index.get(known).details.tmdb_id == 202
    assert index.get(other).tmdb_lookup_at is None
    assert world.count("/3/") == 0
    assert (await index.sync())["ids"] == 1
    assert index.get(other).details.tmdb_id == 900


async def test_a_new_index_is_another_chance_for_what_was_not_found(desk: Desk) -> None:
    one = desk.add(title_japanese="古い蔵", year=2022, poster_url="/posters/0123456789abcdef.jpg")
    assert (await desk.sync())["ids_not_found"] == 1
    for _ in range(2):
        desk.database.write_blocking(lambda conn: offline.replace_entries(conn, read_index(CONTENT).entries))
    assert (await desk.sync())["ids"] == 1
    assert desk.get(one).details.tmdb_id == 202


async def test_a_refresh_makes_records_of_what_is_on_and_has_them_filled_in(
    index: Desk, world: World, made_up: Any
) -> None:
    def large(bgm_id: int) -> dict[str, Any]:
        return {"images": {"large": world.url(f"/pic/{bgm_id}.jpg", "bgm.test")}}

    kept = index.add(title_japanese="蔵の番外", bgm_id=14, year=1999, tmdb_id=5)
    world.calendar = [
        {
            "weekday": {"id": 3},
            "items": [made_up.entry(14, "蔵の番外 ", 3, **large(14)), made_up.entry(30, "新しい蔵", 3)],
        },
        {"weekday": {"id": 7}, "items": [made_up.entry(31, "日曜の蔵", 7, images=None, air_date="0000-00-00")]},
    ]
    calendar = CalendarService(index.queue, index.bangumi, index.actor.handle)
    registry = Registry()
    calendar.join(registry)
    async with Worker(index.queue, registry):
        done = await index.queue.wait(await calendar.begin_refresh(), timeout=PATIENCE)
    assert done.result == {"entries": 3, "created": 2}
    assert [type(message).__name__ for message in index.actor._mailbox.take_all()] == ["TriggerSync"]
    week = await calendar.week()
    assert {day: [record.details.bgm_id for record in found] for day, found in week.days.items() if found} == {
        3: [14, 30],
        7: [31],
    }
    # What the keeper said stays, and what was missing was added.
    details = index.get(kept).details
    assert (details.title_japanese, details.year, details.tmdb_id) == ("蔵の番外", 1999, 5)
    assert details.poster_url == world.url("/pic/14.jpg", "bgm.test")
    # bgm.tv has no Chinese name for it, and the index does.
    assert details.title_chinese == "藏之外传"
    begun = await calendar.season(2022, 1)
    assert [(one.entry.ids.bgm_id, one.metadata_id) for one in begun] == [
        (11, None),
        (16, None),
        (17, None),
        (18, None),
    ]
    assert [one.metadata_id for one in await calendar.season(2022, 4)] == [kept]
    assert [one.entry.ids.bgm_id for one in await calendar.season(2022, 10)] == [19]
    assert await calendar.season(2023, 1) == []
    with pytest.raises(InvalidInput):
        await calendar.season(2022, 2)


async def test_a_show_that_begins_in_the_last_two_weeks_of_a_quarter_is_of_the_next_season(desk: Desk) -> None:
    days = ("2021-12-17", "2021-12-18", "2021-12-31", "2022-03-17", "2022-03-18")
    entries = [OfflineEntry(day, RecordKind.TV, "ja", Ids(), date.fromisoformat(day)) for day in days]
    desk.database.write_blocking(lambda conn: offline.replace_entries(conn, entries))
    calendar = CalendarService(desk.queue, desk.bangumi, desk.actor.handle)
    begun = [
        [one.entry.title for one in await calendar.season(*season)] for season in ((2021, 10), (2022, 1), (2022, 4))
    ]
    assert begun == [[days[0]], list(days[1:4]), [days[4]]]


async def test_a_second_refresh_replaces_the_week_and_one_that_fails_leaves_it(
    desk: Desk, world: World, made_up: Any
) -> None:
    calendar = CalendarService(desk.queue, desk.bangumi, desk.actor.handle)
    for on in ([40, 41], [41]):
        world.calendar = [{"weekday": {"id": 1}, "items": [made_up.entry(one, f"蔵{one}") for one in on]}]
        await calendar.refresh_calendar()
        desk.clock.advance(1)
        assert [record.details.bgm_id for record in (await calendar.week()).days[1]] == on
    # Nothing new came the second time, so no sync was asked for.
    assert len(desk.actor._mailbox.take_all()) == 1
    world.calendar = "broken"  # type: ignore[assignment]
    with pytest.raises(BgmtvError):
        await calendar.refresh_calendar()
    assert len((await calendar.week()).days[1]) == 1


async def test_the_command_imports_a_file_or_fetches_it_from_where_the_settings_say(
    world: World, tmp_path: Path
) -> None:
    world.posters["/data.json"] = (200, {"Content-Type": "application/json"}, CONTENT)

    async def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "KURABITO_STATE": str(tmp_path / "state"), **settings}
        command = [*KURABITO, "metadata", *arguments]
        return await asyncio.to_thread(commands.run, command, env=environment, timeout=PATIENCE)

    updated = await run("update", KURABITO_OFFLINE_IDS_URL=world.url("/data.json"))
    assert (updated.returncode, updated.stdout) == (0, "9 entries are known now.\n"), updated.stderr
    (tmp_path / "data.json").write_bytes(_with(FILE[:4], {"title": "蔵", "type": "hologram"}, 7))
    refused = await run("import", str(tmp_path / "data.json"))
    assert refused.returncode == 1
    assert "4 entries, and 9 are known" in refused.stderr
    assert "--force" in refused.stderr
    forced = await run("import", "--force", str(tmp_path / "data.json"))
    assert forced.stdout.splitlines() == [
        "4 entries are known now.",
        "1 rows were left out: their type is not known to this version.",
        "1 rows were left out: they make no sense.",
    ]


def _with(items: list[dict[str, Any]], *more: Any) -> bytes:
    return json.dumps({"siteMeta": {}, "items": [*items, *more]}, ensure_ascii=False).encode()


async def test_an_index_that_lost_too_much_is_refused_and_what_it_could_not_read_is_told(desk: Desk) -> None:
    def take(content: bytes, *, force: bool = False) -> IndexImport:
        return import_index(desk.database, read_index(content), IndexOrigin.FILE, force=force)

    with pytest.raises(IndexRefused):
        take(_with([]))
    first = take(_with([item(f"蔵{n}", "2022-01-08T00:00:00.000Z") for n in range(10)]))
    assert (first.entries, first.unknown_kinds, first.bad_rows) == (10, 0, 0)
    kept = _with([item(f"蔵{n}", "2022-01-08T00:00:00.000Z") for n in range(8)], {"type": "tv"}, {"type": "x"}, None)
    second = take(kept)
    assert (second.entries, second.unknown_kinds, second.bad_rows) == (8, 1, 2)
    with pytest.raises(IndexRefused, match="6 entries, and 8 are known"):
        take(_with([item(f"蔵{n}", "2022-01-08T00:00:00.000Z") for n in range(6)]))
    assert desk.database.read_blocking(last_import) == second
    assert take(_with([]), force=True).entries == 0


def test_the_package_of_the_project_is_read_as_its_file_is() -> None:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as package:
        for name, content in (("package/README.md", b"hello"), ("package/dist/data.json", CONTENT)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            package.addfile(member, BytesIO(content))
    assert read_index(packed.getvalue()) == read_index(CONTENT)

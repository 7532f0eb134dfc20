"""A download that is complete ends as named files in a library, and its episodes are had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.db import Connection
from kurabito.library.removal import LibraryRemoval
from kurabito.modules.path_maps import PathMap, set_path_maps
from kurabito.placements.filing import planner
from kurabito.runtime import Registry, TaskState, Worker, open_queue
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

EPISODE = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
PLACED = "Yoru no Kurabito (2024)/Season 01/Yoru no Kurabito S01E01.mkv"


async def test_an_episode_is_named_linked_known_and_had(house: House) -> None:
    series = house.series("Yoru no Kurabito", year=2024)
    house.download(series, EPISODE, {EPISODE: b"episode one"})
    await house.settle()
    assert house.library() == {PLACED: b"episode one"}
    ((source,),) = house.shelf.all("SELECT folder FROM inspections")
    assert house.shelf.path(PLACED).samefile(f"{source}/{EPISODE}")
    assert house.states(series) == {1: "have"}
    (placement,) = await house.placements.page()
    assert (placement.status, placement.method, placement.library) == ("completed", "link", "library 1")
    assert house.shelf.all("SELECT relative_path FROM library_files") == [(PLACED,)]
    assert house.shelf.all("SELECT count(*) FROM episode_files") == [(1,)]


async def test_a_batch_is_looked_at_once_and_each_of_its_episodes_is_had(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    names = [f"[Kura] Yoru no Kurabito - {number:02} [1080p]" for number in (1, 2, 3)]
    files = {f"{name}.mkv": name.encode() for name in names} | {f"Subs/{names[0]}.zh-Hans.ass": b"subtitle"}
    house.download(series, "[Kura] Yoru no Kurabito [01-03]", files, episodes=(1, 2, 3))
    await house.settle()
    folder = "Yoru no Kurabito/Season 01/Yoru no Kurabito"
    assert house.library().keys() == {f"{folder} S01E0{number}.mkv" for number in (1, 2, 3)} | {
        f"{folder} S01E01.zh-Hans.ass"
    }
    assert house.states(series) == {1: "have", 2: "have", 3: "have"}
    assert house.shelf.all("SELECT count(*) FROM inspections") == [(1,)]


async def test_the_folder_of_a_series_is_chosen_once(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    await house.settle()
    house.shelf.run("UPDATE series SET title = 'A new name', year = 2030 WHERE id = :id", id=series)
    second = EPISODE.replace("01", "02", 1)
    house.download(series, second, {second: b"two"}, episodes=(2,))
    await house.settle()
    assert {path.partition("/")[0] for path in house.library()} == {"Yoru no Kurabito"}


async def test_a_folder_that_the_show_has_already_is_kept_with_its_seasons(house: House) -> None:
    record = house.record("Yoru no Kurabito", tmdb_id=7, season=1)
    series = house.series("Yoru no Kurabito", metadata_id=record)
    file = house.shelf.put("Anime/夜の蔵人/S1/old 05.mkv", b"five")
    house.shelf.run(
        "INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, metadata_id, matched_by, created_at, "
        "updated_at) VALUES (1, 'Anime/夜の蔵人', '{}', :file, 'j', :record, 'keeper', :now, :now)",
        file=file,
        record=record,
    )
    house.download(series, EPISODE, {EPISODE: b"one"})
    await house.settle()
    assert house.library().keys() == {
        "Anime/夜の蔵人/S1/old 05.mkv",
        "Anime/夜の蔵人/S1/Yoru no Kurabito S01E01.mkv",
    }


async def test_a_second_cour_counts_on_as_tmdb_does(house: House) -> None:
    house.record("Part 1", tmdb_id=7, season=1, count=12, begins="2024-01-05")
    record = house.record("Part 2", tmdb_id=7, season=1, count=12, begins="2024-07-05")
    series = house.series("Yoru no Kurabito", season=2, metadata_id=record)
    name = "[Kura] Yoru no Kurabito S2 - 03.mkv"
    house.download(series, name, {name: b"fifteen"}, episodes=(3,))
    await house.settle()
    assert [path.rpartition("/")[2] for path in house.library()] == ["Yoru no Kurabito S01E15.mkv"]
    assert house.states(series) == {3: "have"}


@pytest.mark.parametrize(("accepts", "reason"), [("any", "several_libraries"), ("nothing", "no_library")])
async def test_without_a_clear_library_it_asks_and_moves_nothing(house: House, accepts: str, reason: str) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = :accepts", accepts=accepts)
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    await house.settle()
    assert house.library() == {}
    assert house.questions() == [(None, reason)]
    assert await house.placements.count_waiting(10) == (0, 1)


async def test_films_and_shows_go_into_their_own_libraries(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'tv' WHERE id = 1")
    house.shelf.run("UPDATE library_roots SET accepts = 'movie' WHERE id = 2")
    show, film = house.series("Yoru no Kurabito"), house.series("Kura no Eiga", kind="movie", year=2020)
    house.download(show, EPISODE, {EPISODE: b"one"})
    house.download(film, "Kura no Eiga", {"[Kura] Kura no Eiga (2020) [1080p].mkv": b"film"}, kind="movie")
    await house.settle()
    assert list(house.library(1)) == ["Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"]
    assert list(house.library(2)) == ["Kura no Eiga (2020)/Kura no Eiga (2020).mkv"]
    assert house.states(film) == {1: "have"}


async def test_a_library_for_films_alone_takes_them_before_one_for_everything(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'any' WHERE id = 1")
    house.shelf.run("UPDATE library_roots SET accepts = 'movie' WHERE id = 2")
    show, film = house.series("Yoru no Kurabito"), house.series("Kura no Eiga", kind="movie", year=2020)
    house.download(show, EPISODE, {EPISODE: b"one"})
    house.download(film, "Kura no Eiga", {"[Kura] Kura no Eiga (2020) [1080p].mkv": b"film"}, kind="movie")
    await house.settle()
    assert (house.questions(), len(house.library(1))) == ([], 1)
    assert list(house.library(2)) == ["Kura no Eiga (2020)/Kura no Eiga (2020).mkv"]


async def test_what_waits_for_a_library_goes_on_when_libraries_take_something_else(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'any'")
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    assert house.questions() == [(None, "several_libraries")]
    house.shelf.run("UPDATE library_roots SET accepts = 'movie' WHERE id = 2")
    await house.settle()
    assert await house.placements.count_waiting(10) == (0, 0)
    assert list(house.library(1)) == ["Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"]


async def test_two_files_of_one_episode_are_asked_about_and_the_rest_is_filed(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    files = {
        "[A] Yoru no Kurabito - 01.mkv": b"a",
        "[B] Yoru no Kurabito - 01.mkv": b"b",
        "[A] Yoru no Kurabito - 02.mkv": b"2",
    }
    house.download(series, "Yoru no Kurabito 01-02", files, episodes=(1, 2))
    await house.settle()
    assert [path.rpartition("/")[2] for path in house.library()] == ["Yoru no Kurabito S01E02.mkv"]
    assert {reason for _, reason in house.questions()} == {"two_files"}


async def test_a_program_among_the_files_has_nothing_filed(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    program = "Yoru no Kurabito - 01.mkv.exe"
    (download,) = house.download(series, EPISODE, {EPISODE: b"one", program: b"MZ"})
    await house.settle()
    assert house.library() == {}
    assert house.questions() == []
    assert house.refused == [(download, (program,))]


async def test_a_program_is_refused_before_it_is_known_where_videos_belong(house: House) -> None:
    house.shelf.run("DELETE FROM library_roots")
    program = "Yoru no Kurabito - 01.mkv.exe"
    (download,) = house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one", program: b"MZ"})
    await house.settle()
    assert house.questions() == []
    assert house.refused == [(download, (program,))]


async def test_the_modes_are_those_of_the_library(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET placement_modes = :modes WHERE id = 1", modes=json.dumps(["copy"]))
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    (placement,) = await house.placements.page()
    assert (placement.method, placement.modes) == ("copy", ("copy",))


async def test_paths_of_a_downloader_elsewhere_are_mapped(house: House) -> None:
    module = house.module()
    maps = [PathMap(str(house.root), "/mnt/nas/dl")]
    house.shelf.database.write_blocking(lambda conn: set_path_maps(conn, module, maps))
    name = f"{EPISODE} 0"
    house.download(
        house.series("Yoru no Kurabito", year=2024), EPISODE, {EPISODE: b"one"}, save_path=f"/mnt/nas/dl/Series/{name}"
    )
    await house.settle()
    assert house.library() == {PLACED: b"one"}


async def test_a_path_that_is_not_seen_waits_and_is_filed_once_it_is(house: House) -> None:
    house.download(
        house.series("Yoru no Kurabito", year=2024), EPISODE, {EPISODE: b"one"}, save_path="/mnt/nas/dl/Series/1"
    )
    await house.settle()
    ((status, code, facts),) = house.shelf.all("SELECT status, error_code, error_facts FROM inspections")
    assert (status, code, json.loads(facts)) == ("pending", "ROOT_UNAVAILABLE", {"folder": "/mnt/nas/dl/Series/1"})
    ((series, _),) = house.shelf.all("SELECT id, title FROM series")
    assert house.states(series) == {1: "downloading"}


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "walked"])
async def test_a_path_that_is_mapped_later_is_looked_at_where_it_is(house: House, listed: bool) -> None:
    module, series = house.module(), house.series("Yoru no Kurabito", year=2024)
    there = f"/mnt/nas/dl/Series/{EPISODE} 0"
    house.download(series, EPISODE, {EPISODE: b"one"}, save_path=there, listed=listed)
    await house.settle()
    assert house.library() == {}
    before = house.shelf.all("SELECT id FROM inspections")
    maps = [PathMap("/elsewhere", "/mnt/other")]
    house.shelf.database.write_blocking(lambda conn: set_path_maps(conn, module, maps))
    await house.settle()
    assert house.shelf.all("SELECT id FROM inspections") == before
    maps = [PathMap(str(house.root), "/mnt/nas/dl")]
    house.shelf.database.write_blocking(lambda conn: set_path_maps(conn, module, maps))
    await house.settle()
    assert house.library() == {PLACED: b"one"}
    assert house.states(series) == {1: "have"}


async def test_a_folder_that_others_share_is_not_taken_for_the_downloads_own(house: House) -> None:
    house.download(
        house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"}, save_path=str(house.root), listed=False
    )
    await house.settle()
    assert house.shelf.all("SELECT status, error_code FROM inspections") == [("cancelled", "PATH_ESCAPES")]
    assert house.library() == {}


async def test_what_seeds_from_a_library_stays_there(house: House) -> None:
    house.shelf.put("Mine/own.mkv", b"one")
    folder = str(house.shelf.path("Mine"))
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"}, save_path=folder)
    await house.settle()
    assert house.shelf.all("SELECT status, error_code FROM inspections") == [("cancelled", "SAME_FILE")]
    assert house.library().keys() == {"Mine/own.mkv"}


async def test_a_decision_is_stored_once_however_often_it_is_made(house: House) -> None:
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.loop.step()
    house.plane()
    (inspection,) = house.shelf.database.read_blocking(planner.unplanned)

    def decide(conn: Connection) -> planner.FilingDecision:
        found = planner.read_inspected(conn, inspection)
        assert found is not None
        return planner.decide(conn, found)

    decision = house.shelf.database.read_blocking(decide)
    stored = [
        house.shelf.database.write_blocking(lambda conn: planner.store(conn, decision, reserve=0)) for _ in range(2)
    ]
    assert stored == [True, False]
    assert house.shelf.all("SELECT count(*) FROM placements") == [(1,)]


async def test_a_show_goes_into_the_library_that_was_chosen_for_it(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'any' WHERE id = 2")
    series = house.series("Yoru no Kurabito")
    house.shelf.run("UPDATE series SET library_id = 2 WHERE id = :id", id=series)
    name = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
    house.download(series, name, {name: b"one"})
    await house.settle()
    assert house.library(1) == {}
    assert list(house.library(2)) == ["Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"]
    assert house.questions() == []


async def planned(house: House) -> Path:
    """A download that is planned and not placed; its file."""
    house.download(house.series("Yoru no Kurabito", year=2024), EPISODE, {EPISODE: b"one"})
    await house.loop.step()
    runner: Runner[Any] = Runner(house.shelf.plane, InspectionWork(), name="plane", heartbeat=60.0)
    while runner.work():
        pass
    await house.loop.step()
    ((folder,),) = house.shelf.all("SELECT folder FROM inspections")
    return Path(folder) / EPISODE


@pytest.mark.parametrize("asked", ["one", "all"])
@pytest.mark.parametrize("gone", [True, False], ids=["gone", "changed"])
async def test_a_file_that_changed_before_it_was_placed_is_listed_again(house: House, gone: bool, asked: str) -> None:
    """A downloader that checks its files may write them anew: what it has then is what is wanted."""
    path = await planned(house)
    if gone:
        path.unlink()
    else:
        path.write_bytes(b"one, and more")
    house.plane()
    (placement,) = await house.placements.page()
    assert placement.error_code == ("FILE_MISSING" if gone else "FILE_CHANGED")
    assert house.library() == {}
    path.write_bytes(b"one, and more")
    await (house.placements.retry(placement.id) if asked == "one" else house.placements.retry_failed())
    house.plane()
    await house.settle()
    assert house.library() == {PLACED: b"one, and more"}
    assert [(one.id, one.status) for one in await house.placements.page()] == [(placement.id, "completed")]
    assert house.states(1) == {1: "have"}


@pytest.mark.parametrize("state", ["pending", "failed", "running"])
async def test_files_on_their_way_into_a_library_that_is_removed_go_elsewhere(
    house: House, url: str, state: str
) -> None:
    await planned(house)
    house.shelf.run("UPDATE placements SET status = :status", status=state)
    house.shelf.run("UPDATE library_roots SET accepts = 'any' WHERE id = 2")
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        removal, registry = LibraryRemoval(queue), Registry()
        task = await removal.begin(1)
        removal.join(registry)
        async with Worker(queue, registry, grace=0.0):
            assert (await queue.wait(task.id, timeout=PATIENCE)).state is TaskState.SUCCEEDED
    await house.settle()
    assert house.library(1) == {}
    assert house.library(2) == {PLACED: b"one"}
    assert house.states(1) == {1: "have"}

"""An existing collection counts: the files of matched folders are had, nothing is moved, and nothing becomes wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

FOLDER = "Anime/Yoru no Kurabito"
FILES = (
    f"{FOLDER}/Season 1/[Kura] Yoru no Kurabito - 01 [1080p].mkv",
    f"{FOLDER}/Season 1/[Kura] Yoru no Kurabito - 02-03 [1080p].mkv",
    f"{FOLDER}/Season 1/[Kura] Yoru no Kurabito - 12.5 [1080p].mkv",
    f"{FOLDER}/Season 1/NCOP.mkv",
)
MATCH = (
    "INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, metadata_id, matched_by, created_at, updated_at) "
    "VALUES (1, :folder, '{}', 1, 'j', :record, 'offline', :now, :now) RETURNING id"
)


def collect(house: House) -> int:
    """A matched folder with files of a series that is known; the series."""
    for path in FILES:
        house.shelf.put(path, path.encode())
    record = house.record("Yoru no Kurabito", tmdb_id=7, season=None)
    series = house.series("Yoru no Kurabito", metadata_id=record)
    house.add(MATCH, folder=FOLDER, record=record)
    house.shelf.run("UPDATE library_roots SET last_scanned_at = :now WHERE id = 1")
    return series


async def test_the_files_of_a_matched_folder_are_had_where_they_lie(house: House) -> None:
    series = collect(house)
    before = house.library()
    await house.settle()
    assert house.states(series) == {1: "have", 2: "have", 3: "have", 12.5: "have"}
    assert house.library() == before
    files = house.shelf.all(
        "SELECT episodes.number, file.relative_path FROM episode_files AS had JOIN episodes ON episodes.id = had.episode_id "
        "JOIN library_files AS file ON file.id = had.file_id ORDER BY episodes.number"
    )
    assert files == [(1, FILES[0]), (2, FILES[1]), (3, FILES[1]), (12.5, FILES[2])]
    assert house.shelf.all("SELECT count(*) FROM placements") == [(0,)]


async def test_a_folder_is_looked_at_again_after_a_scan_and_not_before(house: House) -> None:
    series = collect(house)
    await house.settle()
    house.shelf.put(f"{FOLDER}/Season 1/[Kura] Yoru no Kurabito - 04 [1080p].mkv", b"four")
    assert not await house.loop.step()
    house.shelf.clock.advance(60)
    house.shelf.run("UPDATE library_roots SET last_scanned_at = :now WHERE id = 1")
    house.shelf.clock.advance(1)
    await house.settle()
    assert house.states(series)[4] == "have"


async def test_what_is_had_already_is_not_filed_twice(house: House) -> None:
    series = collect(house)
    await house.settle()
    name = "[Other] Yoru no Kurabito - 01 [720p].mkv"
    house.download(series, name, {name: b"another release"})
    await house.settle()
    assert house.library().keys() == set(FILES)
    assert house.shelf.all("SELECT count(*) FROM placements") == [(0,)]

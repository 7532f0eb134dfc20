"""Names that are one for some systems, and shows that have one name: no file is hidden behind another, no show lies in another's folder."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.integration.placements.test_imports import ask

from kurabito.placements.filing.questions import FileQuestions
from kurabito.placements.imports.model import ImportOrder
from kurabito.placements.imports.service import Imports
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.renames.service import Renames

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House


async def bring(house: House, series: int, title: str, number: int = 1) -> None:
    name = f"[Kura] {title} - {number:02} [1080p].mkv"
    house.download(series, name, {name: f"{series} {number}".encode()}, episodes=(number,))
    await house.settle()


def decomposed(path: str) -> str:
    return unicodedata.normalize("NFD", path)


@pytest.mark.parametrize(
    ("there", "target"),
    [
        ("YORU é/season 01/notes.txt", "YORU é/season 01/Yoru é S01E01.mkv"),
        (decomposed("Yoru é/Season 01/notes.txt"), decomposed("Yoru é/Season 01/") + "Yoru é S01E01.mkv"),
        ("Yoru é/S1/Yoru é - 07.mkv", "Yoru é/S1/Yoru é S01E01.mkv"),
    ],
    ids=["case", "composition", "its own season folder"],
)
async def test_folders_that_a_library_has_are_used_as_they_are_spelled(house: House, there: str, target: str) -> None:
    house.shelf.put(there, b"of the user")
    await bring(house, house.series("Yoru é"), "Yoru é")
    assert house.library().keys() == {there, target}


@pytest.mark.parametrize(
    "there", ["Yoru é/Season 01/YORU É S01E01.MKV", decomposed("Yoru é/Season 01/Yoru é S01E01.mkv")]
)
async def test_a_file_whose_name_differs_in_spelling_only_is_in_the_way(house: House, there: str) -> None:
    house.shelf.put(there, b"of the user")
    await bring(house, house.series("Yoru é"), "Yoru é")
    assert house.library() == {there: b"of the user"}
    (placement,) = await house.placements.page()
    assert (placement.error_code, placement.target_path) == ("TARGET_EXISTS", there)


async def test_what_is_imported_by_hand_goes_into_the_same_folder(house: House) -> None:
    house.shelf.put("YORU/season 01/notes.txt", b"of the user")
    (house.root / "by hand").mkdir()
    (house.root / "by hand" / "Yoru - 01.mkv").write_bytes(b"one")
    imports = Imports(house.shelf.database, house.root, reserve=0)
    order = ImportOrder(path=str(house.root / "by hand"), series_id=house.series("Yoru"))
    plan = await ask(house, imports, order, apply=True)
    assert [file.target for file in plan.files] == ["YORU/season 01/Yoru S01E01.mkv"]
    await house.settle()
    assert house.library().keys() == {"YORU/season 01/notes.txt", "YORU/season 01/Yoru S01E01.mkv"}


async def test_a_rename_uses_the_folders_that_stay(house: House) -> None:
    await bring(house, house.series("Yoru"), "Yoru")
    house.shelf.put("Yoru/SEASON 1/notes.txt", b"of the user")
    await LibraryNaming(house.shelf.database).change(
        1, replace(PRESETS[Preset.JELLYFIN], season_folder="Season {season}")
    )
    (rename,) = (await Renames(house.shelf.database).preview(1)).renames
    assert rename.target == "Yoru/SEASON 1/Yoru S01E01.mkv"


def remakes(house: House, second_year: int | None = 2024) -> tuple[int, int, int]:
    """Two shows of one name, the second with two seasons."""
    found = [house.record("Ranma", tmdb_id=tmdb, season=season) for tmdb, season in ((1, 1), (2, 1), (2, 2))]
    first = house.series("Ranma", year=1989, metadata_id=found[0])
    second = house.series("Ranma", year=second_year, metadata_id=found[1])
    return first, second, house.series("Ranma", season=2, metadata_id=found[2])


async def test_a_remake_has_a_folder_of_its_own_where_the_template_has_no_year(house: House) -> None:
    await LibraryNaming(house.shelf.database).change(1, PRESETS[Preset.FLAT])
    first, second, later = remakes(house)
    await bring(house, first, "Ranma")
    await bring(house, second, "Ranma", 2)
    await bring(house, later, "Ranma S2", 3)
    await bring(house, first, "Ranma", 4)
    assert house.library() == {
        "Ranma/Ranma S01E01.mkv": b"%d 1" % first,
        "Ranma/Ranma S01E04.mkv": b"%d 4" % first,
        "Ranma (2024)/Ranma S01E02.mkv": b"%d 2" % second,
        "Ranma (2024)/Ranma S02E03.mkv": b"%d 3" % later,
    }
    # What was named just now has its name.
    assert (await Renames(house.shelf.database).preview(1)).renames == ()


async def test_a_remake_whose_year_is_not_known_is_asked_about(house: House) -> None:
    await LibraryNaming(house.shelf.database).change(1, PRESETS[Preset.FLAT])
    first, second, _ = remakes(house, second_year=None)
    await bring(house, first, "Ranma")
    await bring(house, second, "Ranma", 2)
    assert house.library().keys() == {"Ranma/Ranma S01E01.mkv"}
    questions = FileQuestions(house.shelf.database)
    (question,) = await questions.page()
    assert (question.reason.code, question.is_about_library) == ("folder_of_other", False)
    assert question.reason.facts == {"folder": "Ranma"}
    house.shelf.run("UPDATE series SET year = 2024 WHERE id = :id", id=second)
    await questions.ask_again(question.id)
    await house.settle()
    assert house.library().keys() == {"Ranma/Ranma S01E01.mkv", "Ranma (2024)/Ranma S01E02.mkv"}


async def test_a_rename_keeps_two_shows_of_one_name_apart(house: House) -> None:
    """The template of before told them by year and id, the new one would give both the same folder."""
    first, second, later = remakes(house)
    for series, title in ((first, "Ranma"), (second, "Ranma"), (later, "Ranma S2")):
        await bring(house, series, title)
    folders = {"Ranma (1989) [tmdbid-1]", "Ranma (2024) [tmdbid-2]"}
    assert {path.partition("/")[0] for path in house.library()} == folders
    await LibraryNaming(house.shelf.database).change(1, PRESETS[Preset.FLAT])
    renames = Renames(house.shelf.database)
    assert (await renames.preview(1)).taken == ()
    await renames.apply(1)
    house.plane()
    await house.settle()
    assert house.library().keys() == {
        "Ranma/Ranma S01E01.mkv",
        "Ranma (2024)/Ranma S01E01.mkv",
        "Ranma (2024)/Ranma S02E01.mkv",
    }
    assert (await renames.preview(1)).renames == ()
    await bring(house, second, "Ranma", 2)
    assert "Ranma (2024)/Ranma S01E02.mkv" in house.library()


async def test_a_folder_that_is_matched_to_another_show_is_not_taken(house: House) -> None:
    await LibraryNaming(house.shelf.database).change(1, PRESETS[Preset.FLAT])
    _, second, _ = remakes(house)
    house.shelf.run(
        "INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, metadata_id, matched_by, created_at, "
        "updated_at) VALUES (1, 'Ranma', '{}', :file, 'j', 1, 'offline', :now, :now)",
        file=house.shelf.put("Ranma/Ranma 01.avi", b"of 1989"),
    )
    await bring(house, second, "Ranma")
    assert house.library().keys() == {"Ranma/Ranma 01.avi", "Ranma (2024)/Ranma S01E01.mkv"}

"""Downloads with several seasons of a show: each file is of its own season, by the names or by what a person says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.placements.filing.answers import AnswerChoice, FilingAnswer
from kurabito.placements.filing.questions import FileQuestions
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.renames.service import Renames

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

PACK = {
    f"Koji/Season {season}/Koji - {number:02}.mkv": b"%d %d" % (season, number)
    for season in (1, 2)
    for number in (1, 2)
}
NAMED = {f"Koji S0{season}E0{number}.mkv": b"%d %d" % (season, number) for season in (1, 2) for number in (1, 2)}


def first(house: House) -> int:
    """The series that the download was fetched for, with its record."""
    record = house.record("Koji", tmdb_id=7, season=1, count=12, begins="2020-01-01")
    return house.series("Koji", metadata_id=record)


def second(house: House) -> int:
    """The other season."""
    record = house.record("Koji 2", tmdb_id=7, season=2, count=12, begins="2021-01-01")
    return house.series("Koji", season=2, metadata_id=record)


def by_name(house: House) -> dict[str, bytes]:
    return {path.rpartition("/")[2]: content for path, content in house.library().items()}


async def answer_with_candidates(house: House) -> None:
    questions = FileQuestions(house.shelf.database)
    for one in await questions.page():
        (candidate,) = one.candidates
        said = FilingAnswer(choice=AnswerChoice.FILE, season=candidate["season"], episodes=tuple(candidate["episodes"]))
        await questions.answer(one.id, said)
    await house.settle()


async def test_each_season_of_a_pack_is_its_own_series(house: House) -> None:
    series, other = first(house), second(house)
    house.download(series, "Koji S1-S2", PACK, episodes=(1, 2))
    await house.settle()
    assert house.questions() == []
    assert by_name(house) == NAMED
    assert {path.partition("/")[0] for path in house.library()} == {"Koji [tmdbid-7]"}
    assert house.states(series) == house.states(other) == {1: "have", 2: "have"}
    assert (await Renames(house.shelf.database).preview(1)).renames == ()


async def test_an_episode_of_another_season_that_is_had_is_left(house: House) -> None:
    series, other = first(house), second(house)
    name = "[Kura] Koji S2 - 01 [1080p].mkv"
    house.download(other, name, {name: b"had"})
    await house.settle()
    house.download(series, "Koji S1-S2", PACK, episodes=(1, 2))
    await house.settle()
    assert by_name(house) == {**NAMED, "Koji S02E01.mkv": b"had"}


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_season_that_a_person_says_is_never_named_as_another(house: House, is_known: bool) -> None:
    """`Season 2, episode 1` was filed as the first episode of the first season, which then was had."""
    series = first(house) if is_known else house.series("Koji")
    house.download(series, "Koji S1-S2", PACK, episodes=(1, 2))
    await house.settle()
    assert {reason for _, reason in house.questions()} == {"outside"}
    await answer_with_candidates(house)
    if is_known:
        # What the second season is called at TMDB is in no record yet.
        questions = FileQuestions(house.shelf.database)
        assert {one.reason.code for one in await questions.page() if one.answer is None} == {"no_mapping"}
        assert by_name(house) == {name: content for name, content in NAMED.items() if "S01" in name}
        second(house)
        for one in await questions.page():
            await questions.ask_again(one.id)
        await house.settle()
    assert by_name(house) == NAMED
    assert house.states(series) == {1: "have", 2: "have"}
    assert (await Renames(house.shelf.database).preview(1)).renames == ()
    await LibraryNaming(house.shelf.database).change(1, PRESETS[Preset.PLEX])
    targets = {one.target.rpartition("/")[2] for one in (await Renames(house.shelf.database).preview(1)).renames}
    assert targets == {name.replace(" S0", " - s0").replace("E0", "e0") for name in NAMED}


async def test_a_series_whose_season_is_corrected_is_renamed_with_it(house: House) -> None:
    series = house.series("Koji")
    name = "[Kura] Koji - 01 [1080p].mkv"
    house.download(series, name, {name: b"one"})
    await house.settle()
    house.shelf.run("UPDATE series SET season = 2 WHERE id = :id", id=series)
    (rename,) = (await Renames(house.shelf.database).preview(1)).renames
    assert rename.target == "Koji/Season 02/Koji S02E01.mkv"

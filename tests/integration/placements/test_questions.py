"""What a plan could not decide is asked, answered once, and the answer can be taken back until its file is filed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.errors import InvalidInput
from kurabito.placements.errors import FilingQuestionNotFound, PlacementConflict
from kurabito.placements.filing.answers import AnswerChoice, FilingAnswer
from kurabito.placements.filing.questions import FileQuestions
from kurabito.placements.plans.model import WorkKind

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

OURS = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
THEIRS = "[Other] Yoru no Kurabito - 01 [1080p].mkv"
PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01"
FIRST = FilingAnswer(choice=AnswerChoice.FILE, season=1, episodes=(1,))


async def test_one_of_two_files_is_chosen_and_its_subtitle_goes_along(house: House) -> None:
    series, asked = house.series("Yoru no Kurabito"), FileQuestions(house.shelf.database)
    files = {OURS: b"ours", THEIRS: b"theirs", THEIRS.replace(".mkv", ".sc.ass"): b"subtitle"}
    house.download(series, "Yoru no Kurabito 01", files)
    await house.settle()
    questions = {one.path: one for one in await asked.page()}
    assert {one.reason.code for one in questions.values()} == {"two_files"}
    assert questions[THEIRS].candidates[0]["episodes"] == [1]
    assert house.library() == {}

    answered = await asked.answer(questions[THEIRS].id, FIRST)
    assert answered.answer == FIRST
    with pytest.raises(PlacementConflict, match="answered already"):
        await asked.answer(answered.id, FIRST)
    # Nothing was placed yet, so it can still be taken back.
    await house.loop.step()
    await asked.take_back(answered.id)
    await house.settle()
    assert house.library() == {}
    assert {one.path for one in await asked.page()} == {OURS, THEIRS}

    await asked.answer(answered.id, FIRST)
    await house.settle()
    assert house.library() == {f"{PLACED}.mkv": b"theirs", f"{PLACED}.zh-Hans.ass": b"subtitle"}
    assert house.states(series) == {1: "have"}
    assert list(await asked.page()) == []
    with pytest.raises(PlacementConflict, match="in its library already"):
        await asked.take_back(answered.id)


async def test_a_file_without_a_number_is_said_or_left(house: House) -> None:
    series, asked = house.series("Yoru no Kurabito"), FileQuestions(house.shelf.database)
    house.download(
        series, "Yoru no Kurabito", {"Prologue.mkv": b"special", "Evening talk.mkv": b"talk"}, episodes=(1, 2)
    )
    await house.settle()
    questions = {one.path: one for one in await asked.page()}
    assert {one.reason.code for one in questions.values()} == {"no_number"}
    with pytest.raises(InvalidInput, match="label"):
        await asked.answer(questions["Prologue.mkv"].id, FilingAnswer(choice=AnswerChoice.FILE, kind=WorkKind.SPECIAL))
    with pytest.raises(InvalidInput, match="choice"):
        await asked.answer(questions["Prologue.mkv"].id, FilingAnswer(choice=AnswerChoice.LIBRARY, library_id=1))
    special = FilingAnswer(choice=AnswerChoice.FILE, kind=WorkKind.SPECIAL, label="SP 1")
    await asked.answer(questions["Prologue.mkv"].id, special)
    await asked.answer(questions["Evening talk.mkv"].id, FilingAnswer(choice=AnswerChoice.LEAVE))
    await house.settle()
    assert list(house.library().values()) == [b"special"]
    assert list(await asked.page()) == []
    # What was left can be had after all.
    await asked.take_back(questions["Evening talk.mkv"].id)
    await house.settle()
    assert [one.path for one in await asked.page()] == ["Evening talk.mkv"]


async def test_the_library_is_chosen_where_several_take_the_kind(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'tv'")
    series, asked = house.series("Yoru no Kurabito"), FileQuestions(house.shelf.database)
    house.download(series, OURS, {OURS: b"ours"})
    await house.settle()
    (question,) = await asked.page()
    assert (question.path, question.reason.code) == (None, "several_libraries")
    with pytest.raises(InvalidInput, match="library_id"):
        await asked.answer(question.id, FilingAnswer(choice=AnswerChoice.LIBRARY, library_id=99))
    await asked.answer(question.id, FilingAnswer(choice=AnswerChoice.LIBRARY, library_id=2))
    await house.settle()
    assert house.library(2) == {f"{PLACED}.mkv": b"ours"}
    # The show lies there from now on.
    second = OURS.replace("01", "02", 1)
    house.download(series, second, {second: b"two"}, episodes=(2,))
    await house.settle()
    assert len(house.library(2)) == 2


async def test_the_library_that_is_chosen_once_is_that_of_every_episode_that_waits(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'tv'")
    series, other = house.series("Yoru no Kurabito"), house.series("The Lantern")
    asked = FileQuestions(house.shelf.database)
    for number in (1, 2, 3):
        name = OURS.replace("01", f"{number:02}", 1)
        house.download(series, name, {name: name.encode()}, episodes=(number,))
    house.download(other, "The Lantern - 01.mkv", {"The Lantern - 01.mkv": b"light"})
    await house.settle()
    questions = list(await asked.page())
    assert [one.series for one in questions].count("Yoru no Kurabito") == 3
    first = next(one for one in questions if one.series == "Yoru no Kurabito")
    await asked.answer(first.id, FilingAnswer(choice=AnswerChoice.LIBRARY, library_id=2))
    await house.settle()
    assert len(house.library(2)) == 3
    assert [one.series for one in await asked.page()] == ["The Lantern"]


async def test_a_question_is_asked_again_once_its_cause_is_gone(house: House) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'nothing'")
    asked = FileQuestions(house.shelf.database)
    house.download(house.series("Yoru no Kurabito"), OURS, {OURS: b"ours"})
    await house.settle()
    (question,) = await asked.page()
    house.shelf.run("UPDATE library_roots SET accepts = 'any' WHERE id = 1")
    await asked.ask_again(question.id)
    await house.settle()
    assert house.library() == {f"{PLACED}.mkv": b"ours"}
    assert list(await asked.page()) == []
    with pytest.raises(FilingQuestionNotFound):
        await asked.ask_again(99)


async def test_a_decimal_that_is_said_never_gets_the_number_of_an_episode(house: House) -> None:
    """A name `S01E12` would be shown as the twelfth episode, and be in the way of it."""
    series, asked = house.series("Yoru no Kurabito"), FileQuestions(house.shelf.database)
    house.download(
        series, "Yoru no Kurabito", {"Prologue.mkv": b"recap", "Evening talk.mkv": b"talk"}, episodes=(12, 13)
    )
    await house.settle()
    question = next(one for one in (await asked.page()).items if one.path == "Prologue.mkv")
    await asked.answer(question.id, FilingAnswer(choice=AnswerChoice.FILE, episodes=(12.5,)))
    await house.settle()
    assert house.library() == {"Yoru no Kurabito/Season 00/Yoru no Kurabito (12.5).mkv": b"recap"}
    assert house.states(series)[12.5] == "have"


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (FilingAnswer(choice=AnswerChoice.FILE, kind=WorkKind.SPECIAL, label=" "), "label"),
        (FilingAnswer(choice=AnswerChoice.FILE, kind=WorkKind.SPECIAL, label="\u200b\u202e"), "label"),
        (FilingAnswer(choice=AnswerChoice.FILE, episodes=(1, 2, 5)), "episodes"),
        (FilingAnswer(choice=AnswerChoice.FILE, episodes=(2, 1)), "episodes"),
        (FilingAnswer(choice=AnswerChoice.FILE, episodes=(1, 12.5)), "episodes"),
        (FilingAnswer(choice=AnswerChoice.FILE, episodes=(12.5,), is_numbered=True), "episodes"),
        (FilingAnswer(choice=AnswerChoice.FILE, episodes=tuple(range(1, 1000))), "episodes"),
        (FilingAnswer(choice=AnswerChoice.FILE, episodes=(float("nan"),)), "episodes"),
    ],
)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_an_answer_that_no_name_could_say_is_refused(house: House, said: FilingAnswer, field: str) -> None:
    asked = FileQuestions(house.shelf.database)
    files = {"Prologue.mkv": b"special", "Evening talk.mkv": b"talk"}
    house.download(house.series("Yoru no Kurabito"), "Yoru no Kurabito", files, episodes=(1, 2))
    await house.settle()
    question = (await asked.page()).items[0]
    with pytest.raises(InvalidInput, match=field):
        await asked.answer(question.id, said)
    assert [one.answer for one in await asked.page()] == [None, None]

"""Downloads whose names and files were made to do harm, or which no plan was made for: each on its own, nothing outside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.db import Connection
from kurabito.placements.filing import planner
from kurabito.placements.filing.questions import FileQuestions

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

EPISODE = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"


async def test_a_download_that_cannot_be_planned_holds_up_no_other(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    (poison,) = house.download(house.series("Poison"), "Poison - 01", {"Poison - 01.mkv": b"one"})
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    decide = planner.decide

    def fail(conn: Connection, inspected: planner.Inspected) -> planner.FilingDecision:
        if inspected.download_id == poison:
            raise RuntimeError("not thought of")
        return decide(conn, inspected)

    monkeypatch.setattr(planner, "decide", fail)
    await house.settle()
    assert house.library() == {PLACED: b"one"}
    questions = FileQuestions(house.shelf.database)
    (question,) = await questions.page()
    assert (question.download_id, question.path, question.reason.code) == (poison, None, "not_planned")
    assert question.reason.facts == {"problem": "RuntimeError: not thought of"}
    assert not question.is_about_library
    monkeypatch.setattr(planner, "decide", decide)
    await questions.ask_again(question.id)
    await house.settle()
    assert house.library().keys() == {PLACED, "Poison/Season 01/Poison S01E01.mkv"}
    assert list(await questions.page()) == []


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "walked"])
async def test_names_that_no_system_has_are_filed_as_names_that_all_have(house: House, listed: bool) -> None:
    names = {
        "[Kura] Yoru no Kurabito - 01 \u202egpj.1 [1080p].mkv": b"1",
        "[Kura] Yoru no Kurabito - 02 \n\t<b>\"'?*|\\..\\ [1080p].mkv": b"2",
        "CON/[Kura] Yoru no Kurabito - 03 [1080p].mkv": b"3",
        f"[Kura] Yoru no Kurabito - 04 [{'蔵' * 70}].mkv": b"4",
        "-rf $(reboot)/[Kura] Yoru no Kurabito - 05 [1080p].mkv": b"5",
    }
    house.download(house.series("Yoru no Kurabito"), "batch", names, episodes=(1, 2, 3, 4, 5), listed=listed)
    await house.settle()
    folder = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E0"
    assert house.library() == {f"{folder}{number}.mkv": b"%d" % number for number in range(1, 6)}


async def test_a_name_that_is_no_text_is_filed_by_its_bytes(house: House) -> None:
    name = os.fsdecode(b"[Kura] Yoru no Kurabito - 01 [\xff\xfe\x80].mkv")
    house.download(house.series("Yoru no Kurabito"), "batch", {name: b"one"}, listed=False)
    await house.settle()
    assert house.library() == {PLACED: b"one"}


async def test_links_and_pipes_in_a_download_are_passed_over(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    house.download(series, "batch", {EPISODE: b"one"}, listed=False)
    ((folder,),) = house.shelf.all("SELECT save_path FROM downloads")
    secret = house.shelf.folder / "secret"
    secret.mkdir()
    (secret / "[Kura] Yoru no Kurabito - 02 [1080p].mkv").write_bytes(b"secret")
    Path(folder, "Season 1").symlink_to(secret)
    Path(folder, "[Kura] Yoru no Kurabito - 03.mkv").symlink_to(secret / "[Kura] Yoru no Kurabito - 02 [1080p].mkv")
    os.mkfifo(f"{folder}/[Kura] Yoru no Kurabito - 04.mkv")
    await house.settle()
    assert house.library() == {PLACED: b"one"}


async def test_a_list_that_points_elsewhere_is_refused(house: House) -> None:
    (house.shelf.folder / "secret.mkv").write_bytes(b"secret")
    house.download(house.series("Yoru no Kurabito"), "batch", {"../../../secret.mkv": b"secret"})
    await house.settle()
    assert house.library() == {}
    assert house.shelf.all("SELECT status, error_code FROM inspections") == [("failed", "PATH_ESCAPES")]


async def test_the_folder_that_a_library_has_is_used_however_its_name_is_spelled(house: House) -> None:
    """On many disks `YORU` and `Yoru` are one folder; a second one would be hidden behind the first."""
    house.shelf.put("YORU NO KURABITO/notes.txt", b"of the user")
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    house.download(
        house.series("YORU no Kurabito", season=2), "b", {EPISODE.replace("01", "02", 1): b"two"}, episodes=(2,)
    )
    await house.settle()
    assert {path.partition("/")[0] for path in house.library()} == {"YORU NO KURABITO"}
    assert len(house.library()) == 3

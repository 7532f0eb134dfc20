"""`kurabito placements`: files are listed, questions answered, and renames shown and applied, with no server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from kurabito.cli.commands import app

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.placements.conftest import House

PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"


def kurabito(*words: str) -> str:
    result = CliRunner().invoke(app, ["placements", *words])
    assert result.exit_code == 0, result.output
    return result.output


async def test_the_way_of_a_file_by_command(
    house: House, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("the commands are the same on both databases")
    monkeypatch.setenv("KURABITO_DATABASE", url)
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path / "state"))
    two = {"Prologue.mkv": b"one", "Epilogue.mkv": b"two"}
    house.download(house.series("Yoru no Kurabito"), "Yoru no Kurabito", two, episodes=(1, 2))
    await house.settle()

    run = asyncio.to_thread
    asked = await run(kurabito, "questions")
    assert "Prologue.mkv: its name says no episode" in asked
    ids = {line.split(":")[0].split()[1]: line.split()[0] for line in asked.splitlines() if ".mkv" in line}
    await run(kurabito, "answer", ids["Prologue.mkv"], "--episode", "1")
    await run(kurabito, "answer", ids["Epilogue.mkv"], "--leave")
    await house.settle()
    assert house.library() == {PLACED: b"one"}
    assert f"library 1/{PLACED}" in await run(kurabito, "list")
    house.shelf.run("UPDATE series SET title = 'Night brewers'")
    shown = await run(kurabito, "rename", "1", "--dry-run")
    assert "-> Night brewers/Season 01/Night brewers S01E01.mkv" in shown
    assert house.library() == {PLACED: b"one"}
    assert "1 files" in await run(kurabito, "rename", "1")
    house.plane()
    assert "renaming 2: 1 files" in await run(kurabito, "undo-rename", "1")
    house.plane()
    assert house.library() == {PLACED: b"one"}


async def test_a_film_is_said_by_command(
    house: House, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not url.startswith("sqlite"):
        pytest.skip("the commands are the same on both databases")
    monkeypatch.setenv("KURABITO_DATABASE", url)
    monkeypatch.setenv("KURABITO_STATE", str(tmp_path / "state"))
    name = "[Kura] Sake no Uta (2016) [1080p].mkv"
    download = house.download(house.series("Sake no Uta", year=2016), name, {name: b"film"})
    # A link whose title says no number is of no episode.
    house.shelf.run("UPDATE anime_links SET episode_id = NULL")
    assert download == [1]
    await house.settle()
    assert house.questions() == [(name, "no_number")]
    await asyncio.to_thread(kurabito, "answer", "1", "--film")
    await house.settle()
    assert house.library() == {"Sake no Uta (2016)/Sake no Uta (2016).mkv": b"film"}

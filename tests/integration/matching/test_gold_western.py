"""Folders of shows and films that are no anime, matched by a TMDB that knows them: remakes, country versions, years and none.

`western_titles.tsv` is what TMDB says of them; `western_folders.tsv` says which one a folder is about, 0 where that cannot be told.
Those that begin with `blind_` were committed before any of them was tried; at their first run all 57 were matched, none wrongly.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.integration.matching.test_gold_folders import Row, rows

from kurabito.catalog.matching.model import MatchState

if TYPE_CHECKING:
    from tests.integration.matching.conftest import Desk
    from tests.integration.metadata.world import Show, World

pytestmark = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def title(row: Row) -> Show:
    show: Show = sys.modules["matching_world"].Show(
        int(row["number"]),
        row["original"],
        f"{row['year']}-06-01",
        genres=(int(row["genre"]),) if row["genre"] else (18,),
        language=row["language"],
        kind=row["kind"],
        local=row["local"],
        countries=tuple(row["countries"].split()),
    )
    return show


@pytest.mark.parametrize(("of", "least"), [("", 100), ("blind_", 50)])
async def test_nearly_all_western_folders_are_matched_and_none_wrongly(
    desk: Desk, world: World, of: str, least: int
) -> None:
    world.shows += map(title, rows(f"{of}western_titles.tsv"))
    folders = {row["folder"]: int(row["number"]) for row in rows(f"{of}western_folders.tsv")}
    await desk.scan(*(f"{folder}/video.mkv" for folder in folders))
    done = await desk.online(world.port).match_again()
    assert (done.asked, done.failed) == (len(folders), 0)
    found = {
        folder: desk.get(match.metadata_id).details.tmdb_id
        for folder, match in (await desk.all(MatchState.MATCHED)).items()
    }
    wrong = {folder: number for folder, number in found.items() if folders[folder] != number}
    assert wrong == {}
    missed = [folder for folder, number in folders.items() if number and folder not in found]
    wanted = sum(map(bool, folders.values()))
    assert wanted >= least
    assert len(missed) / wanted <= 0.05, missed

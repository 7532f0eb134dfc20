"""Folders that change after they were adopted: what a person says of them, other seasons, specials beside them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import pytest
from tests.support.collection import Entry, Show

from kurabito.catalog.matching import matches
from kurabito.catalog.matching.model import MatchState
from kurabito.metadata import records
from kurabito.placements.adoption.reading import HadEpisode
from kurabito.placements.adoption.store import GivenBy, give

if TYPE_CHECKING:
    from tests.integration.adoption.conftest import Collection


def entry(bgm: int, title: str, tmdb: str, *, began: str = "2020-01-01", episodes: int = 12) -> Entry:
    return Entry(bgm, "tv", date.fromisoformat(began), title, title, "", tmdb, episodes)


NIGHT = entry(1, "Night of the Kurabito", "tv/7/season/1")
NIGHT_2 = entry(2, "Night of the Kurabito Season 2", "tv/7/season/2", began="2021-01-01")
COUR_2 = entry(3, "Night of the Kurabito Part 2", "tv/7/season/1", began="2020-07-01")
NIGHT_2_COUR_2 = entry(5, "Night of the Kurabito Season 2 Part 2", "tv/7/season/2", began="2021-07-01")
RICE = entry(4, "Rice and Water", "tv/8/season/1")


async def adopt(made: Collection, entries: Sequence[Entry], *paths: str) -> None:
    made.shows = [Show(tuple(entries), 0)]
    made.know(counts=True)
    for path in paths:
        made.shelf.path(path).parent.mkdir(parents=True, exist_ok=True)
        made.shelf.path(path).write_bytes(b"video")
    await made.scan()
    await made.adopt()


@pytest.mark.parametrize(
    ("entries", "path", "expected"),
    [
        ([NIGHT, NIGHT_2], "Night of the Kurabito/Season 2/Night of the Kurabito S02E03.mkv", (2, "tv", 3)),
        ([NIGHT, COUR_2], "Night of the Kurabito/Season 1/Night of the Kurabito S01E14.mkv", (3, "tv", 2)),
        ([NIGHT, NIGHT_2], "Night of the Kurabito/Night of the Kurabito - 15.mkv", (2, "tv", 3)),
        ([NIGHT, NIGHT_2, NIGHT_2_COUR_2], "Night of the Kurabito/Season 2/Night of the Kurabito S02E13.mkv", (5, "tv", 1)),
        ([NIGHT, NIGHT_2, NIGHT_2_COUR_2], "Night of the Kurabito/Season 2/Night of the Kurabito S02E24.mkv", (5, "tv", 12)),
        ([NIGHT, NIGHT_2, NIGHT_2_COUR_2], "Night of the Kurabito/Season 2/Night of the Kurabito S02E12.mkv", (2, "tv", 12)),
        ([NIGHT], "Night of the Kurabito/Specials/Night of the Kurabito S00E02.mkv", (1, "special", 2)),
        ([NIGHT], "Night of the Kurabito/OVA/Night of the Kurabito OVA.mkv", (1, "ova", 1)),
        ([NIGHT], "[Kura] Night of the Kurabito - 12.5 [720p].mkv", (1, "tv", 12.5)),
        ([NIGHT], "Kura Yoru [tmdbid-7]/Season 01/Episode S01E05.mkv", (1, "tv", 5)),
        ([NIGHT, RICE], "Anime/Rice and Water - 02.mkv", (4, "tv", 2)),
        ([NIGHT, RICE], "to sort/Rice and Water - 03.mkv", (4, "tv", 3)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_file_is_had_as_what_it_is(
    made: Collection, entries: list[Entry], path: str, expected: tuple[int, str, float]
) -> None:
    first = "Night of the Kurabito/Season 1/Night of the Kurabito S01E01.mkv"
    await adopt(made, entries, first, path)
    given = made.given()
    assert given[path] == {expected}
    assert given[first] == {(1, "tv", 1)}


async def test_what_a_person_says_of_a_folder_moves_its_files(made: Collection) -> None:
    path = "Night of the Kurabito/Night of the Kurabito - 01.mkv"
    await adopt(made, [NIGHT, RICE], path)
    assert made.given() == {path: {(1, "tv", 1)}}
    rice = made.shelf.database.write_blocking(
        lambda conn: records.add(conn, records.Details(title_english="R", bgm_id=4))
    )
    ((match_id,),) = made.shelf.all("SELECT id FROM folder_matches")
    made.shelf.database.write_blocking(lambda conn: matches.choose(conn, match_id, rice.id))
    await made.adopt()
    assert made.given() == {path: {(4, "tv", 1)}}
    made.shelf.clock.advance(1)
    made.shelf.database.write_blocking(lambda conn: matches.choose(conn, match_id, None))
    await made.adopt()
    assert made.given() == {}
    assert made.shelf.all("SELECT DISTINCT state FROM episodes") == [("wanted",)]
    assert made.unadopted() == []


async def test_what_a_person_said_of_a_file_stays(made: Collection) -> None:
    path = "Night of the Kurabito/Night of the Kurabito - 01.mkv"
    await adopt(made, [NIGHT], path)
    ((series_id,),) = made.shelf.all("SELECT id FROM series")
    ((file_id,),) = made.shelf.all("SELECT id FROM library_files")
    said = [(file_id, [HadEpisode(series_id, "special", 4.0)])]
    made.shelf.database.write_blocking(lambda conn: give(conn, said, GivenBy.KEEPER))
    await adopt(made, [NIGHT], "Night of the Kurabito/Night of the Kurabito - 02.mkv")
    assert made.given()[path] == {(1, "special", 4)}


async def test_what_is_not_known_is_listed_with_a_reason(made: Collection) -> None:
    await adopt(
        made,
        [NIGHT],
        "Never Heard Of/Never Heard Of - 01.mkv",
        "Loose and Unknown - 03.mkv",
        "Night of the Kurabito/Night of the Kurabito - 01.mkv",
        "Night of the Kurabito/Interlude.mkv",
        "Night of the Kurabito/NCOP.mkv",
    )
    assert dict(made.unadopted()) == {
        "Never Heard Of/Never Heard Of - 01.mkv": "unmatched_folder",
        "Loose and Unknown - 03.mkv": "unknown_show",
        "Night of the Kurabito/Interlude.mkv": "no_number",
    }


async def test_a_folder_of_several_seasons_needs_no_match_once_every_video_in_it_is_had(made: Collection) -> None:
    folder = "Night of the Kurabito"
    paths = [f"{folder}/Night of the Kurabito S{season:02}E01.mkv" for season in (1, 2)]
    await adopt(made, [NIGHT, NIGHT_2], *paths)
    database = made.shelf.database
    assert await made.shelf.database.read(lambda conn: matches.find(conn, 1).metadata_id) is None
    assert made.unadopted() == []
    assert await database.read(matches.count_open) == 0
    assert await database.read(lambda conn: matches.page(conn, MatchState.OPEN, after=0, limit=10)) == []
    # One whose episode nobody can tell asks for it again.
    made.shelf.path(f"{folder}/a note.mkv").write_bytes(b"video")
    await made.scan()
    await made.adopt()
    assert await database.read(matches.count_open) == 1

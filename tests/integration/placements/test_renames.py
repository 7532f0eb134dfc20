"""A changed template shows what would be renamed, renames it, and gives the names back; only what Kurabito put there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, keep_lists
from kurabito.placements.errors import PlacementConflict
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.naming.renames import Rename
from kurabito.placements.naming.safe_names import safe_name
from kurabito.placements.renames.order import in_order
from kurabito.placements.renames.service import Renames

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

EPISODES = {f"[Kura] Yoru no Kurabito - {number:02} [1080p].mkv": f"episode {number}".encode() for number in (1, 2)}
SUBTITLE = {"[Kura] Yoru no Kurabito - 01 [1080p].sc.ass": b"subtitle"}
EXTRA = {"[Kura] Yoru no Kurabito - NCOP [1080p].mkv": b"opening"}
NAMED = {
    "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv": b"episode 1",
    "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.zh-Hans.ass": b"subtitle",
    "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E02.mkv": b"episode 2",
    "Yoru no Kurabito/extras/[Kura] Yoru no Kurabito - NCOP [1080p].mkv": b"opening",
}
RENAMED = {
    "Night brewers/Night brewers - 01 (1080p).mkv": b"episode 1",
    "Night brewers/Night brewers - 01 (1080p).简体.zh.ass": b"subtitle",
    "Night brewers/Night brewers - 02 (1080p).mkv": b"episode 2",
    "Night brewers/extras/[Kura] Yoru no Kurabito - NCOP [1080p].mkv": b"opening",
}
FLAT = replace(PRESETS[Preset.FLAT], episode_file="{title} - {episode:02}< ({resolution}p)>")
PORTABLE = replace(FLAT, subtitle_style=PRESETS[Preset.KODI].subtitle_style)


async def filed(house: House) -> int:
    series = house.series("Yoru no Kurabito")
    house.download(series, "Yoru no Kurabito 01-02", EPISODES | SUBTITLE | EXTRA, episodes=(1, 2))
    await house.settle()
    assert house.library() == NAMED
    return series


async def test_a_changed_template_and_title_rename_everything_and_are_undone(house: House) -> None:
    series, renames = await filed(house), Renames(house.shelf.database)
    house.shelf.put("Yoru no Kurabito/found here.mkv", b"not ours")
    assert (await renames.preview(1)).renames == ()
    house.shelf.run("UPDATE series SET title = 'Night brewers' WHERE id = :id", id=series)
    tried = await renames.preview(1, PORTABLE)
    assert {one.target for one in tried.renames} == RENAMED.keys()
    await LibraryNaming(house.shelf.database).change(1, PORTABLE)
    preview = await renames.preview(1)
    assert (preview.renames, preview.taken, preview.unknown) == (tried.renames, (), ())
    assert house.library().keys() == NAMED.keys() | {"Yoru no Kurabito/found here.mkv"}

    ((folder,),) = house.shelf.all("SELECT folder FROM inspections")
    made = await renames.apply(1)
    assert made is not None
    with pytest.raises(PlacementConflict, match="being renamed"):
        await renames.apply(1)
    house.plane()
    await house.settle()
    assert house.library() == RENAMED | {"Yoru no Kurabito/found here.mkv": b"not ours"}
    # The torrent has the same file, under the name that it had.
    assert house.shelf.path(min(RENAMED)).samefile(Path(folder) / min(EPISODES))
    assert house.states(series) == {1: "have", 2: "have"}
    assert (await renames.past(1))[0].renamed == 4
    assert await renames.apply(1) is None
    assert house.shelf.all("SELECT folder FROM series_places") == [("Night brewers",)]

    await renames.undo(made.id)
    house.plane()
    await house.settle()
    assert house.library() == NAMED | {"Yoru no Kurabito/found here.mkv": b"not ours"}
    assert not house.shelf.path("Night brewers").exists()
    assert house.states(series) == {1: "have", 2: "have"}
    with pytest.raises(PlacementConflict, match="undone already"):
        await renames.undo(made.id)


async def test_a_name_that_another_file_has_stays_its_own(house: House) -> None:
    await filed(house)
    there = "Yoru no Kurabito/Yoru no Kurabito - 01 (1080p).mkv"
    house.shelf.put(there, b"not ours")
    await LibraryNaming(house.shelf.database).change(1, FLAT)
    renames = Renames(house.shelf.database)
    preview = await renames.preview(1)
    assert preview.taken == ("Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv",)
    await renames.apply(1)
    house.plane()
    await house.settle()
    assert house.library()[there] == b"not ours"
    assert house.library()["Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"] == b"episode 1"


def test_names_that_are_swapped_stay() -> None:
    swapped = [Rename("a", "b"), Rename("b", "a"), Rename("c", "d")]
    assert in_order(swapped, ["a", "b", "c"]) == ([Rename("c", "d")], ["a", "b"])


async def test_a_name_has_the_title_of_its_episode_when_it_is_known(house: House) -> None:
    record = house.record("Yoru no Kurabito", tmdb_id=5, season=1, count=12)
    house.shelf.run("UPDATE metadata SET bgm_id = 7")
    titles = [KnownEpisode(number, {"en": f"Vol. {number}: Rice?", "ja": "米"}) for number in (1, 2)]
    house.shelf.database.write_blocking(lambda conn: keep_lists(conn, EpisodeSource.BGM, {"7": titles}))
    titled = replace(PRESETS[Preset.FLAT], episode_file="{title} - {episode:02}< - {episode_title}>")
    await LibraryNaming(house.shelf.database).change(1, titled)
    series = house.series("Yoru no Kurabito", metadata_id=record)
    for name in ("01", "03"):
        video = f"[Kura] Yoru no Kurabito - {name} [1080p].mkv"
        house.download(series, video, {video: b"video " + name.encode()}, episodes=(int(name),))
    await house.settle()
    first, third = sorted(house.library())
    assert first == f"Yoru no Kurabito/Yoru no Kurabito - 01 - {safe_name('Vol. 1: Rice?')}.mkv"
    assert third == "Yoru no Kurabito/Yoru no Kurabito - 03.mkv"
    renames = Renames(house.shelf.database)
    assert (await renames.preview(1)).unchanged == 2
    # The record learns a title later, and a rename brings it in.
    more = [*titles, KnownEpisode(3, {"en": "Water"})]
    house.shelf.database.write_blocking(lambda conn: keep_lists(conn, EpisodeSource.BGM, {"7": more}))
    (rename,) = (await renames.preview(1)).renames
    assert rename.target == "Yoru no Kurabito/Yoru no Kurabito - 03 - Water.mkv"


@pytest.mark.parametrize("matched", ["Anime/夜の蔵人", "Anime/夜の蔵人/S1"])
async def test_a_season_that_the_user_has_a_folder_for_stays_in_it(house: House, matched: str) -> None:
    record = house.record("Yoru no Kurabito", tmdb_id=7, season=1)
    series = house.series("Yoru no Kurabito", metadata_id=record)
    house.shelf.run(
        "INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, metadata_id, matched_by, created_at, "
        "updated_at) VALUES (1, :folder, '{}', :file, 'j', :record, 'keeper', :now, :now)",
        folder=matched,
        file=house.shelf.put("Anime/夜の蔵人/S1/old 05.mkv", b"five"),
        record=record,
    )
    name = min(EPISODES)
    house.download(series, name, {name: b"episode 1"})
    await house.settle()
    assert "Anime/夜の蔵人/S1/Yoru no Kurabito S01E01.mkv" in house.library()
    # What was named just now has its name.
    assert (await Renames(house.shelf.database).preview(1)).renames == ()


async def test_a_folder_of_the_user_keeps_what_was_filed_into_it_beside_their_files(house: House) -> None:
    record = house.record("Yoru no Kurabito", tmdb_id=7, season=1)
    series = house.series("Yoru no Kurabito", metadata_id=record)
    old = house.shelf.put("Anime/夜の蔵人/[Kura] Yoru no Kurabito [05].mkv", b"five")
    name = min(EPISODES)
    match = (
        "INSERT INTO folder_matches (library_id, folder, reading, file_id, job_id, metadata_id, matched_by, created_at, "
        "updated_at) VALUES (1, :folder, '{}', :file, 'j', :record, 'offline', :now, :now)"
    )
    house.shelf.run(match, folder="Anime/夜の蔵人", file=old, record=record)
    house.download(series, name, {name: b"episode 1"})
    await house.settle()
    assert "Anime/夜の蔵人/Season 01/Yoru no Kurabito S01E01.mkv" in house.library()
    # A scan finds the folder of the season, and that it is of the same show.
    house.shelf.run(match, folder="Anime/夜の蔵人/Season 01", file=old, record=record)
    assert (await Renames(house.shelf.database).preview(1)).renames == ()


async def test_two_subtitles_of_one_language_go_along(house: House) -> None:
    subtitles = {f"{folder}[Kura] Yoru no Kurabito - 01 [1080p].sc.ass": folder.encode() for folder in ("", "Subs/")}
    house.download(house.series("Yoru no Kurabito"), "Yoru no Kurabito 01", EPISODES | subtitles, episodes=(1, 2))
    await house.settle()
    season = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01"
    before = house.library()
    assert {f"{season}.zh-Hans.ass", f"{season}.2.zh-Hans.ass"} < before.keys()
    await LibraryNaming(house.shelf.database).change(1, FLAT)
    renames = Renames(house.shelf.database)
    preview = await renames.preview(1)
    assert (len(preview.renames), preview.taken) == (4, ())
    made = await renames.apply(1)
    house.plane()
    await house.settle()
    named = "Yoru no Kurabito/Yoru no Kurabito - 01 (1080p)"
    assert {f"{named}.mkv", f"{named}.zh-Hans.ass", f"{named}.2.zh-Hans.ass"} < house.library().keys()
    assert made is not None
    await renames.undo(made.id)
    house.plane()
    await house.settle()
    assert house.library() == before


async def test_a_subtitle_stays_beside_a_video_that_keeps_its_name(house: House) -> None:
    await filed(house)
    house.shelf.put("Yoru no Kurabito/Yoru no Kurabito - 01 (1080p).mkv", b"not ours")
    await LibraryNaming(house.shelf.database).change(1, FLAT)
    renames = Renames(house.shelf.database)
    assert {one.path.rpartition("/")[2] for one in (await renames.preview(1)).renames} == {
        "Yoru no Kurabito S01E02.mkv"
    }
    await renames.apply(1)
    house.plane()
    await house.settle()
    season = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01"
    assert {f"{season}.mkv", f"{season}.zh-Hans.ass"} < house.library().keys()


async def test_a_renaming_is_undone_after_the_ones_that_came_later(house: House) -> None:
    await filed(house)
    naming, renames, made = LibraryNaming(house.shelf.database), Renames(house.shelf.database), []
    for chosen in (FLAT, replace(FLAT, episode_file="{title} #{episode:02}")):
        await naming.change(1, chosen)
        done = await renames.apply(1)
        assert done is not None
        made.append(done.id)
        house.plane()
        await house.settle()
    with pytest.raises(PlacementConflict, match=f"undo renaming {made[1]} first"):
        await renames.undo(made[0])
    assert len(await renames.past(1)) == 2
    for renaming_id in reversed(made):
        await renames.undo(renaming_id)
        house.plane()
        await house.settle()
    assert house.library() == NAMED


async def test_a_renaming_whose_files_are_gone_is_not_undone(house: House) -> None:
    await filed(house)
    await LibraryNaming(house.shelf.database).change(1, FLAT)
    renames = Renames(house.shelf.database)
    made = await renames.apply(1)
    assert made is not None
    house.plane()
    await house.settle()
    house.shelf.run("UPDATE library_files SET is_missing = 1")
    with pytest.raises(PlacementConflict, match="no file has the name"):
        await renames.undo(made.id)
    assert [one.undone_by for one in await renames.past(1)] == [None]

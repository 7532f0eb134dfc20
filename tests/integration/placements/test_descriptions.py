"""NFO files and posters beside what was filed: written where a library wants them, kept true, and never over another file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from tests.integration.placements.test_upgrades import shown

from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, keep_lists
from kurabito.placements.library_naming import LibraryNaming
from kurabito.placements.naming.presets import PRESETS, Preset
from kurabito.placements.renames.service import Renames

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

FOLDER = "Yoru no Kurabito [tmdbid-5]"
SEASON = f"{FOLDER}/Season 01"
EPISODE = f"{SEASON}/Yoru no Kurabito S01E01.nfo"
NFO = {f"{FOLDER}/tvshow.nfo", f"{SEASON}/season.nfo", EPISODE}


@pytest.fixture
def described(house: House) -> House:
    """A library that has NFO files and posters."""
    house.shelf.run("UPDATE library_roots SET writes_nfo = 1, writes_posters = 1")
    house.pictures["0123456789abcdef.jpg"] = b"a picture"
    return house


async def file_first(house: House, name: str = "01") -> int:
    record = house.record("Yoru no Kurabito", tmdb_id=5, season=1, count=12)
    house.shelf.run("UPDATE metadata SET bgm_id = 7, anidb_id = 9, poster_url = '/posters/0123456789abcdef.jpg'")
    episodes = [KnownEpisode(1, {"en": "Rice"}), KnownEpisode(2, {"en": "Water"})]
    house.shelf.database.write_blocking(lambda conn: keep_lists(conn, EpisodeSource.BGM, {"7": episodes}))
    series = house.series("Yoru no Kurabito", metadata_id=record)
    title = f"[Kura] Yoru no Kurabito - {name} [1080p].mkv"
    house.download(series, title, {title: b"video"})
    await house.settle()
    return series


def element(house: House, path: str) -> ElementTree.Element:
    return ElementTree.fromstring(house.library()[path])


def ids(root: ElementTree.Element) -> dict[str | None, str | None]:
    return {one.get("type"): one.text for one in root.findall("uniqueid")}


async def test_a_show_a_season_and_an_episode_are_described(described: House) -> None:
    await file_first(described)
    assert {path for path in described.library() if not path.endswith(".mkv")} == {*NFO, f"{FOLDER}/poster.jpg"}
    assert described.library()[f"{FOLDER}/poster.jpg"] == b"a picture"
    show, episode = element(described, f"{FOLDER}/tvshow.nfo"), element(described, EPISODE)
    assert (show.tag, show.findtext("title"), ids(show)) == (
        "tvshow", "Yoru no Kurabito", {"tmdb": "5", "bangumi": "7", "anidb": "9"},
    )  # fmt: skip
    # The number of a season at TMDB is not that of its show.
    assert ids(element(described, f"{SEASON}/season.nfo")) == {"bangumi": "7", "anidb": "9"}
    found = [episode.findtext(name) for name in ("title", "showtitle", "season", "episode")]
    assert found == ["Rice", "Yoru no Kurabito", "1", "1"]
    assert ids(episode) == {}
    # The database keeps no second copy of them, and the library knows them.
    assert described.shelf.all("SELECT count(*) FROM placements WHERE content IS NOT NULL") == [(0,)]
    known = described.shelf.all("SELECT count(*) FROM library_files WHERE is_missing = 0")
    assert known == [(5,)]


async def test_nothing_is_written_unless_the_library_wants_it(house: House) -> None:
    await file_first(house)
    assert [path for path in house.library() if not path.endswith(".mkv")] == []
    house.shelf.clock.advance(60)
    house.shelf.run("UPDATE library_roots SET writes_nfo = 1, updated_at = :now WHERE id = 1")
    await house.settle()
    assert {path for path in house.library() if not path.endswith(".mkv")} == NFO


async def test_a_file_of_the_user_stays_and_is_no_trouble(described: House) -> None:
    described.shelf.put(f"{FOLDER}/tvshow.nfo", b"mine")
    await file_first(described)
    assert described.library()[f"{FOLDER}/tvshow.nfo"] == b"mine"
    assert EPISODE in described.library()
    assert await described.placements.count_waiting(9) == (0, 0)


async def test_what_kurabito_wrote_is_written_again_until_the_user_changes_it(described: House) -> None:
    await file_first(described)
    described.shelf.clock.advance(60)
    described.shelf.run("UPDATE metadata SET summary = 'Rice and water', updated_at = :now")
    await described.settle()
    assert element(described, f"{FOLDER}/tvshow.nfo").findtext("plot") == "Rice and water"
    path = described.shelf.path(f"{FOLDER}/tvshow.nfo")
    path.write_bytes(b"edited")
    os.utime(path, ns=(1, 1))
    described.shelf.clock.advance(60)
    described.shelf.run("UPDATE metadata SET summary = 'Sake', updated_at = :now")
    await described.settle()
    assert path.read_bytes() == b"edited"
    assert element(described, f"{SEASON}/season.nfo").findtext("plot") == "Sake"
    assert await described.placements.count_waiting(9) == (0, 0)
    assert described.shelf.all("SELECT count(*) FROM placements WHERE content IS NOT NULL") == [(0,)]


async def test_descriptions_follow_their_videos(described: House) -> None:
    await file_first(described)
    await LibraryNaming(described.shelf.database).change(1, PRESETS[Preset.KODI])
    renaming = await Renames(described.shelf.database).apply(1)
    assert renaming is not None
    described.plane()
    await described.settle()
    moved = {path.replace(FOLDER, "Yoru no Kurabito") for path in (*NFO, f"{FOLDER}/poster.jpg")}
    assert {path for path in shown(described) if not path.endswith(".mkv")} == moved
    assert not described.shelf.path(FOLDER).exists()


async def test_a_file_of_two_episodes_describes_both(described: House) -> None:
    await file_first(described, "01-02")
    text = described.library()[f"{SEASON}/Yoru no Kurabito S01E01-E02.nfo"].decode()
    end = "</episodedetails>"
    both = [ElementTree.fromstring(part + end) for part in text.split(end)[:-1]]
    assert [(one.findtext("title"), one.findtext("episode")) for one in both] == [("Rice", "1"), ("Water", "2")]


async def test_a_film_is_described_beside_its_file(described: House) -> None:
    record = described.record("Ikiru", tmdb_id=8)
    described.shelf.run("UPDATE metadata SET kind = 'movie', tmdb_kind = 'movie', year = 1952")
    series = described.series("Ikiru", kind="movie", year=1952, metadata_id=record)
    described.download(series, "Ikiru (1952) [1080p].mkv", {"Ikiru (1952) [1080p].mkv": b"film"}, kind="movie")
    await described.settle()
    (path,) = [path for path in described.library() if path.endswith(".nfo")]
    film = element(described, path)
    assert (film.tag, film.findtext("year"), ids(film)) == ("movie", "1952", {"tmdb": "8"})
    assert path.replace(".nfo", ".mkv") in described.library()

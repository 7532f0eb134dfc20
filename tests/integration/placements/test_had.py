"""What is shown of an episode: downloaded, then in the library, then missing when its file vanished; never fetched again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kurabito.catalog import series as catalog_series
from kurabito.catalog.states import EpisodeState
from kurabito.catalog.summaries import CatalogSummaries

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

EPISODE = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"


async def shown(house: House, series: int) -> EpisodeState:
    (episode,) = house.shelf.database.read_blocking(
        lambda conn: catalog_series.episodes(conn, series, after=("zz", 0.0), limit=10)
    )
    counts = await CatalogSummaries(house.shelf.database).progress([series])
    assert counts[series] == {episode.state: 1}
    return episode.state


async def test_an_episode_is_downloaded_then_had_then_missing_and_back(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    house.shelf.run("UPDATE episodes SET state = 'have'")
    assert await shown(house, series) is EpisodeState.DOWNLOADED
    await house.settle()
    assert await shown(house, series) is EpisodeState.HAVE
    house.shelf.run("UPDATE library_files SET is_missing = 1")
    assert await shown(house, series) is EpisodeState.MISSING
    # Whatever is shown, what is stored as had is not fetched again.
    assert house.states(series) == {1: "have"}
    house.shelf.run("UPDATE library_files SET is_missing = 0")
    assert await shown(house, series) is EpisodeState.HAVE


async def test_a_file_that_is_renamed_stays_the_file_of_its_episode(house: House) -> None:
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    await house.settle()
    ((path,),) = house.shelf.all("SELECT relative_path FROM library_files")
    house.add(
        "INSERT INTO placements (library_id, mode, source_path, size_bytes, target_path, created_at, updated_at) "
        "VALUES (1, 'rename', :path, 3, 'Renamed/new.mkv', :now, :now) RETURNING id",
        path=path,
    )
    house.plane()
    await house.settle()
    assert house.library() == {"Renamed/new.mkv": b"one"}
    assert await shown(house, series) is EpisodeState.HAVE

"""What each client downloaded ends as a named file in a library: one file with the download, which goes on seeding."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.planes import register

from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.runner import LeasedWork, Runner
from kurabito.dataplane.placing.work import PlacementWork
from kurabito.db import Connection, Database, migrate, open_database
from kurabito.db.migrate import PRODUCT
from kurabito.downloads import download_files
from kurabito.downloads.items import DownloadItem, DownloadStatus, TransferStatus
from kurabito.placements.filing.loop import FilingLoop
from kurabito.protocol.rights import DATA_PLANE

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import EveryProgram, Rig

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIBRARY = "INSERT INTO library_roots (name, root_path, created_at, updated_at) VALUES ('anime', :path, :now, :now)"
SERIES = "INSERT INTO series (title, kind, created_at, updated_at) VALUES (:title, :kind, :now, :now) RETURNING id"
EPISODE = """
INSERT INTO episodes (series_id, kind, number, state, created_at, updated_at)
VALUES (:series, (SELECT kind FROM series WHERE id = :series), :number, 'have', :now, :now) RETURNING id
"""
LINK = """
INSERT INTO anime_links (release_key, series_id, episode_id, title, url, created_at)
VALUES (:hash, :series, :episode, :title, 'magnet:', :now) RETURNING id
"""
DOWNLOAD = """
INSERT INTO downloads (link_id, status, hash, save_path, queued_at, created_at, updated_at)
VALUES (:link, 'completed', :hash, :path, :now, :now, :now) RETURNING id
"""


def refuse_nothing(conn: Connection, download_id: int, files: Sequence[str]) -> None:
    raise AssertionError(f"download {download_id} has no programs, but {files}")


class Core:
    """A core that knows what the clients report, and a data plane."""

    def __init__(self, database: Database, plane: Database, library: Path) -> None:
        self.library = library
        self._database = database
        self._loop = FilingLoop(database, Path("/nowhere"), reserve=0, refuse=refuse_nothing)
        works: tuple[LeasedWork[Any], ...] = (InspectionWork(), PlacementWork())
        register(plane)
        self._runners: list[Runner[Any]] = [Runner(plane, work, name="plane") for work in works]

    def follow(self, title: str, kind: str = "tv") -> int:
        """Have a series; its id."""
        return self._database.write_blocking(lambda conn: int(conn.value(SERIES, {"title": title, "kind": kind})))

    def complete(self, series: int, number: int, title: str, status: DownloadStatus) -> None:
        """Store what a poll stores of a download that is complete."""

        def write(conn: Connection) -> None:
            episode = conn.value(EPISODE, {"series": series, "number": number})
            named = {"series": series, "episode": episode, "title": title, "hash": status.hash}
            link = conn.value(LINK, named)
            there = {"link": link, "hash": status.hash, "path": status.content_path}
            download_files.store(conn, {conn.value(DOWNLOAD, there): status.files or ()})

        self._database.write_blocking(write)

    async def file(self) -> None:
        """Go on until nothing is left to do."""
        while await self._loop.step():
            for runner in self._runners:
                while await asyncio.to_thread(runner.work):
                    pass


@pytest.fixture
def core(url: str, tmp_path: Path) -> Iterator[Core]:
    library = tmp_path / "anime"
    library.mkdir()
    database, plane = open_database(url), open_database(url, rights=DATA_PLANE)
    database.open()
    migrate(database, PRODUCT)
    plane.open()
    database.write_blocking(lambda conn: conn.run(LIBRARY, {"path": str(library)}))
    yield Core(database, plane, library)
    plane.close()
    database.close()


async def test_a_torrent_ends_as_a_named_file_and_seeds_on(every_program: EveryProgram, core: Core) -> None:
    filed: list[tuple[Rig, str, Path, Path, bytes]] = []

    async def arrive(rig: Rig) -> None:
        show = f"Kura {rig.program.name.value}"
        single = rig.swarm.release(f"[Kura] {show} - 01 [1080p].mkv")
        nested = rig.swarm.release(f"{show} Batch", path=("Season 1", f"[Kura] {show} - 02 [1080p].mkv"))
        urls = {"one": single.magnet, "two": nested.magnet}
        await rig.client.add_torrents([DownloadItem(url, rig.save_path(f"filed {name}")) for name, url in urls.items()])
        series = core.follow(show)
        reports = await rig.until_complete(single, nested)
        for number, (release, status) in enumerate(zip((single, nested), reports, strict=True), start=1):
            assert status.content_path is not None
            assert status.files
            core.complete(series, number, release.name, status)
            target = core.library / f"{show}/Season 01/{show} S01E0{number}.mkv"
            source = Path(status.content_path) / status.files[0].path
            filed.append((rig, release.hash, source, target, release.content))

    await every_program.keeps(arrive)
    await core.file()
    assert {path for path in core.library.rglob("*") if path.is_file()} == {target for _, _, _, target, _ in filed}
    for rig, known, source, target, content in filed:
        assert target.read_bytes() == content
        assert target.samefile(source)
        await rig.until(known, status=TransferStatus.COMPLETED)
        await rig.client.delete_torrent(known, True)
    # The download is gone, and what is in the library stays.
    for _, _, _, target, content in filed:
        assert target.read_bytes() == content


async def test_a_batch_and_a_film_end_as_their_names_and_the_rest_stays(
    every_program: EveryProgram, core: Core
) -> None:
    expected: dict[Path, bytes] = {}

    async def arrive(rig: Rig) -> None:
        show = f"Koji {rig.program.name.value}"
        stem = f"[Kura] {show} -"
        parts = [
            f"{stem} 03 [1080p].mkv",
            f"{stem} 03 [1080p].sc.ass",
            f"{stem} 04-05 [1080p].mkv",
            f"SPs/{stem} NCOP [1080p].mkv",
            "Fonts/Kura.ttf",
        ]
        batch = rig.swarm.release(f"[Kura] {show} [03-05][1080p]", parts=parts)
        film = rig.swarm.release(f"[Kura] {show} Night (2021) [1080p].mkv")
        urls = {"batch": batch.magnet, "film": film.magnet}
        await rig.client.add_torrents([DownloadItem(url, rig.save_path(f"kept {name}")) for name, url in urls.items()])
        series, alone = core.follow(show), core.follow(f"{show} Night", "movie")
        of_batch, of_film = await rig.until_complete(batch, film)
        core.complete(series, 3, batch.name, of_batch)
        core.complete(alone, 1, film.name, of_film)
        share = len(batch.content) // len(parts)
        folder = core.library / show
        names = (
            f"Season 01/{show} S01E03.mkv",
            f"Season 01/{show} S01E03.zh-Hans.ass",
            f"Season 01/{show} S01E04-E05.mkv",
            f"extras/{stem} NCOP [1080p].mkv",
        )
        for place, name in enumerate(names):
            expected[folder / name] = batch.content[place * share : (place + 1) * share]
        expected[core.library / f"{show} Night (2021)/{show} Night (2021).mkv"] = film.content

    await every_program.keeps(arrive)
    await core.file()
    assert {path: path.read_bytes() for path in core.library.rglob("*") if path.is_file()} == expected
    # One file with the download, which goes on seeding.
    assert {path.stat().st_nlink for path in expected} == {2}

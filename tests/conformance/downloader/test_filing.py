"""What each client downloaded ends as a named file in a library: one file with the download, which goes on seeding."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.planes import register
from tests.support.waiting import PATIENCE

from kurabito.dataplane.inspections import InspectionWork
from kurabito.dataplane.leasing.runner import LeasedWork, Runner
from kurabito.dataplane.placing import staged_file
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
        self._loop = FilingLoop(
            database,
            Path("/nowhere"),
            reserve=0,
            refuse=refuse_nothing,
            picture=lambda _: None,
            note_placed=lambda _, __: None,
        )
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

    def outcomes(self) -> set[tuple[Any, ...]]:
        """How the placements ended: status, method, error."""
        sql = "SELECT DISTINCT status, method, error_code FROM placements"
        return set(self._database.read_blocking(lambda conn: conn.all(sql)))

    async def file(self) -> None:
        """Go on until nothing is left to do."""
        while await self._loop.step():
            for runner in self._runners:
                while await asyncio.to_thread(runner.work):
                    pass


@contextmanager
def opened(url: str, library: Path) -> Iterator[Core]:
    library.mkdir()
    database, plane = open_database(url), open_database(url, rights=DATA_PLANE)
    database.open()
    migrate(database, PRODUCT)
    plane.open()
    database.write_blocking(lambda conn: conn.run(LIBRARY, {"path": str(library)}))
    yield Core(database, plane, library)
    plane.close()
    database.close()


@pytest.fixture
def core(url: str, tmp_path: Path) -> Iterator[Core]:
    with opened(url, tmp_path / "anime") as core:
        yield core


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder that a test may mount another file system at."""
    folder = tmp_path / "disk"
    folder.mkdir()
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


def mount(command: list[str | Path]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except (FileNotFoundError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"this machine does not let a test mount: {problem} {getattr(problem, 'stderr', '')}")


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


async def bring_one(every_program: EveryProgram, core: Core, downloads: Path) -> list[tuple[Rig, str, Path, Path]]:
    """Have each program download an episode to these folders, and file it: its program and hash, where it lies, where it belongs."""
    filed: list[tuple[Rig, str, Path, Path]] = []

    async def arrive(rig: Rig) -> None:
        program = rig.program.name.value
        show = f"Sumi {program} {downloads.parent.name}"
        release = rig.swarm.release(f"[Kura] {show} - 01 [1080p].mkv")
        await rig.client.add_torrents([DownloadItem(release.magnet, str(downloads / program))])
        (status,) = await rig.until_complete(release)
        assert status.content_path is not None
        assert status.files
        core.complete(core.follow(show), 1, release.name, status)
        source = Path(status.content_path) / status.files[0].path
        assert source.read_bytes() == release.content
        filed.append((rig, release.hash, source, core.library / f"{show}/Season 01/{show} S01E01.mkv"))

    downloads.mkdir()
    await every_program.keeps(arrive)
    await core.file()
    return filed


async def test_on_two_file_systems_a_torrent_ends_as_a_copy_and_seeds_on(
    every_program: EveryProgram, disk: Path, tmp_path: Path
) -> None:
    mount(["mount", "-t", "tmpfs", "tmpfs", disk])
    with opened(f"sqlite:///{tmp_path / 'filing.db'}", disk / "anime") as core:
        filed = await bring_one(every_program, core, tmp_path / "downloads")
        assert core.outcomes() == {("completed", "copy", None)}
    assert {path for path in disk.rglob("*") if path.is_file()} == {target for _, _, _, target in filed}
    for rig, known, source, target in filed:
        assert target.read_bytes() == source.read_bytes()
        assert not target.samefile(source)
        await rig.until(known, status=TransferStatus.COMPLETED)
        await rig.client.delete_torrent(known, True)


async def test_where_there_are_no_links_a_torrent_ends_as_a_copy_and_seeds_on(
    every_program: EveryProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the kernel's exFAT and FAT do it: no links, but moves that replace nothing."""

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    with opened(f"sqlite:///{tmp_path / 'filing.db'}", tmp_path / "anime") as core:
        with monkeypatch.context() as without:
            without.setattr(staged_file, "_UNNAMED", 0)
            without.setattr(os, "link", refused)
            filed = await bring_one(every_program, core, tmp_path / "downloads")
        assert core.outcomes() == {("completed", "copy", None)}
        assert {path for path in core.library.rglob("*") if path.is_file()} == {target for _, _, _, target in filed}
    for rig, known, source, target in filed:
        assert target.read_bytes() == source.read_bytes()
        assert not target.samefile(source)
        await rig.until(known, status=TransferStatus.COMPLETED)
        await rig.client.delete_torrent(known, True)


async def test_where_a_name_cannot_be_given_safely_nothing_is_filed_and_the_torrent_seeds_on(
    every_program: EveryProgram, disk: Path, tmp_path: Path
) -> None:
    """exFAT by FUSE has neither links nor moves that replace nothing: whatever was put there could replace a file unseen."""
    image = tmp_path / "image"
    image.touch()
    os.truncate(image, 32 << 20)
    mount(["mkfs.exfat", image])
    mount(["mount", "-t", "exfat-fuse", "-o", "loop", image, disk])
    with opened(f"sqlite:///{tmp_path / 'filing.db'}", disk / "anime") as core:
        filed = await bring_one(every_program, core, disk / "downloads")
        assert core.outcomes() == {("failed", None, "LINK_UNSUPPORTED")}
    assert [path for path in core.library.rglob("*") if path.is_file()] == []
    for rig, known, _, _ in filed:
        await rig.until(known, status=TransferStatus.COMPLETED)
        await rig.client.delete_torrent(known, True)

"""A downloader and the core find out whether they see the same folder, and downloads go where both do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import uvicorn

from kurabito.api.downloads.downloader import create_downloader_api
from kurabito.api.reasons import in_english
from kurabito.app.database import prepare_database
from kurabito.app.serve import serve
from kurabito.downloads.paths.probes import is_there, leave, new_probe, take_away
from kurabito.downloads.service import DownloaderService
from kurabito.errors import ConfigError, InvalidInput
from kurabito.http.errors import Unreachable
from kurabito.library.libraries import LibrarySettings
from kurabito.library.service import LibraryService
from kurabito.modules.errors import ModuleNotFound
from kurabito.modules.path_maps import PathMap
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.integration.downloads.conftest import Core, StandIn


@asynccontextmanager
async def a_service(root: Path) -> AsyncIterator[int]:
    """A real downloader service that may write below a folder; its port. What it would download with is not asked."""
    service = DownloaderService(cast("Any", None), download_root=str(root))
    site = create_downloader_api(service, "token of A")
    server = uvicorn.Server(uvicorn.Config(site, port=0, log_config=None))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await running


@pytest.fixture
def root(tmp_path: Path, core: Core, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for downloads, as the core sees it."""
    folder = tmp_path / "core" / "downloads"
    monkeypatch.setattr(core.downloads.paths, "_root", folder)
    return folder


async def test_a_file_that_one_side_writes_is_seen_by_the_other_or_it_says_what_to_do(
    core: Core, a: StandIn, tmp_path: Path, root: Path
) -> None:
    elsewhere = tmp_path / "nas"
    elsewhere.mkdir()
    mounted = tmp_path / "mounted"
    mounted.symlink_to(root)
    async with a_service(tmp_path) as port:
        await a.stop()
        a.port = port
        service = await core.register(a)
        run: Callable[[int], Awaitable[Any]] = core.downloads.paths.run
        same = await run(service.id)
        assert (same.is_good, same.is_seen_by_downloader, same.is_seen_by_core) == (True, True, True)
        assert in_english(same.reason) == f"Both see the same folder: {root} here, {root} at A."
        for there, good, said in (
            (elsewhere, False, f"Set a path map from {root} to where A has it"),
            (mounted, True, f"Both see the same folder: {root} here, {mounted} at A"),
            (tmp_path / "nowhere", False, "No such file"),
        ):
            await core.feeds.services.change(service.id, path_maps=[PathMap(str(root), str(there))])
            report = await run(service.id)
            assert (report.is_good, report.is_seen_by_downloader, report.downloader_folder) == (good, good, str(there))
            assert said in in_english(report.reason)
        # Nothing stays behind, and nothing was made.
        assert [one for folder in (root, elsewhere) for one in folder.iterdir()] == []
        assert not (tmp_path / "nowhere").exists()
        # Its own rules hold for this too.
        await core.feeds.services.change(service.id, path_maps=[PathMap(str(root), "/")])
        with pytest.raises(Exception, match="check its path map"):
            await run(service.id)
    with pytest.raises(Unreachable):
        await run(service.id)
    with pytest.raises(ModuleNotFound):
        await run(99)


async def test_a_downloader_that_knows_no_such_test_is_no_error(core: Core, a: StandIn, root: Path) -> None:
    service = await core.register(a)
    report = await core.downloads.paths.run(service.id)
    assert (report.is_good, report.is_seen_by_core) == (False, None)
    assert in_english(report.reason) == f"Whether A sees {root} could not be tried: it cannot test paths (404)."


async def test_downloads_go_where_the_downloader_sees_the_folder_and_the_map_stays(core: Core, a: StandIn) -> None:
    service = await core.register(a)
    maps = [PathMap("/", "/wrong"), PathMap("/downloads", "/mnt/nas")]
    changed = await core.feeds.services.change(service.id, path_maps=maps)
    assert list(changed.path_maps) == maps
    await core.register(a)
    await core.bring(("[Kura] Yoru no Kurabito - 01", f"magnet:?xt=urn:btih:{1:040x}"))
    await core.work()
    assert await core.all("SELECT save_path FROM downloads") == [("/mnt/nas/Yoru no Kurabito/1",)]
    for bad in (PathMap("downloads", "/x"), PathMap("/a", "x"), PathMap("/a/../b", "/x"), PathMap("/a", "/x\n")):
        with pytest.raises(InvalidInput, match="path_maps"):
            await core.feeds.services.change(service.id, path_maps=[bad])
    with pytest.raises(InvalidInput, match="once"):
        await core.feeds.services.change(service.id, path_maps=[PathMap("/a", "/x"), PathMap("/a/", "/y")])
    assert list((await core.feeds.services.get(service.id)).path_maps) == maps


def test_nothing_but_a_probe_is_ever_written_or_removed(tmp_path: Path) -> None:
    kept = tmp_path / "kept.mkv"
    kept.write_text("a film")
    for name in ("kept.mkv", "../kept.mkv", ".kurabito-x", ""):
        for touch in (leave, take_away, is_there):
            with pytest.raises(InvalidInput):
                touch(tmp_path, name)
    probe = new_probe()
    (tmp_path / probe).symlink_to(kept)
    assert leave(tmp_path, probe) == "File exists"
    assert kept.read_text() == "a film"


@pytest.mark.parametrize("place", ["films/new", "."])
async def test_downloads_may_not_go_into_a_library_that_was_there_before(tmp_path: Path, place: str) -> None:
    films = tmp_path / "media" / "films"
    films.mkdir(parents=True)
    settings = Settings(state=tmp_path / "state", port=0)
    settings.state.mkdir()
    prepare_database(settings)
    async with open_queue(settings.database) as queue:
        await LibraryService(cast("SqlQueue", queue), {}).create(str(films), LibrarySettings(name="films"))
    inside = settings.model_copy(update={"download_root": tmp_path / "media" / place})
    with pytest.raises(ConfigError, match="lie one in the other"):
        await serve(inside, on_listening=lambda _: pytest.fail("it serves"), dataplane=False)

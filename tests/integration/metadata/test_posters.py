"""Posters: six steps to a file of our own, and nothing left of what was refused."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.http import Limits, Outbound
from kurabito.metadata.errors import (
    PosterBadStatus,
    PosterError,
    PosterNameInvalid,
    PosterNotStored,
    PosterRefused,
    PosterUnreachable,
)
from kurabito.metadata.posters.downloads import PosterDownloads
from kurabito.metadata.posters.service import POSTER_LIMITS, PosterService

if TYPE_CHECKING:
    from tests.integration.metadata.world import World
    from tests.support.waiting import Eventually


@pytest.fixture
def posters(outbound: Outbound, tmp_path: Path) -> PosterService:
    posters = PosterService(outbound, tmp_path / "posters", bgm_image_host="bgm.test")
    posters.prepare()
    return posters


def files(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "posters").iterdir())


def digest(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:16]


async def test_a_poster_is_fetched_once_and_named_by_its_url(
    posters: PosterService, world: World, tmp_path: Path
) -> None:
    url = world.url("/pic/a.png?size=../../etc/passwd", "img.test")
    path = await posters.download_from_url(url)
    # The content decides, not what the URL ends with.
    assert path == f"/posters/{digest(url)}.jpg"
    assert files(tmp_path) == [f"{digest(url)}.jpg"]
    assert (tmp_path / path.removeprefix("/")).read_bytes().startswith(b"\xff\xd8\xff")
    assert await posters.download_from_url(url) == path
    assert await posters.download_from_url(path) == path
    assert await posters.download_from_url("/posters/never-seen.jpg") == "/posters/never-seen.jpg"
    assert len(world.asked) == 1


@pytest.mark.parametrize("extension", ["png", "webp", "gif", "avif"])
async def test_a_file_is_known_under_any_extension(
    posters: PosterService, world: World, tmp_path: Path, extension: str
) -> None:
    url = world.url("/pic/a.jpg", "img.test")
    (tmp_path / "posters" / f"{digest(url)}.{extension}").write_bytes(b"here already")
    assert await posters.download_from_url(url) == f"/posters/{digest(url)}.{extension}"
    assert world.asked == []


async def test_sizes_of_one_picture_are_one_picture_on_the_image_host_of_bgm_and_nowhere_else(
    posters: PosterService, world: World
) -> None:
    whole = world.url("/pic/cover/l/1.jpg", "bgm.test")
    for size in ("400", "800", "100x100"):
        url = world.url(f"/r/{size}/pic/cover/l/1.jpg", "bgm.test")
        assert posters.normalised(url) == whole
        assert await posters.download_from_url(url) == f"/posters/{digest(whole)}.jpg"
    elsewhere = world.url("/r/400/pic/cover/l/1.jpg", "img.test")
    assert await posters.download_from_url(elsewhere) == f"/posters/{digest(elsewhere)}.jpg"
    assert world.asked == ["/pic/cover/l/1.jpg", "/r/400/pic/cover/l/1.jpg"]


async def test_what_is_no_poster_is_refused_and_leaves_nothing(
    posters: PosterService, world: World, outbound: Outbound, tmp_path: Path
) -> None:
    picture = b"\xff\xd8\xff" + b"x" * 100
    large = {"Content-Length": str(2 * 1024**3), "Content-Type": "image/jpeg"}
    world.posters = {
        "/page": (200, {"Content-Type": "image/jpeg"}, b"<!doctype html><p>not here"),
        "/called-html": (200, {"Content-Type": "text/html; charset=utf-8"}, picture),
        "/empty": (200, {"Content-Type": "image/jpeg"}, b""),
        "/svg": (200, {"Content-Type": "image/svg+xml"}, b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        "/2-gigabytes": (200, large, picture),
        "/gone": (404, {}, b""),
        "/inside": (302, {"Location": "http://router.test/logo.jpg"}, b""),
        "/metadata": (302, {"Location": "http://169.254.169.254/latest/logo.jpg"}, b""),
        "/round": (302, {"Location": "/round"}, b""),
    }
    expected: dict[str, type[PosterError]] = {
        **dict.fromkeys(
            ["/page", "/called-html", "/empty", "/svg", "/2-gigabytes", "/inside", "/metadata", "/round"],
            PosterRefused,
        ),
        "/gone": PosterBadStatus,
    }
    for path, error in expected.items():
        with pytest.raises(error):
            await posters.download_from_url(world.url(path, "img.test"))
    for private in ("http://router.test/a.jpg", "http://127.0.0.1/a.jpg", "http://[::1]/a.jpg", "file:///etc/passwd"):
        with pytest.raises(PosterRefused):
            await posters.download_from_url(private)
    assert files(tmp_path) == []


async def test_an_endless_slow_or_broken_one_is_given_up_and_leaves_nothing(outbound: Outbound, tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n")
        try:
            if b"/endless" in head:
                writer.write(b"\r\n\xff\xd8\xff")
                while True:
                    writer.write(b"x" * 65_536)
                    await writer.drain()
            writer.write(b"Content-Length: 100000\r\n\r\n\xff\xd8\xff")
            await writer.drain()
            if b"/slow" in head:
                await reader.read()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    limits = Limits(seconds=0.3, max_bytes=1_000_000, attempts=1)
    posters = PosterService(outbound, tmp_path / "posters", bgm_image_host="bgm.test", limits=limits)
    posters.prepare()
    for path, error in (("/endless", PosterRefused), ("/slow", PosterUnreachable), ("/broken", PosterUnreachable)):
        with pytest.raises(error):
            await posters.download_from_url(f"http://img.test:{port}{path}")
    server.close()
    with pytest.raises(PosterUnreachable):
        await posters.download_from_url(f"http://img.test:{port}/nobody-there")
    assert files(tmp_path) == []
    assert POSTER_LIMITS.max_bytes == 20 * 1024 * 1024


async def test_a_cancelled_download_leaves_no_file_and_the_next_one_who_waits_fetches_it(
    posters: PosterService, world: World, tmp_path: Path, eventually: Eventually
) -> None:
    world.hold = asyncio.Event()
    downloads, url = PosterDownloads(posters), world.url("/pic/a.jpg", "img.test")
    first = asyncio.create_task(downloads.fetch(url))
    second = asyncio.create_task(downloads.fetch(url))
    await eventually(lambda: world.asked)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await eventually(lambda: len(world.asked) == 2)
    assert [name for name in files(tmp_path) if not name.startswith(".")] == []
    world.hold.set()
    assert await second == f"/posters/{digest(url)}.jpg"
    assert files(tmp_path) == [f"{digest(url)}.jpg"]


async def test_whoever_wants_a_poster_that_is_being_fetched_shares_what_comes_of_it(
    posters: PosterService, world: World
) -> None:
    downloads = PosterDownloads(posters)
    good = [world.url("/pic/cover/1.jpg", "bgm.test"), world.url("/r/400/pic/cover/1.jpg", "bgm.test")] * 3
    assert len(set(await asyncio.gather(*map(downloads.fetch, good)))) == 1
    assert len(world.asked) == 1
    world.posters["/bad"] = (404, {}, b"")
    bad = world.url("/bad", "img.test")
    outcomes = await asyncio.gather(*(downloads.fetch(bad) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [PosterBadStatus] * 3
    assert world.count("/bad") == 1
    # It is over, so whoever comes now asks anew.
    with pytest.raises(PosterBadStatus):
        await downloads.fetch(bad)
    assert world.count("/bad") == 2


async def test_a_disk_that_refuses_is_told_with_what_was_done_where(
    posters: PosterService, world: World, tmp_path: Path
) -> None:
    (tmp_path / "posters").rmdir()
    (tmp_path / "posters").write_bytes(b"a file where the folder was")
    with pytest.raises(PosterNotStored) as refused:
        await posters.download_from_url(world.url("/pic/a.jpg", "img.test"))
    assert refused.value.operation == "write"
    assert str(tmp_path / "posters") in refused.value.path


def test_what_a_crash_left_is_removed_at_the_start_and_posters_stay(outbound: Outbound, tmp_path: Path) -> None:
    folder = tmp_path / "posters"
    folder.mkdir()
    for name in (".0011223344556677.part", ".8899aabbccddeeff.new", "0011223344556677.jpg"):
        (folder / name).write_bytes(b"\xff\xd8\xff")
    PosterService(outbound, folder, bgm_image_host="bgm.test").prepare()
    assert files(tmp_path) == ["0011223344556677.jpg"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.jpg", "/etc/passwd", "0011223344556677.jpg/../x", "0011223344556677", "0011223344556677.svg", "..", ".",
        "0011223344556677.jpg\x00.png", "0011223344556677.jpg\n", "0011223344556677.JPG", "\uff10\uff1011223344556677.jpg",
        ".0011223344556677.part", "0011223344556677.jpg.bak", "%2e%2e", "8899aabbccddeeff.jpg", "",
    ],
)  # fmt: skip
def test_only_names_of_ours_are_served(posters: PosterService, tmp_path: Path, name: str) -> None:
    (tmp_path / "posters" / "0011223344556677.jpg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "posters" / "0011223344556677.jpg.bak").write_bytes(b"not ours")
    (tmp_path / "secret.jpg").write_bytes(b"\xff\xd8\xff")
    assert posters.find("0011223344556677.jpg").media_type == "image/jpeg"
    with pytest.raises(PosterNameInvalid):
        posters.find(name)

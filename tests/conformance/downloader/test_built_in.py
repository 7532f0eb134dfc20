"""The downloader inside `kurabito serve`: asked last, loaded when needed, and after a kill as if nothing had been."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import httpx2
import pytest
from tests.support.commands import KURABITO, Command
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Release, Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "key-of-the-test"
LOWEST = -1000


class Life:
    """A `kurabito serve` that runs, and how it is asked."""

    def __init__(self, process: subprocess.Popen[str], http: httpx2.AsyncClient, log: Path) -> None:
        self.process = process
        self.http = http
        self.log = log

    @property
    def has_libtorrent(self) -> bool:
        return "libtorrent" in Path(f"/proc/{self.process.pid}/maps").read_text()

    async def services(self) -> dict[str, dict[str, Any]]:
        listed = (await self.http.get("/api/v1/services")).json()["items"]
        return {service["service_name"]: service for service in listed}

    async def change(self, service: dict[str, Any], **wishes: Any) -> None:
        assert (await self.http.patch(f"/api/v1/services/{service['id']}", json=wishes)).status_code == 200

    async def follow(self, feed: str) -> None:
        wishes = {"url": feed, "new_series": "add", "start_with": "missing", "allows_private": True}
        assert (await self.http.post("/api/v1/subscriptions", json=wishes)).status_code == 201

    async def downloads(self) -> dict[str, dict[str, Any]]:
        listed = (await self.http.get("/api/v1/downloads")).json()["items"]
        return {download["title"]: download for download in listed}

    async def until(self, title: str, *statuses: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while (found := (await self.downloads()).get(title, {})).get("status") not in statuses:
                await asyncio.sleep(0.05)
            return found

    async def stop(self) -> None:
        self.process.terminate()
        assert await asyncio.to_thread(self.process.wait, PATIENCE) == 0, self.log.read_text()
        assert "Traceback" not in self.log.read_text()


@asynccontextmanager
async def serve(state: Path, torrent_port: int, *options: str) -> AsyncIterator[Life]:
    log = state.with_suffix(".log")
    environment = {
        "KURABITO_STATE": str(state),
        "KURABITO_API_KEY": KEY,
        "KURABITO_ALLOW_PRIVATE_HOSTS": "127.0.0.1",
        "KURABITO_TORRENT_PORT": str(torrent_port),
        "KURABITO_TORRENT_INTERFACE": "127.0.0.1",
        "KURABITO_TORRENT_DHT": "false",
        "DOWNLOAD_POLL_INTERVAL": "0.3",
    }
    with log.open("ab") as stream:
        process = Command(
            [*KURABITO, "serve", "--port", "0", "--no-dataplane", *options],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
        )
    try:
        assert process.stdout is not None
        said = (await asyncio.to_thread(process.stdout.readline)).split()
        assert said[:3] == ["Kurabito", "listens", "on"], log.read_text()
        async with httpx2.AsyncClient(base_url=said[3], headers={"X-Api-Key": KEY}, trust_env=False) as http:
            yield Life(process, http, log)
    finally:
        process.kill()
        await asyncio.to_thread(process.communicate)


def feed(swarm: Swarm, *items: tuple[str, str]) -> str:
    """Where a feed of titles and their URLs is found."""
    listed = "".join(
        f'<item><title>{escape(title)}</title><enclosure url="{escape(url)}" type="x" length="1"/></item>'
        for title, url in items
    )
    return swarm.put("feed.xml", f'<rss version="2.0"><channel><title>K</title>{listed}</channel></rss>'.encode())


def title_of(number: int) -> str:
    return f"[Kura] The Storehouse - {number:02} [1080p].mkv"


async def test_serve_downloads_by_itself_and_goes_on_where_it_was_after_a_kill(
    swarm: Swarm, unused_port: int, tmp_path: Path
) -> None:
    state, plain = tmp_path / "state", b"plain" * 10_000
    there, late, wanted, missed = (swarm.release(title_of(number), seeded=number != 2) for number in range(1, 5))
    async with serve(state, unused_port) as life:
        (service,) = (await life.services()).values()
        assert service["service_name"] == "built-in"
        assert (service["priority"], service["is_enabled"]) == (LOWEST, True)
        assert service["supported_download_types"] == ["http", "magnet", "torrent"]
        await life.follow(feed(swarm, (title_of(5), swarm.put("5.mkv", plain))))
        saved = Path((await life.until(title_of(5), "completed"))["save_path"])
        assert (saved / "5.mkv").read_bytes() == plain
        assert saved.is_relative_to(state / "downloads")
        assert not life.has_libtorrent
        late_url = swarm.put("2.torrent", late.torrent)
        await life.follow(feed(swarm, (title_of(1), there.magnet), (title_of(2), late_url)))
        first = await life.until(title_of(1), "completed")
        assert (first["downloader"], first["hash"]) == ("built-in", there.hash)
        assert (Path(first["save_path"]) / there.name).read_bytes() == there.content
        assert life.has_libtorrent
        await life.until(title_of(2), "downloading")
        await life.change(service, is_enabled=False)
        await life.follow(feed(swarm, (title_of(3), wanted.magnet)))
        await life.until(title_of(3), "no_downloader")
        await life.change(service, is_enabled=True, priority=7)
        await life.until(title_of(3), "completed")
        life.process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(life.process.wait, PATIENCE)
    async with serve(state, unused_port, "--no-downloader") as life:
        service = (await life.services())["built-in"]
        assert (service["supported_download_types"], service["priority"]) == ([], 7)
        await life.follow(feed(swarm, (title_of(4), missed.magnet)))
        await life.until(title_of(4), "no_downloader")
        assert "--no-downloader" in (await life.until(title_of(2), "downloader_error"))["reason"]
        assert not life.has_libtorrent
        await life.stop()
    async with serve(state, unused_port) as life:
        await life.until(title_of(4), "completed")
        await life.until(title_of(2), "downloading")
        late.seed()
        await arrives(life, late, unused_port)
        token = json.loads((state / "downloaders" / "built-in" / "credentials.json").read_text())["token"]
        assert token not in (await life.http.get("/api/v1/services")).text
        await life.stop()
    assert token not in life.log.read_text()


async def arrives(life: Life, release: Release, port: int) -> None:
    """Wait until it is there; whoever was turned away by the seeder would wait long before it asks again."""
    async with asyncio.timeout(PATIENCE):
        while (found := (await life.downloads())[release.name])["status"] != "completed":
            assert found["status"] == "downloading", found
            release.handle.connect_peer(("127.0.0.1", port))
            await asyncio.sleep(0.1)
    assert (Path(found["save_path"]) / release.name).read_bytes() == release.content

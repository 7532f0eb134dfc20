"""The service around a client: over HTTP, with its token, known to the core, and after a kill as if nothing had been."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
from tests.support.commands import KURABITO, Command
from tests.support.waiting import PATIENCE

from kurabito.http import Outbound
from kurabito.http.errors import BadStatus
from kurabito.modules.service_client import ServiceCalls
from kurabito.modules.services import Registration, Service, ServiceType

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Aria2, Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY, PASSWORD = "module-key-of-the-test", "s3cret-of-the-test"


class Core:
    """Takes registrations, as long as it is there."""

    def __init__(self) -> None:
        self.registered: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.keys: set[str] = set()
        self.port = 0
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:-2])
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if head.startswith("POST /services/register "):
            self.keys.add(headers.get("x-api-key", ""))
            self.registered.put_nowait(json.loads(body))
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()


class Life:
    """A `kurabito downloader` that runs."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url


@asynccontextmanager
async def downloader(
    program: Aria2, core: Core, state: Path, port: int = 0, secret: str = PASSWORD
) -> AsyncIterator[Life]:
    process = Command(
        [
            *(*KURABITO, "downloader", "--client", "aria2", "--url", program.url),
            *("--core", core.url, "--port", str(port)),
        ],
        env={
            **os.environ,
            "KURABITO_STATE": str(state),
            "KURABITO_API_KEY": KEY,
            "KURABITO_CLIENT_PASSWORD": secret,
            "KURABITO_ALLOW_PRIVATE_HOSTS": "127.0.0.1",
            "KURABITO_DOWNLOAD_ROOT": str(state / "downloads"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = await asyncio.to_thread(process.stdout.readline)
        assert "listens on" in said
        yield Life(process, said.split()[-1])
    finally:
        process.kill()
        await asyncio.to_thread(process.communicate)


@pytest_asyncio.fixture(loop_scope="module")
async def core() -> AsyncIterator[Core]:
    core = Core()
    await core.open()
    yield core
    await core.close()


async def test_the_core_is_told_where_the_downloader_is_and_only_the_core_may_use_it(
    aria2: Aria2, core: Core, swarm: Swarm, tmp_path: Path
) -> None:
    release = swarm.release("Kura - 01.mkv")
    folder = tmp_path / "downloads" / "kura" / "1"
    async with downloader(aria2, core, tmp_path) as life:
        told = await core.registered.get()
        assert core.keys == {KEY}
        assert (told["service_type"], told["service_name"]) == ("downloader", "aria2")
        assert f"http://{told['host']}:{told['port']}" == life.url
        assert told["capabilities"]["supported_download_types"] == ["magnet", "torrent", "http"]
        async with httpx2.AsyncClient(base_url=life.url, trust_env=False) as stranger:
            assert (await stranger.get("/health")).status_code == 200
            assert (await stranger.get("/downloads")).status_code == 401
            wrong = await stranger.post("/downloads", json={"items": []}, headers={"Authorization": "Bearer wrong"})
            assert (wrong.status_code, wrong.json()["error"]["code"]) == (401, "not_authenticated")
        bearer = {"Authorization": f"Bearer {told['token']}"}
        async with httpx2.AsyncClient(base_url=life.url, headers=bearer, trust_env=False) as http:
            items = [{"url": release.magnet, "save_path": str(folder)}]
            bad = [{"url": release.magnet, "save_path": path} for path in ("/etc", "relative", f"{folder}/../../../x")]
            results = (await http.post("/downloads", json={"items": items + bad})).json()["results"]
            taken = {"url": release.magnet, "hash": release.hash, "status": "accepted", "reason": None}
            assert results[0] == {**taken, "owner": "kurabito", "may_pass": False}
            assert [(one["status"], one["hash"]) for one in results[1:]] == [("rejected", None)] * 3
            await complete(http, release.hash)
            statuses = (await http.get("/downloads", params={"hashes": release.hash})).json()["statuses"]
            assert (statuses[0]["progress"], statuses[0]["size"]) == (1.0, len(release.content))
            assert (await http.get("/downloads?hashes=short")).status_code == 422
            assert (await http.post(f"/downloads/{'0' * 40}/pause")).status_code == 404
            gone = await http.post("/downloads/cancel", json={"hashes": [release.hash, "0" * 40]})
            assert [one["status"] for one in gone.json()["results"]] == ["cancelled", "not_found"]
            await aria2.stop()
            away = await http.get("/downloads")
            assert (away.status_code, away.json()["error"]["code"]) == (503, "downloader_unavailable")
            await aria2.start()
            assert (await http.get("/downloads")).status_code == 200
        life.process.terminate()
        _, logged = await asyncio.to_thread(life.process.communicate)
        assert life.process.returncode == 0
        for secret in (KEY, told["token"], "s3cret-of-the-test"):
            assert secret not in logged


async def test_a_private_torrent_comes_over_http_and_its_passkey_goes_nowhere_else(
    aria2: Aria2, core: Core, swarm: Swarm, tmp_path: Path
) -> None:
    passkey = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
    release = swarm.release("Kura - 02.mkv", passkey=passkey)
    item = {"url": f"torrent:{release.hash}", "save_path": str(tmp_path / "downloads" / "kura" / "2")}
    async with downloader(aria2, core, tmp_path) as life:
        bearer = {"Authorization": f"Bearer {(await core.registered.get())['token']}"}
        async with httpx2.AsyncClient(base_url=life.url, headers=bearer, trust_env=False) as http:
            file = base64.b64encode(release.torrent).decode("ascii")
            refused = await http.post("/downloads", json={"items": [{**item, "torrent": f"!{file}"}]})
            taken = await http.post("/downloads", json={"items": [{**item, "torrent": file}]})
            assert (refused.status_code, taken.json()["results"][0]["hash"]) == (422, release.hash)
            await complete(http, release.hash)
            listed = await http.get("/downloads", params={"hashes": release.hash})
        life.process.terminate()
        _, logged = await asyncio.to_thread(life.process.communicate)
    assert (tmp_path / "downloads" / "kura" / "2" / release.name).read_bytes() == release.content
    for told in (refused.text, taken.text, listed.text, logged):
        assert passkey not in told
        assert file[:40] not in told


async def test_a_secret_that_is_wrong_is_told_to_the_keeper_in_the_words_of_the_service(
    aria2: Aria2, core: Core, outbound: Outbound, tmp_path: Path
) -> None:
    async with downloader(aria2, core, tmp_path, secret="wrong") as life:
        told = await core.registered.get()
        port = int(life.url.rpartition(":")[2])
        registration = Registration(
            service_type=ServiceType.DOWNLOADER,
            service_name="aria2",
            host="127.0.0.1",
            port=port,
            instance_id=told["instance_id"],
            token=told["token"],
        )
        moment = datetime.now(UTC)
        service = Service(1, registration, 50, True, moment, moment)
        with pytest.raises(BadStatus, match="does not know this secret; give the value of its --rpc-secret") as refused:
            await ServiceCalls(outbound).request(service, "GET", "/downloads?hashes=")
        assert (refused.value.answered, "Bad Gateway" in str(refused.value)) == (502, False)


async def complete(http: httpx2.AsyncClient, hash: str) -> None:  # noqa: A002
    async with asyncio.timeout(PATIENCE):
        while True:
            (status,) = (await http.get("/downloads", params={"hashes": hash})).json()["statuses"]
            if status["status"] == "completed":
                return
            await asyncio.sleep(0.05)

"""A downloader service is killed while it accepts, cancels and deletes: no download is forgotten and none is doubled."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx2
import pytest
from pydantic import SecretStr
from tests.support.waiting import PATIENCE

from kurabito.downloads.clients.factory import ClientName
from kurabito.downloads.clients.sources import hash_of_url
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.conformance.downloader.conftest import Aria2, Swarm

pytestmark = pytest.mark.asyncio(loop_scope="module")

# What a process of its own has to load is loaded once for all of them.
PROCESSES: Final = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["kurabito.app.downloader"])
NOBODY: Final = "http://127.0.0.1:9"


def serve_aria2(state: Path, url: str, password: str, told: Connection) -> None:
    """What `kurabito downloader --client aria2` does."""
    from kurabito.app.downloader import run_downloader

    settings = Settings(
        state=state,
        port=0,
        download_root=state / "downloads",
        allow_private_hosts=("127.0.0.1",),
        api_key=SecretStr("k"),
    )
    asyncio.run(
        run_downloader(
            settings,
            ClientName.ARIA2,
            url=url,
            core=NOBODY,
            name="aria2",
            username="",
            password=password,
            on_listening=told.send,
        )
    )


class Service:
    """A downloader service that runs until it is killed."""

    def __init__(self, process: Any, http: httpx2.AsyncClient) -> None:
        self.process = process
        self.http = http

    async def known(self, hashes: Mapping[str, object]) -> set[str]:
        """Those of the hashes that it has."""
        answer = await self.http.get("/downloads", params={"hashes": ",".join(hashes)})
        return {status["hash"] for status in answer.json()["statuses"]}

    async def kill(self) -> None:
        self.process.kill()
        await asyncio.to_thread(self.process.join)


@asynccontextmanager
async def service(program: Aria2, state: Path) -> AsyncIterator[Service]:
    from kurabito.downloads.announcer import Credentials

    hears, tells = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=serve_aria2, args=(state, program.url, "s3cret-of-the-test", tells), daemon=True)
    process.start()
    url = await asyncio.to_thread(hears.recv)
    token = Credentials.kept_in(state / "downloaders" / "aria2" / "credentials.json").token
    bearer = {"Authorization": f"Bearer {token}"}
    try:
        async with httpx2.AsyncClient(base_url=url, headers=bearer, trust_env=False, timeout=PATIENCE) as http:
            yield Service(process, http)
    finally:
        process.kill()
        process.join()


class Trial:
    """What was asked of a service over many lives, and what of it is certain."""

    def __init__(self, swarm: Swarm, folder: Path, chance: random.Random) -> None:
        releases = [swarm.release(f"Kura - {number:02}.mkv") for number in range(4)]
        plain = [swarm.put(f"plain-{number}.bin", bytes([number]) * 10_000) for number in range(4)]
        urls = {release.hash: release.magnet for release in releases[:2]}
        urls |= {release.hash: swarm.put(f"{release.name}.torrent", release.torrent) for release in releases[2:]}
        urls |= {hash_of_url(url): url for url in plain}
        self.items = {
            name: {"url": url, "save_path": str(folder / str(number))}
            for number, (name, url) in enumerate(urls.items())
        }
        self.there: dict[str, bool | None] = dict.fromkeys(urls, False)
        """Whether it has a download; None when it was killed before it answered."""
        self._chance = chance

    def moment(self) -> float:
        """When to kill: most often at once, now and then when all is done."""
        return 0.25 * self._chance.random() ** 2

    async def check(self, life: Service) -> None:
        """Everything that is certain is so."""
        known = await life.known(self.items)
        for name, there in self.there.items():
            assert there is None or (name in known) is there, (name, there)

    async def ask(self, life: Service) -> None:
        """One request, and a kill in the middle of it."""
        some = self._chance.sample(sorted(self.items), k=self._chance.randint(1, len(self.items)))
        wish = self._chance.choice(["accept", "accept", "cancel", "delete"])
        if wish == "accept":
            request = life.http.post("/downloads", json={"items": [self.items[name] for name in some]})
        elif wish == "cancel":
            request = life.http.post("/downloads/cancel", json={"hashes": some})
        else:
            some = some[:1]
            with_files = "true" if self._chance.random() < 0.5 else "false"
            request = life.http.delete(f"/downloads/{some[0]}", params={"delete_files": with_files})
        asking = asyncio.create_task(request)
        await asyncio.wait({asking}, timeout=self.moment())
        await life.kill()
        await asyncio.wait({asking})
        is_answered = asking.exception() is None
        if is_answered and wish == "accept":
            results = asking.result().json()["results"]
            assert [(one["status"], one["hash"]) for one in results] == [("accepted", name) for name in some]
        self.there |= dict.fromkeys(some, (wish == "accept") if is_answered else None)


async def kill_and_check(aria2: Aria2, swarm: Swarm, tmp_path: Path, seed: int, *, kills: int) -> None:
    trial = Trial(swarm, tmp_path / "downloads", random.Random(seed))
    before = await aria2.downloads()
    for _ in range(kills):
        async with service(aria2, tmp_path) as life:
            await trial.check(life)
            await trial.ask(life)
    async with service(aria2, tmp_path) as life:
        await trial.check(life)
        await life.http.post("/downloads", json={"items": list(trial.items.values())})
        for name in trial.items:
            await complete(life.http, name)
        assert await aria2.downloads() - before == len(trial.items)
        files = [path for path in (tmp_path / "downloads").rglob("*") if path.suffix in (".mkv", ".bin")]
        assert sorted(int(path.relative_to(tmp_path / "downloads").parts[0]) for path in files) == list(
            range(len(trial.items))
        )
        # What is seeded takes the place of what is to be downloaded next.
        for name in trial.items:
            await life.http.delete(f"/downloads/{name}", params={"delete_files": "true"})


async def complete(http: httpx2.AsyncClient, name: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            (status,) = (await http.get("/downloads", params={"hashes": name})).json()["statuses"]
            if status["status"] == "completed":
                return
            assert status["status"] == "downloading", status
            await asyncio.sleep(0.05)


async def test_a_killed_service_forgets_no_download_and_doubles_none(
    aria2: Aria2, swarm: Swarm, tmp_path: Path
) -> None:
    await kill_and_check(aria2, swarm, tmp_path, 6, kills=12)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(10))
async def test_a_service_that_is_killed_often_forgets_no_download_and_doubles_none(
    aria2: Aria2, swarm: Swarm, tmp_path: Path, seed: int
) -> None:
    await kill_and_check(aria2, swarm, tmp_path, seed, kills=30)

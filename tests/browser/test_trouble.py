"""Trouble that really happens comes to a *Home* that is open, its button helps, and it goes without a reload."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from playwright.async_api import Locator, Page, expect
from tests.integration.serve.conftest import Commands
from tests.integration.serve.test_real_trouble import KEY, TWICE, Outside, disk, outside, resize

from kurabito.demo.feeds import MadeUpEntry
from kurabito.demo.seeder import Seeder

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage

__all__ = ["disk"]


class OpenHome:
    """*Home* in a window of its keeper, who never reloads it."""

    def __init__(self, page: Page, url: str) -> None:
        self._page = page
        self._url = url

    def row(self, text: str) -> Locator:
        return self._page.locator("#notices > ul > .notice-row", has_text=text)

    async def open(self) -> None:
        await self._page.goto(f"{self._url}/")
        await self._page.evaluate("window.marked = true")

    async def sees(self, text: str) -> None:
        await expect(self.row(text)).to_be_visible()

    async def sees_no_more(self, text: str) -> None:
        await expect(self.row(text)).to_have_count(0)
        assert await self._page.evaluate("window.marked === true")

    async def presses(self, text: str, button: str) -> None:
        await self.row(text).get_by_role("button", name=button).click()

    async def presses_or_goes(self, text: str, button: str) -> None:
        """Presses a button, unless the row goes before that: what is well again may be noticed first."""
        pressing = asyncio.ensure_future(self.presses(text, button))
        gone = asyncio.ensure_future(expect(self.row(text)).to_have_count(0))
        done, left = await asyncio.wait({pressing, gone}, return_when=asyncio.FIRST_COMPLETED)
        for one in left:
            one.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for one in done:
            one.result()

    async def is_led(self, text: str, link: str, heading: str) -> None:
        """The button leads to the page where it is mended; its keeper looks, and comes back."""
        await self.row(text).get_by_role("link", name=link, exact=True).click()
        await expect(self._page.locator("h1")).to_have_text(heading)
        await self.open()
        await self.sees(text)

    async def answers(self, text: str) -> None:
        """Follows the button, and says that the first file is the third episode and the other one none."""
        await self.row(text).get_by_role("link", name="Answer questions").click()
        questions = self._page.locator("#file-questions .question")
        await expect(questions).to_have_count(2)
        await questions.last.get_by_role("button", name="Leave it").click()
        await expect(questions).to_have_count(1)
        await questions.locator("summary").click()
        await questions.get_by_label("Season").fill("1")
        await questions.get_by_label("Episode", exact=True).fill("3")
        await questions.locator("details").get_by_role("button").click()
        await expect(questions).to_have_count(0)
        await self.open()


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    (tmp_path / "logs").mkdir()
    return Commands(tmp_path / "state", tmp_path / "logs")


@pytest.fixture
def site() -> Iterator[Outside]:
    with outside() as server:
        yield server


async def test_each_trouble_comes_to_an_open_home_and_goes_by_its_button(
    new_page: NewPage, commands: Commands, site: Outside, disk: Path, tmp_path: Path
) -> None:
    (disk / "A Lonely Lighthouse").mkdir()
    (disk / "A Lonely Lighthouse" / "01.mkv").write_bytes(b"a light")
    environment = {
        "KURABITO_API_KEY": KEY,
        "KURABITO_OFFLINE_IDS_URL": f"{site.url}/data.json",
        "KURABITO_ALLOW_PRIVATE_HOSTS": "127.0.0.1",
        "KURABITO_DOWNLOAD_ROOT": str(tmp_path / "downloads"),
        "DOWNLOAD_POLL_INTERVAL": "0.5",
    }
    with commands.serving("--no-downloader", **environment) as served:
        page = await new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
        async with asking(served.url) as api:
            await page.goto(served.login)
            await page.get_by_role("button", name="Exit setup").click()
            home = OpenHome(page, served.url)
            await home.open()
            await a_folder_without_a_match(home, api, disk)
            await a_full_disk(home, disk)
            await a_feed_that_fails(home, api, site)
            with swarm(tmp_path, site):
                await a_downloader_that_is_killed(
                    home, commands, served.url, tmp_path, then=partial(a_file_question, home, api, site)
                )
        await page.close()


@asynccontextmanager
async def asking(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=f"{url}/api/v1", headers={"X-Api-Key": KEY}, timeout=60) as api:
        yield api


async def a_folder_without_a_match(home: OpenHome, api: httpx2.AsyncClient, disk: Path) -> None:
    library = (await api.post("/libraries", json={"name": "shows", "path": str(disk)})).json()["id"]
    await api.post(f"/libraries/{library}/scan")
    await home.sees("1 folder needs a match.")
    await home.is_led("1 folder needs a match.", "Match folders", "Matches")
    await home.sees("The ID index is missing")
    # The index knows the folder.
    await home.presses("The ID index is missing", "Fetch the ID index")
    await home.sees_no_more("The ID index is missing")
    await home.sees_no_more("needs a match")


async def a_full_disk(home: OpenHome, disk: Path) -> None:
    await home.sees_no_more(f"{disk}")
    resize(disk, "20m")
    await home.sees(f"{disk}")
    await home.is_led(f"{disk}", "Free up space", "Duplicates")
    resize(disk, "4g")
    await home.sees_no_more(f"{disk}")


async def a_feed_that_fails(home: OpenHome, api: httpx2.AsyncClient, site: Outside) -> None:
    order = {"name": "Lantern", "url": f"{site.url}/feed", "allows_private": True}
    feed = (await api.post("/subscriptions", json=order)).json()["id"]
    site.status = 500
    await api.post(f"/subscriptions/{feed}/fetch")
    await home.sees("The feed Lantern cannot be read.")
    site.status = 200
    await home.presses("The feed Lantern cannot be read.", "Read feed again")
    await home.sees_no_more("The feed Lantern")


@contextmanager
def swarm(tmp_path: Path, site: Outside) -> Iterator[None]:
    """Has a release of two files, and which of them is the episode cannot be told from their names."""
    seeder = Seeder(tmp_path / "swarm")
    seeder.open()
    try:
        files = (TWICE, TWICE.replace(".mkv", " (Fireworks uncut).mkv"))
        site.twice = seeder.link(MadeUpEntry(TWICE, 1, 1, files=files)).url
        yield
    finally:
        seeder.close()


async def a_file_question(home: OpenHome, api: httpx2.AsyncClient, site: Outside) -> None:
    """A download is complete, and its keeper says on the page which of its files is the episode."""
    order = {"name": "Boats", "url": f"{site.url}/feed/twice", "allows_private": True}
    await api.post("/subscriptions", json={**order, "new_series": "add", "start_with": "missing"})
    await home.sees("2 downloaded files need you")
    await home.answers("2 downloaded files need you")
    await home.sees_no_more("downloaded file")


async def a_downloader_that_is_killed(
    home: OpenHome, commands: Commands, url: str, tmp_path: Path, *, then: Callable[[], Awaitable[None]]
) -> None:
    """It comes back, and something follows while it is there."""
    options = ("downloader", "--client", "embedded", "--core", url)
    places = {
        "KURABITO_STATE": str(tmp_path / "attic"),
        "KURABITO_API_KEY": KEY,
        "KURABITO_DOWNLOAD_ROOT": str(tmp_path / "downloads"),
        "KURABITO_ALLOW_PRIVATE_HOSTS": "127.0.0.1",
    }
    async with asking(url) as api:
        with commands.started(*options, **places) as (process, _):
            while not any(one["health"] == "healthy" for one in (await api.get("/services")).json()["items"]):
                pass
            process.kill()
            process.wait()
            await home.sees("does not respond")
        with commands.started(*options, **places):
            await home.presses_or_goes("does not respond", "Check again")
            await home.sees_no_more("does not respond")
            await then()

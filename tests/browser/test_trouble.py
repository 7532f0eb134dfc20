"""Trouble that really happens comes to a *Home* that is open, its button helps, and it goes without a reload."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from playwright.async_api import Locator, Page, expect
from tests.integration.serve.conftest import Commands
from tests.integration.serve.test_real_trouble import KEY, Outside, disk, outside, resize

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

    async def is_led(self, text: str, link: str, heading: str) -> None:
        """The button leads to the page where it is mended; its keeper looks, and comes back."""
        await self.row(text).get_by_role("link", name=link, exact=True).click()
        await expect(self._page.locator("h1")).to_have_text(heading)
        await self.open()
        await self.sees(text)


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
            await a_downloader_that_is_killed(home, commands, served.url, tmp_path)
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


async def a_downloader_that_is_killed(home: OpenHome, commands: Commands, url: str, tmp_path: Path) -> None:
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
            await home.presses("does not respond", "Check again")
            await home.sees_no_more("does not respond")

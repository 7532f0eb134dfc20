"""A new keeper with an existing collection: from the login link to shows, had episodes, a feed and qBittorrent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import Page, expect
from tests.support.collection import Entry, keep, read_entries, shows_of
from tests.support.qbittorrent import PASSWORD, USER, running_qbittorrent
from tests.support.waiting import PATIENCE

from kurabito.demo.feeds import DAWN, FeedStand
from kurabito.demo.stand import Stand, StandAnswer
from kurabito.web.languages import catalogues
from kurabito.web.navigation import NAVIGATION

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage

SHOWS = 40
SHOW_OF_FEED = "The Storehouse at Dawn"
OWN_PASSWORD = "a password of the keeper"


def indexed(entry: Entry) -> dict[str, Any]:
    """An entry as bangumi-data has it."""
    named = {"zh-Hans": [entry.hans], "en": [entry.english]}
    sites = [{"site": "bangumi", "id": str(entry.bgm)}] + ([{"site": "tmdb", "id": entry.tmdb}] if entry.tmdb else [])
    return {
        "title": entry.japanese,
        "titleTranslate": {tag: titles for tag, titles in named.items() if titles[0]},
        "type": entry.kind,
        "lang": "ja",
        "begin": f"{entry.began}T00:00:00.000Z",
        "sites": sites,
    }


def write_tree(root: Path) -> list[Entry]:
    """A collection of shows as people and programs keep them; what the index knows of them."""
    shows = [show for show in shows_of(read_entries()) if all(entry.english for entry in show.entries)][:SHOWS]
    assert len(shows) == SHOWS
    for _, kept in keep(shows):
        path = root / kept.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(kept.path.encode())
    return [entry for show in shows for entry in show.entries]


@asynccontextmanager
async def served_index(entries: list[Entry]) -> AsyncIterator[str]:
    body = json.dumps({"siteMeta": {}, "items": [indexed(entry) for entry in entries]}, ensure_ascii=False).encode()
    stand = Stand({"/data.json": StandAnswer("application/json", body)}.get)
    await stand.open()
    yield f"http://127.0.0.1:{stand.port}/data.json"
    await stand.close()


@contextmanager
def serving(state: Path, **environment: str) -> Iterator[tuple[str, str]]:
    """`kurabito serve` over an empty state: where it is, and the link that logs in."""
    command = [sys.executable, "-m", "kurabito.cli", "serve", "--port", "0"]
    own = {"KURABITO_STATE": str(state), "KURABITO_BGM_URL": "http://127.0.0.1:9", "NO_COLOR": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **own, **environment}
    ) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().split()[-1]
            yield url, process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


@pytest.mark.parametrize(
    ("language", "width"),
    [
        ("en", 1280),
        ("ja", 390),
        pytest.param("en", 390, marks=pytest.mark.soak),
        pytest.param("zh-Hans", 1280, marks=pytest.mark.soak),
    ],
)
async def test_a_new_keeper_needs_no_terminal(new_page: NewPage, tmp_path: Path, language: str, width: int) -> None:
    disk = tmp_path / "disk"
    entries = write_tree(disk / "Anime")
    feeds = FeedStand()
    feed = await feeds.open() + DAWN
    roots = {"KURABITO_BROWSE_ROOTS": str(disk)}
    async with served_index(entries) as index, running_qbittorrent(tmp_path / "client") as client:
        with serving(tmp_path / "state", KURABITO_OFFLINE_IDS_URL=index, **roots) as (url, link):
            page = await new_page(viewport={"width": width, "height": 844}, locale="en-GB")
            keeper = Keeper(page, url, language)
            await page.goto(link)
            await keeper.choose_language_and_password()
            await keeper.add_library(disk)
            await keeper.choose_downloads(disk)
            await keeper.fetch_index()
            await keeper.connect(client)
            await keeper.follow(feed)
            await keeper.see_everything(entries)
            await keeper.look_at_every_page()
            await keeper.is_not_asked_again()
            await page.close()
    await feeds.close()


class Keeper:
    """What the keeper does, in their language."""

    def __init__(self, page: Page, url: str, language: str) -> None:
        self._page = page
        self._url = url
        self._words = catalogues()[language]

    def _say(self, key: str) -> str:
        return str(self._words.say(key))

    async def _fits(self) -> None:
        width = await self._page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], f"{self._page.url} is {width[0]} wide in a window of {width[1]}"

    async def _press(self, key: str) -> None:
        button = self._page.get_by_role("button", name=self._say(key), exact=True).first
        # The page that has it may be on its way still.
        await button.wait_for()
        await self._fits()
        await button.click()

    async def choose_language_and_password(self) -> None:
        await self._page.wait_for_url("**/setup/welcome")
        await self._page.locator("#language").get_by_role("link", name=self._words.name, exact=True).click()
        await expect(self._page.locator("h1")).to_have_text(self._say("setup.title"))
        await self._page.fill("#password", OWN_PASSWORD)
        await self._page.fill("#repeated", OWN_PASSWORD)
        await self._press("setup.next")

    async def add_library(self, disk: Path) -> None:
        await self._page.wait_for_url("**/setup/library")
        folders = self._page.locator("#folders")
        await folders.get_by_role("link", name=str(disk)).click()
        await folders.get_by_role("link", name="Anime", exact=True).click()
        await expect(self._page.locator("#path")).to_have_value(str(disk / "Anime"))
        await self._press("setup.add_folder")
        await expect(self._page.locator("#libraries")).to_contain_text("Anime")
        await self._press("setup.next")

    async def choose_downloads(self, disk: Path) -> None:
        await self._page.wait_for_url("**/setup/downloads")
        await self._page.fill("#path", str(disk / "Anime" / "inside"))
        await self._press("setup.use_folder")
        await expect(self._page.locator("[data-problem]")).to_contain_text("Anime")
        await self._page.fill("#path", str(disk / "Downloads"))
        await self._press("setup.use_folder")

    async def fetch_index(self) -> None:
        await self._page.wait_for_url("**/setup/metadata")
        await self._press("setup.next")

    async def connect(self, client: str) -> None:
        await self._page.wait_for_url("**/setup/downloader")
        for password in ("a guess", PASSWORD):
            await self._page.select_option("#client-new", "qbittorrent")
            await self._page.fill("#url-new", client)
            await self._page.fill("#username-new", USER)
            await self._page.fill("#password-new", password)
            await self._press("connections.add")
            if password != PASSWORD:
                await expect(self._page.locator("#password-problem")).to_contain_text("qBittorrent")

    async def follow(self, feed: str) -> None:
        await self._page.wait_for_url("**/setup/show")
        await self._page.fill("#url", feed)
        await self._press("follow.look")
        await self._press("following.allow")
        # The feed of one show is taken with its episodes, unless its keeper says otherwise.
        await expect(self._page.locator("[name=start_with][value=missing]")).to_be_checked()
        await self._fits()
        await self._page.locator("#follow button.button-strong").last.click()
        await self._page.wait_for_url("**/setup/show")
        await expect(self._page.locator("main")).to_contain_text(SHOW_OF_FEED)
        await self._press("setup.finish")
        await self._page.wait_for_url(f"{self._url}/")

    async def see_everything(self, entries: list[Entry]) -> None:
        page = self._page
        # What was there before is on the wall, and not followed: nothing is downloaded for it until its keeper says so.
        shows = page.locator("#wall > li", has_text=self._say("series.ignored"))
        await page.goto(f"{self._url}/series")
        while await shows.count() < SHOWS:
            # The scan and the index are at work.
            await page.reload()
        followed = page.locator("#wall > li", has_text=SHOW_OF_FEED)
        await expect(followed).to_contain_text(self._say("series.followed"))
        await self._fits()
        await shows.first.locator("a.card-cover").click()
        while not await page.locator("[data-episode=have], [data-state=have]").count():
            await page.reload()
        await page.goto(f"{self._url}/downloads/downloaders")
        await expect(page.get_by_role("heading", name="qbittorrent")).to_be_visible()
        await self._fits()
        await page.goto(f"{self._url}/following")
        await expect(page.locator("main")).to_contain_text(SHOW_OF_FEED)
        assert len(entries) >= SHOWS

    async def look_at_every_page(self) -> None:
        """With more shows, folders and questions than the demo has, each fits the window, too."""
        await self._page.goto(f"{self._url}/")
        await expect(self._page.locator("#arrived li").nth(5)).to_be_attached()
        await self._fits()
        for path in (
            *(entry.path for entry in NAVIGATION),
            "/library/1",
            "/library/1/folders",
            "/adoption",
            "/find?q=a",
        ):
            await self._page.goto(self._url + path)
            await self._fits()

    async def is_not_asked_again(self) -> None:
        page = self._page
        await page.context.clear_cookies()
        await page.goto(f"{self._url}/")
        await page.fill("#password", OWN_PASSWORD)
        await page.locator("form button.button-strong").click()
        await page.wait_for_url(f"{self._url}/")

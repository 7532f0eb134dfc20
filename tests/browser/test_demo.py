"""The demo as somebody sees it who tries Kurabito for the first time."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage


@pytest_asyncio.fixture(loop_scope="session")
async def tab(demo: dict[str, str], new_page: NewPage) -> AsyncIterator[Page]:
    """A tab of somebody who is logged in. Its console may tell of a form that was refused, and of no other error."""
    page = await new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.goto(demo["login"])
    yield page
    await page.close()
    assert [problem for problem in problems if "status of 422" not in problem] == []


async def test_everything_the_page_can_show_is_there(
    demo: dict[str, str], tab: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await _tasks_move(tab, demo["url"])
    await _feeds_are_read(tab)
    await _a_download_ends_on_the_shelf(tab, demo["url"], Path(demo["library"]) / "Shows")
    own = tmp_path_factory.mktemp("own") / "my films"
    await _a_folder_is_kept(tab, demo["url"], own)
    await _duplicates_go_and_come_back(tab, demo["url"], own)
    await _pictures_are_drawn(tab, demo["url"])


async def _comes(place: Locator, text: str) -> None:
    await expect(place).to_contain_text(text)


async def _has_size(picture: Locator, width: int, height: int) -> None:
    await expect(picture).to_have_js_property("naturalWidth", width)
    await expect(picture).to_have_js_property("naturalHeight", height)


async def _tasks_move(page: Page, url: str) -> None:
    await expect(page.locator("#arrived")).to_contain_text("The Storehouse at Dawn")
    await page.get_by_role("link", name="Tasks", exact=True).click()
    await expect(page.locator("#live")).to_have_text("Live")
    await expect(page.locator("#running progress").first).to_be_visible()
    await expect(page.locator("#waiting")).to_contain_text("No worker for this task type")
    await expect(page.locator("#failed")).to_contain_text("The Lost Episode <1080p> & more")
    # It moves by itself.
    first = await page.locator("#running .progress-text").first.inner_text()
    await expect(page.locator("#running .progress-text").first).not_to_have_text(first)
    await page.goto(f"{url}/system")
    await expect(page.locator("main")).to_contain_text("demo.copy")


async def _feeds_are_read(page: Page) -> None:
    """The demo's own feeds are read and understood; one is refused until its host is allowed."""
    await page.get_by_role("link", name="Feeds", exact=True).click()
    await _comes(page.locator("#subscription-1"), "Read")
    await _comes(page.locator("#unread"), "第05話")
    neighbour = page.locator("#subscription-3")
    await _comes(neighbour, "The address is inside your own network")
    await page.evaluate("window.marked = true")
    await neighbour.get_by_role("button", name="Allow this host").click()
    await expect(neighbour.get_by_role("button", name="Allow this host")).to_have_count(0)
    await _comes(neighbour.locator(".badge"), "Read")
    assert await page.evaluate("window.marked === true")
    await page.get_by_role("link", name="Shows", exact=True).click()
    # Two more are asked about where the feed is read before their folders are adopted.
    for unknown in ("夜之蔵人", "The Gatekeepers"):
        await expect(page.locator("#questions .card", has_text=unknown)).to_have_count(1)
    await expect(page.locator("#listed")).to_contain_text("Tales from the Loft")
    await page.get_by_role("link", name="The Storehouse at Dawn").click()
    # Eight came with the feed; the library has twelve.
    await expect(page.locator(".grid").first.locator("li")).to_have_count(12)


async def _a_download_ends_on_the_shelf(page: Page, url: str, shelf: Path) -> None:
    """From an item of a feed over a real torrent to a named file, one file with the download; and one that asks which it is."""
    series, season = page.url, "The Storehouse at Dawn/Season 1"
    cells = page.locator(".grid").first.locator("li")
    await expect(cells.nth(5)).to_have_attribute("data-episode", "have")
    await expect(cells.nth(6)).to_have_attribute("data-episode", "downloaded")
    await page.get_by_role("link", name="Downloads", exact=True).click()
    await page.goto(f"{url}/downloads?show=everything")
    await page.locator("tr.download", has_text="Dawn - 06").get_by_role("link").first.click()
    placed = page.locator("#placements .entry")
    await _comes(placed, "In library Hard link")
    await _comes(placed, "The Storehouse at Dawn S01E06.mkv")
    assert (shelf / season / "The Storehouse at Dawn S01E06.mkv").stat().st_nlink == 2

    await page.goto(f"{url}/downloads/questions")
    asked = page.locator(".entry.question")
    await expect(asked).to_have_count(2)
    uncut = asked.filter(has=page.locator(".path", has_text="Fireworks uncut"))
    await uncut.get_by_role("button", name="Season 1, episode 7").click()
    await _comes(page.locator("#file-questions"), "No file needs you.")
    await page.goto(series)
    await expect(cells.nth(6)).to_have_attribute("data-episode", "have")
    await page.goto(f"{url}/library/1/folders?folder={quote(season)}")
    await _comes(page.locator("main"), "The Storehouse at Dawn S01E07.mkv")
    await page.goto(series)


async def _a_folder_is_kept(page: Page, url: str, own: Path) -> None:
    """Add a library: first one that is not there, then one that is. It is scanned and shown without a reload."""
    await page.get_by_role("link", name="Library", exact=True).click()
    await _comes(page.locator("#library-1"), "Scanned")
    await page.get_by_label("Folder", exact=True).fill(str(own))
    await page.get_by_label("Name", exact=True).fill("My films")
    await page.get_by_role("button", name="Add folder").click()
    await expect(page.locator("#path-problem")).to_contain_text("This folder cannot be added:")
    await expect(page.get_by_label("Folder", exact=True)).to_have_value(str(own))
    await expect(page.get_by_label("Name", exact=True)).to_have_value("My films")
    own.mkdir()
    for name in ("one.mkv", "one again.mkv"):
        (own / name).write_bytes(b"a film of my own" * 100_000)
    await page.get_by_role("button", name="Add folder").click()
    await expect(page.locator("h1")).to_have_text("My films")
    await _comes(page.locator("#scans"), "2 added")
    await _comes(page.locator("#files"), "one again.mkv")
    await _comes(page.locator("#files"), "2 copies")
    # Another scan, asked for by hand, finds what came since.
    (own / "two.mkv").write_bytes(b"another one")
    await page.evaluate("window.marked = true")
    await page.get_by_role("button", name="Scan now").focus()
    await page.keyboard.press("Enter")
    await _comes(page.locator("#scans"), "1 added")
    await _comes(page.locator("#files"), "two.mkv")
    assert await page.evaluate("window.marked === true")


async def _duplicates_go_and_come_back(page: Page, url: str, own: Path) -> None:
    """Choose a group, try the plan, apply it, and put the file back from the trash."""
    await page.get_by_role("link", name="Duplicates", exact=True).click()
    # The demo's own ones are there too, the most wasteful first.
    await expect(page.locator(".entry.group").nth(5)).to_be_visible()
    group = page.locator(".entry.group", has_text="one again.mkv")
    async with page.expect_response(lambda answer: "keep=" in answer.url):
        await page.get_by_label("Keep by default").select_option(label="Shortest path")
    await expect(page).to_have_url(re.compile("keep="))
    await group.locator(".pick").click()
    await page.get_by_role("button", name="Plan selected groups").click()
    step = page.locator(".entry.step")
    await expect(step).to_have_count(1)
    await expect(step).to_contain_text("The other copy has the shorter path.")
    await page.evaluate("window.marked = true")
    await page.get_by_role("button", name="Dry run").click()
    await _comes(page.locator("#verdict"), "1 possible, 0 would be refused.")
    assert (own / "one again.mkv").exists()
    await page.locator("#apply summary").click()
    await page.get_by_role("button", name="Apply plan").click()
    await _comes(page.locator("#verdict"), "1 done, 0 refused.")
    await expect(step).to_contain_text("Done")
    assert await page.evaluate("window.marked === true")
    assert not (own / "one again.mkv").exists()

    await page.get_by_role("link", name="Open trash").click()
    entry = page.locator("#trash .entry")
    await _comes(entry, "one again.mkv")
    (own / "one again.mkv").write_bytes(b"in the way")
    await entry.get_by_role("button", name="Restore").click()
    await _comes(entry, "Another file is in its original place.")
    (own / "one again.mkv").unlink()
    await entry.get_by_role("button", name="Restore").click()
    await _comes(page.locator("#trash"), "The trash is empty.")
    assert (own / "one again.mkv").read_bytes() == b"a film of my own" * 100_000


async def _pictures_are_drawn(page: Page, url: str) -> None:
    """The demo's drawings are seen where they lie and where they are duplicates; what cannot be decoded has its place."""
    await page.goto(f"{url}/library/2")
    # A drawing is asked for when its row comes into sight, and where that is depends on the window and its fonts.
    row = page.locator("tr", has_text="storehouse 3.png")
    await row.scroll_into_view_if_needed()
    await _has_size(row.locator(".thumb img"), 213, 320)
    broken = page.locator("tr", has_text=".avi")
    await broken.scroll_into_view_if_needed()
    await expect(broken.locator("[data-drawn=failed]")).to_be_visible()
    # A video shows one of its frames, in the folder that it lies in.
    await page.goto(f"{url}/library/2/folders?folder=films")
    video = page.locator(".tile .thumb[data-kind=video]")
    await video.scroll_into_view_if_needed()
    await _has_size(video.locator("img"), 320, 180)
    await page.get_by_role("link", name="Duplicates", exact=True).click()
    group = page.locator(".entry.group", has_text="poster.png")
    await group.scroll_into_view_if_needed()
    # Side by side: each copy has its own picture, and each comes when it is drawn.
    pictures = group.locator(".thumb img")
    await expect(pictures).to_have_count(await group.locator(".thumb").count())
    await expect(pictures.first).to_be_visible()
    await page.goto(f"{url}/system")
    await expect(page.locator("#thumbnails")).to_contain_text("Ready")
    await expect(page.locator("#planes-title + div")).to_contain_text("SQLite log")

"""Pictures appear on the pages when they are drawn, many for one request."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import Page, Request, expect
from tests.support.waiting import PATIENCE

from kurabito.app.compose.library import open_library
from kurabito.db import Connection
from kurabito.demo.pictures import draw_poster
from kurabito.library.libraries import LibrarySettings

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, Picture, Stage

FILE = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, needs_hash, hash_algorithm,
                           content_hash, created_at, updated_at)
VALUES (1, :path, 9, 1700000000000000000, 1, :inode, 0, 'blake3', :hash, :now, :now)
"""
DRAWABLE = 40


async def furnish(stage: Stage, folder: Path) -> None:
    await open_library(stage.settings, stage.queue).libraries.create(str(folder), LibrarySettings(name="drawings"))

    def know(conn: Connection) -> None:
        for number in range(DRAWABLE):
            # Each is there twice, in two folders.
            path = f"{'again' if number % 2 else 'drawings'}/{number // 2:02}.png"
            conn.run(FILE, {"path": path, "inode": number, "hash": bytes([number // 2]) * 32})
        conn.run(FILE, {"path": "notes.txt", "inode": 99, "hash": b"n" * 32})

    await stage.queue.database.write(know)


async def draw(stage: Stage) -> None:
    """What a data plane does."""
    rows = await stage.queue.database.read(lambda conn: conn.all("SELECT output_path FROM thumbnails"))
    drawn = []
    for (path,) in rows:
        file = stage.settings.state / "thumbs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        drawn.append({"path": path, "size": file.write_bytes(draw_poster(path))})

    def settle(conn: Connection) -> None:
        for picture in drawn:
            conn.run("UPDATE thumbnails SET status = 'ready', bytes_size = :size WHERE output_path = :path", picture)

    await stage.queue.database.write(settle)


async def test_what_is_in_view_is_asked_for_together_and_appears_when_it_is_drawn(
    page: Page, stage: Stage, picture: Picture, fits: Fit, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await furnish(stage, tmp_path_factory.mktemp("drawings"))
    asked: list[list[int]] = []

    def note(request: Request) -> None:
        if request.url.endswith("/thumbs/request"):
            asked.append((request.post_data_json or {})["file_ids"])

    page.on("request", note)
    await page.goto(await stage.link())
    await page.goto(f"{stage.url}/library/1")
    first = page.locator("#file-1 .thumb")
    await expect(first).to_be_visible()
    await expect(first.locator("img")).to_have_count(0)
    # A text has a place, so that names stand below each other, and no picture.
    await expect(page.locator("tr", has_text="notes.txt").locator(".thumb")).not_to_have_attribute("data-thumb", "41")
    async with page.expect_request(lambda request: request.url.endswith("/thumbs/request")):
        pass
    assert len(asked[0]) > 3
    assert len(set(asked[0])) == len(asked[0])
    # What nobody sees is not asked for.
    assert set(asked[0]) < set(range(1, DRAWABLE + 1))
    await draw(stage)
    shown = page.locator("#files .thumb img")
    await expect(shown.first).to_be_visible()
    assert await shown.first.evaluate("(it) => it.naturalWidth") == 400
    # The page is brought up to date, and the pictures stay where they are.
    await shown.first.evaluate("(it) => { it.marked = true }")
    async with page.expect_response(lambda answer: answer.url.endswith("/library/1")):
        await stage.queue.enqueue("nobody.runs.this", {})
    await expect(page.locator("#live")).to_have_text("Live")
    assert await shown.first.evaluate("(it) => it.marked") is True
    await fits()
    await picture("library-thumbnails")
    await _folders_show_them_too(page, stage, picture, fits)
    await page.goto(f"{stage.url}/duplicates")
    await expect(page.locator(".entry.group .thumb").first).to_be_visible()
    await _is_drawn(page, stage, ".entry.group .thumb img")
    await fits()
    await picture("duplicates-thumbnails")
    await page.locator(".entry.group .waste a").first.click()
    await _is_drawn(page, stage, ".copies .thumb img")
    await page.goto(f"{stage.url}/system")
    await expect(page.locator("#thumbnails")).to_contain_text("Ready")
    await expect(page.locator("#wal")).to_contain_text("128 MiB")
    await fits()
    await picture("system-thumbnails")


async def _folders_show_them_too(page: Page, stage: Stage, picture: Picture, fits: Fit) -> None:
    """Down into a folder with the keyboard, from the grid to the list, and up again."""
    await page.get_by_role("link", name="Folders").press("Enter")
    folder = page.locator(".tile", has_text="drawings")
    await expect(folder).to_contain_text("20 files")
    await expect(page.locator(".tile").last).to_contain_text("notes.txt")
    await fits()
    await folder.get_by_role("link").press("Enter")
    await expect(page.locator("h1")).to_have_text("drawings")
    await _is_drawn(page, stage, ".tile .thumb img")
    await expect(page.locator(".tile").first).to_contain_text("2 copies")
    await fits()
    await picture("folder-grid")
    await page.get_by_role("link", name="List", exact=True).press("Enter")
    await _is_drawn(page, stage, ".files .thumb img")
    await fits()
    await picture("folder-list")
    await page.locator(".trail").get_by_role("link", name="Folders").press("Enter")
    await expect(page.locator(".files .thumb-folder")).to_have_count(2)


async def _is_drawn(page: Page, stage: Stage, selector: str) -> None:
    """Draw what is asked for until it is seen."""
    async with asyncio.timeout(PATIENCE):
        while not await page.locator(selector).count():
            await draw(stage)
            await page.wait_for_timeout(100)
    await expect(page.locator(selector).first).to_be_visible()

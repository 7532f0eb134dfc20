"""An existing collection on the demo: what is there counts, what is not told says why, and files are imported by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import ViewportSize, expect

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage

DESK = ViewportSize(width=1280, height=800)


async def test_a_collection_counts_and_the_rest_is_imported_by_hand(demo: dict[str, str], new_page: NewPage) -> None:
    page = await new_page(viewport=DESK, locale="en-GB")
    await page.goto(demo["login"])
    await page.goto(f"{demo['url']}/library")
    await page.get_by_role("link", name="Unmatched files").click()
    entry = page.locator("#unadopted .entry", has_text="The Lantern - 01.mkv")
    while not await entry.count():
        # The scan of the demo is under way when the page is opened first.
        await page.reload()
    # The files of a folder are one row, and unfold in it.
    await expect(page.locator("#unadopted .entry", has_text="The Lantern - 0")).to_have_count(1)
    await expect(entry.locator("summary")).to_have_text("3 files")
    await entry.locator("summary").click()
    await expect(entry.get_by_role("link", name="The Lantern - 03.mkv")).to_be_visible()
    # What a row asks for is done from the row.
    await entry.get_by_role("link", name="Choose a match").click()
    await expect(page.get_by_role("heading", name="Choose a match")).to_be_visible()
    await page.go_back()
    loose = page.locator("#unadopted .entry", has_text="no known show is called").first
    await loose.get_by_role("link", name="Import…").click()
    await expect(page.get_by_label("File or folder")).to_have_value(re.compile(r"^/.*\.mkv$"))
    await page.goto(f"{demo['url']}/adoption")
    shows = Path(demo["library"]) / "Shows"
    # The demo files what it downloads into another show meanwhile.
    kept, imported = [path for path in shows.rglob("*") if path.is_file()], shows / "The Lantern"

    def on_the_disk() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (*kept, *imported.rglob("*"))}

    before = on_the_disk()
    await page.get_by_role("link", name="Import files").click()
    await page.get_by_label("File or folder").fill(str(shows / "The Lantern"))
    await page.get_by_label("Series").select_option("1")
    await page.get_by_role("button", name="Show plan").click()
    await expect(page.locator("#plan .entry")).to_have_count(3)
    await expect(page.locator("#plan .entry").first).to_contain_text("Episode 1")
    await page.get_by_role("button", name="Import", exact=True).click()
    await page.wait_for_url("**/series/1")
    await expect(page.locator("#wanted")).to_contain_text("Missing ones")
    await page.goto(f"{demo['url']}/adoption")
    await expect(entry).to_have_count(0)
    assert on_the_disk() == before
    await page.goto(f"{demo['url']}/series/1")
    await page.get_by_text("Settings and corrections").click()
    await page.get_by_label("None: not followed").check()
    await page.locator("#wanted button").click()
    await expect(page.locator("#series")).to_contain_text("Not followed")
    # What has files stays on the wall, which says that it is not followed.
    await page.goto(f"{demo['url']}/series")
    await expect(page.locator("#series-1 .card-state")).to_have_text("Not followed")
    await page.locator("#choose-1").focus()
    await page.keyboard.press("Space")
    await expect(page.locator("#many")).to_contain_text("1 chosen")
    await page.locator("#many").get_by_text("Edit…").click()
    await page.locator("#many").get_by_label("Download").select_option("future")
    await page.locator("#many").get_by_role("button", name="Apply").click()
    await expect(page.locator("#series-1 .card-state")).to_have_text("Followed")
    await page.goto(f"{demo['url']}/series/1")
    await expect(page.get_by_label("New ones: what airs from now on")).to_be_checked()
    await page.close()

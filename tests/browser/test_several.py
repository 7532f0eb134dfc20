"""Several things of a list are chosen at once, as a range with Shift, and what was done with them is said and can be undone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page, expect
from tests.browser.test_every_page import CRUSHED, LANGUAGES, THEMES, violated

from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.releases import Name
from kurabito.web.languages import catalogues

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, NewPage, Picture, Screen, Stage

    from kurabito.db import Connection

SERIES = (
    "INSERT INTO series (id, title, season, kind, episode_offset, state, wanted, created_at, updated_at) "
    "VALUES (1, 'The Lantern', 1, 'tv', 0, 'followed', 'missing', :now, :now)"
)
EPISODE = (
    "INSERT INTO episodes (id, series_id, kind, number, state, aired_at, created_at, updated_at) "
    "VALUES (:id, 1, 'tv', :id, 'wanted', :id, :now, :now)"
)
LIBRARY = "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'A', '/a', :now, :now)"
FOLDER = (
    "INSERT INTO folder_matches (id, library_id, folder, reading, file_id, job_id, created_at, updated_at) "
    "VALUES (:id, 1, :folder, :reading, :id, 'job', :now, :now)"
)
SHOWN = 6
# What stands in one row covers nothing beside it.
COVERED = """
[...document.querySelectorAll(".entry")].flatMap((row) => {
  const seen = [...row.children].map((it) => it.querySelector("input, time, .button") ?? it)
  return seen.flatMap((one) => seen.filter((it) => it !== one).filter((it) => {
    const [a, b] = [one, it].map((each) => each.getBoundingClientRect())
    return a.width && b.width && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  }).map((it) => `${one.outerHTML} and ${it.outerHTML}`))
})
"""


def _episodes(conn: Connection) -> None:
    conn.run(SERIES)
    for number in range(1, SHOWN + 1):
        conn.run(EPISODE, {"id": number})


def _folders(conn: Connection) -> None:
    conn.run(LIBRARY)
    for number in range(1, SHOWN + 1):
        reading = FolderReading((Name.of(f"Lantern {number}"),), None, None, None).as_stored()
        conn.run(FOLDER, {"id": number, "folder": f"Lantern {number}", "reading": json.dumps(reading)})


async def test_a_range_of_wanted_episodes_is_skipped_brought_back_and_searched(
    page: Page, stage: Stage, fits: Fit, picture: Picture
) -> None:
    await stage.queue.database.write(_episodes)
    await page.goto(await stage.link("/wanted?by=show"))
    rows, many, said = page.locator("#wanted .entry"), page.locator("#many"), page.locator("#said")
    await expect(rows).to_have_count(SHOWN)
    await expect(many).not_to_be_visible()
    await rows.nth(1).get_by_role("checkbox").click()
    await rows.nth(4).get_by_role("checkbox").click(modifiers=["Shift"])
    await expect(many).to_contain_text("4 chosen")
    await fits()
    assert await page.evaluate(CRUSHED) == []
    assert await page.evaluate(COVERED) == []
    await picture("wanted-chosen")
    await many.get_by_role("button", name="Not wanted").click()
    await expect(said).to_contain_text("4 episodes are not wanted any more.")
    await expect(rows).to_have_count(SHOWN - 4)
    # The page is as it was sorted.
    await expect(page.get_by_role("link", name="By show")).to_have_attribute("aria-current", "true")
    await fits()
    await picture("wanted-skipped")
    await said.get_by_role("button", name="Undo").click()
    await expect(said).to_contain_text("Undone.")
    await expect(rows).to_have_count(SHOWN)
    await rows.nth(0).get_by_role("checkbox").click()
    await many.get_by_role("button", name="Select all").click()
    await expect(many).to_contain_text(f"{SHOWN} chosen")
    await many.get_by_role("button", name="Clear selection").click()
    await expect(many).not_to_be_visible()
    await rows.nth(0).get_by_role("checkbox").click()
    await many.get_by_role("button", name="Search", exact=True).click()
    await expect(said).to_contain_text("1 episode is searched for; its best release is downloaded.")
    await said.get_by_role("link", name="Dismiss").click()
    await expect(page.locator(".undo-notice")).to_have_count(0)
    await page.reload()
    await expect(rows).to_have_count(SHOWN)
    await expect(page.locator(".undo-notice")).to_have_count(0)


async def test_folders_are_set_aside_together_and_one_by_one_and_brought_back(
    page: Page, stage: Stage, fits: Fit, picture: Picture
) -> None:
    await stage.queue.database.write(_folders)
    await page.goto(await stage.link("/matches"))
    folders, many, said = page.locator(".question"), page.locator("#many"), page.locator("#said")
    await folders.nth(0).get_by_role("checkbox").click()
    await folders.nth(2).get_by_role("checkbox").click(modifiers=["Shift"])
    await expect(many).to_contain_text("3 chosen")
    await fits()
    await picture("matches-chosen")
    await many.get_by_role("button", name="None of these").click()
    await expect(said).to_contain_text("3 folders are marked “None of these”.")
    await expect(folders).to_have_count(SHOWN - 3)
    await said.get_by_role("button", name="Undo").click()
    await expect(folders).to_have_count(SHOWN)
    await expect(page.locator(".undo-notice")).to_have_count(0)
    # One is set aside without leaving the page, and what was done stays said when the page is brought up to date.
    await page.evaluate("window.marked = true")
    await folders.nth(0).get_by_role("button", name="None of these").click()
    await expect(said).to_contain_text("1 folder is marked “None of these”.")
    assert await page.evaluate("window.marked === true")
    await stage.queue.enqueue("poster.fetch", {})
    await page.reload()
    await expect(said).to_contain_text("1 folder is marked “None of these”.")
    await said.get_by_role("button", name="Undo").click()
    await expect(folders).to_have_count(SHOWN)


async def test_several_episodes_are_skipped_without_scripts(stage: Stage, screen: Screen, new_page: NewPage) -> None:
    await stage.queue.database.write(_episodes)
    page = await new_page(
        viewport={"width": screen.width, "height": screen.height}, locale="en-GB", java_script_enabled=False
    )
    await page.goto(await stage.link("/wanted"))
    rows, many = page.locator("#wanted .entry"), page.locator("#many")
    await expect(many).not_to_be_visible()
    for number in (0, 3):
        await rows.nth(number).get_by_role("checkbox").check()
    await many.get_by_role("button", name="Not wanted").click()
    await expect(page.locator("#said")).to_contain_text("2 episodes are not wanted any more.")
    await expect(rows).to_have_count(SHOWN - 2)
    await page.locator("#said").get_by_role("button", name="Undo").click()
    await expect(rows).to_have_count(SHOWN)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_was_done_is_said_in_every_language_and_violates_no_rule(
    page: Page, stage: Stage, fits: Fit, language: str
) -> None:
    words = catalogues()[language]
    await stage.queue.database.write(_episodes)
    await stage.queue.database.write(_folders)
    await page.goto(await stage.link(f"/wanted?language={language}"))
    for path, box, button, said in (
        ("/wanted", "#wanted .entry input", "show_page.not_wanted", "wanted_list.skipped"),
        ("/matches", ".question input", "matches.ignore", "matches.done_ignored"),
    ):
        await page.goto(stage.url + path)
        await page.locator(box).first.check()
        await fits()
        # At the end the bar covers nothing; further up it covers a part of what the reader scrolls past.
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        for theme in THEMES:
            await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
            await page.evaluate(AXE_SCRIPT)
            assert await violated(page, theme) == []
        await page.locator("#many").get_by_role("button", name=str(words.say(button)), exact=True).click()
        await expect(page.locator("#said")).to_contain_text(str(words.say(said, count=1)))
        await fits()
        await page.evaluate(AXE_SCRIPT)
        assert await violated(page, "light") == []

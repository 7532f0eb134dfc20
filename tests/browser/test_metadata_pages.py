"""*Calendar*, posters and *Matches* on the demo, at a desk and on a phone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest_asyncio
from playwright.async_api import Page, Route, ViewportSize, expect

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage

DESK = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)
# Waits for the picture, and fails when it is none.
LOADED = "(image) => image.decode()"
SHAPES = (
    "[...new Set([...document.querySelectorAll('.poster')]"
    ".map((it) => Math.round((100 * it.getBoundingClientRect().height) / it.getBoundingClientRect().width)))]"
)
PAGES = (
    "calendar",
    "calendar?year=2021&month=10",
    "metadata/12",
    "series",
    "series/1",
    "matches",
    "matches/search?folder=1&text=a",
    "matches?state=matched",
)


@pytest_asyncio.fixture(loop_scope="session")
async def tab(demo: dict[str, str], new_page: NewPage) -> AsyncIterator[Page]:
    """A tab of somebody who is logged in, without an error on its console."""
    page = await new_page(viewport=DESK, locale="en-GB")
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.goto(demo["login"])
    yield page
    await page.close()
    assert problems == []


async def test_posters_come_and_what_cannot_be_told_is_asked(demo: dict[str, str], tab: Page) -> None:
    await _a_week_has_posters(tab)
    await _a_show_is_followed(tab)
    await _an_id_is_chosen(tab)
    await _a_season_is_chosen(tab)
    await _a_series_has_a_poster(tab)
    await _every_page_fits(tab, demo["url"])
    await _a_folder_is_said_to_be_something(tab)
    await _a_wrong_match_is_corrected(tab, demo["url"])


async def _a_week_has_posters(page: Page) -> None:
    let_in = asyncio.Event()

    async def hold(route: Route) -> None:
        await let_in.wait()
        await route.continue_()

    await page.route("**/posters/*", hold)
    await page.get_by_role("link", name="Calendar", exact=True).click()
    await expect(page.locator(".week section")).to_have_count(7)
    await expect(page.locator(".card")).to_have_count(14)
    await expect(page.locator(".card img")).to_have_count(14)
    # Their room is kept for them before they are there, and once the page has its style.
    await page.wait_for_function(f"String({SHAPES}) === '150'")
    let_in.set()
    last = page.get_by_alt_text("Poster of Letters at Tanabata")
    await last.scroll_into_view_if_needed()
    await last.evaluate(LOADED)
    assert await page.evaluate(SHAPES) == [150]
    await expect(page.locator(".today")).to_have_count(1)


async def _a_show_is_followed(page: Page) -> None:
    await page.evaluate("window.marked = true")
    boats = page.locator(".card", has_text="Paper Boats")
    await boats.get_by_role("button", name="Follow Paper Boats").click()
    await boats.get_by_role("link", name="Followed").click(trial=True)
    assert await page.evaluate("window.marked === true")
    await boats.get_by_role("link", name="Followed").click()
    await expect(page.locator("h1")).to_have_text("Paper Boats")
    await expect(page.get_by_alt_text("Poster of Paper Boats")).to_be_visible()
    await page.go_back()


async def _an_id_is_chosen(page: Page) -> None:
    await page.get_by_role("link", name="Poster of 猫と帳簿").click()
    await expect(page.locator("#state")).to_contain_text("TMDB has several candidates.")
    await page.evaluate("window.marked = true")
    await page.get_by_role("button", name="Choose").first.click()
    await expect(page.locator("#state")).to_contain_text("Nothing missing")
    await expect(page.locator(".ids")).to_contain_text("99001112")
    await page.get_by_role("button", name="Sync now").click()
    await expect(page.locator("#state")).to_contain_text("Last sync")
    assert await page.evaluate("window.marked === true")


async def _a_season_is_chosen(page: Page) -> None:
    await page.get_by_role("link", name="Calendar", exact=True).first.click()
    await page.get_by_label("Season").select_option(label="Autumn")
    await page.get_by_label("Year").select_option("2021")
    await page.get_by_role("button", name="Show").click()
    await expect(page.locator("h1")).to_have_text("Autumn 2021")
    await expect(page.locator(".card")).to_have_count(3)
    await expect(page.get_by_role("img", name="The Town of White Walls has no poster yet")).to_be_visible()
    await page.wait_for_function(f"String({SHAPES}) === '150'")
    await page.get_by_role("link", name="Winter 2022").click()
    await expect(page.locator("#calendar")).to_contain_text("No show in the ID index starts in this season.")


async def _a_series_has_a_poster(page: Page) -> None:
    await page.get_by_role("link", name="Shows", exact=True).click()
    await expect(page.get_by_alt_text("Poster of The Storehouse at Dawn")).to_be_visible()
    await page.get_by_role("link", name="The Storehouse at Dawn").click()
    await expect(page.locator(".ids")).to_contain_text("99000101")
    await page.get_by_alt_text("Poster of The Storehouse at Dawn").evaluate(LOADED)


async def _every_page_fits(page: Page, url: str) -> None:
    """Both sizes, both lights, and a language with other letters."""
    for size, theme, language in ((DESK, "dark", "ja"), (PHONE, "light", "en")):
        await page.set_viewport_size(size)
        await page.goto(f"{url}/login?theme={theme}&language={language}")
        for path in PAGES:
            await page.goto(f"{url}/{path}")
            await expect(page.locator("main h1")).to_be_visible()
            widths = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert widths[0] <= widths[1], f"{path} is {widths[0]} wide in a window of {widths[1]}"
            assert await page.locator("img:not([alt])").count() == 0


async def _a_folder_is_said_to_be_something(page: Page) -> None:
    count = page.locator("#matches-count")
    await expect(count).not_to_have_text("")
    waiting = int(await count.text_content() or "")
    # On a phone it is behind *More*.
    await page.get_by_role("button", name="More").click()
    await expect(count).to_be_visible()
    await page.get_by_role("link", name="Matches").click()
    lantern = page.locator(".question", has_text="The Lantern")
    await expect(lantern.locator(".card")).to_have_count(2)
    await expect(lantern).to_contain_text("Others match as well")
    await page.evaluate("window.marked = true")
    await lantern.locator(".card", has_text="2021").get_by_role("button", name="Choose").click()
    await expect(lantern).to_have_count(0)
    await expect(count).to_have_text(str(waiting - 1))
    await page.locator(".question", has_text="incoming").get_by_role("button", name="None of these").click()
    await expect(count).to_have_text(str(waiting - 2))
    assert await page.evaluate("window.marked === true")
    await page.get_by_role("link", name="Chosen by you").click()
    # What was chosen gets a poster like everything else.
    await expect(page.get_by_alt_text("Poster of The Lantern")).to_be_visible()
    await page.get_by_role("button", name="Ask me again").click()
    await expect(page.locator("#matches")).to_contain_text("You have not chosen a match for any folder.")
    await expect(count).to_have_text(str(waiting - 1))


async def _a_wrong_match_is_corrected(page: Page, url: str) -> None:
    """Search finds a title by any of its names, and it is taken for one folder or for several at once."""
    await page.goto(f"{url}/matches")
    lantern = page.locator(".question", has_text="The Lantern")
    await lantern.get_by_role("link", name="Search…").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Choose a match")
    # What the folder is called is searched for at first.
    await expect(page.get_by_label("Name")).to_have_value("The Lantern")
    await page.get_by_label("Name").fill("Storehouse at Dawn")
    await page.get_by_role("button", name="Search", exact=True).click()
    await page.locator("#found .card", has_text="The Storehouse at Dawn").first.get_by_role("button").click()
    await expect(page.locator(".entry", has_text="The Lantern")).to_contain_text("The Storehouse at Dawn")
    await page.get_by_role("button", name="Ask me again").click()
    await page.goto(f"{url}/matches?state=matched")
    boxes = page.get_by_label("Select", exact=True)
    for place in range(2):
        await boxes.nth(place).check()
    await page.get_by_role("button", name="Search for the selected folders").click()
    await expect(page.locator("#folders li")).to_have_count(2)
    await page.get_by_label("Name").fill("Storehouse at Dawn")
    await page.get_by_role("button", name="Search", exact=True).click()
    await page.locator("#found .card", has_text="The Storehouse at Dawn").first.get_by_role("button").click()
    await expect(page.locator(".entry", has_text="The Storehouse at Dawn")).to_have_count(2)
    # A phone folds it away.
    await page.set_viewport_size(DESK)
    await page.goto(f"{url}/series/1")
    await page.locator("#series a", has_text="Choose a match").click()
    await expect(page.locator("#found .card").first).to_be_visible()

"""From a search to a show that is complete, on the demo: last season as a batch, this one by feed, and a dead torrent replaced."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage

SHOW = "The Gatekeepers"


@pytest.fixture
def hasty_demo(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A demo that gives a torrent without peers up within a minute."""
    monkeypatch.setenv("KURABITO_DEAD_HOURS", "0.015")
    return request.getfixturevalue("demo")


@pytest_asyncio.fixture(loop_scope="session")
async def tab(hasty_demo: dict[str, str], new_page: NewPage) -> AsyncIterator[Page]:
    """A tab of a keeper who is logged in, whose console has no errors."""
    page = await new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    await page.goto(hasty_demo["login"])
    yield page
    await page.close()
    assert problems == []


@pytest.mark.soak
async def test_a_show_that_is_not_followed_is_found_and_completed(hasty_demo: dict[str, str], tab: Page) -> None:
    url = hasty_demo["url"]
    await _follow(tab, url, season=2)
    await expect(tab.locator("h1")).to_contain_text(SHOW)
    this_season = tab.url
    # What was released of this season comes by the feed of the group; nothing is searched for yet.
    await _has_happened(tab, url, this_season, "Downloaded", "[Kura] The Gatekeepers S2 - 01")
    await _follow(tab, url, season=1)
    last_season = tab.url
    await _fetch_the_batch(tab)
    await _has_happened(tab, url, last_season, "Added to library", "[Loft] The Gatekeepers [01-12]")
    # A new episode is released, and comes by the feed too.
    newest = await _read_the_feed(tab, url)
    await _has_happened(tab, url, this_season, "Sent to downloader", newest)
    await _search_automatically(tab, url)
    # Nobody has that release, so the one of another group comes without a hand.
    await _has_happened(tab, url, this_season, "Failed", newest)
    await _has_happened(tab, url, this_season, "Added to library", newest.replace("[Kura]", "[Loft]"))
    await tab.goto(f"{url}/wanted")
    await expect(tab.locator("#wanted .nothing")).to_be_visible()
    await tab.goto(f"{url}/downloads/blocklist")
    await expect(tab.locator("#blocklist .entry")).to_have_count(1)
    await expect(tab.locator("#blocklist .entry")).to_contain_text(newest)


async def _follow(page: Page, url: str, *, season: int) -> None:
    """Search for the show, and follow a season of it by the group Kura."""
    await page.goto(f"{url}/search")
    await page.locator("#q").fill(SHOW)
    await page.locator("#q").press("Enter")
    await expect(page.locator("#found")).to_contain_text("[01-12]")
    # A long title leaves room for what is decided about it.
    story = await page.locator("#found .entry-story").first.bounding_box()
    assert story is not None
    assert story["width"] > 150
    await page.get_by_role("link", name="Release groups").click()
    offers = page.locator("#groups .entry", has=page.get_by_role("button", name="Follow Kura"))
    offer = offers.filter(has_text="Season 2") if season == 2 else offers.filter(has_not_text="Season 2")
    await offer.get_by_role("button", name="Follow Kura").click()
    await expect(page.locator("#backfill")).to_be_visible()


async def _fetch_the_batch(page: Page) -> None:
    """What would be fetched of a season that is over is shown first: one batch."""
    # Its episodes are known as soon as its record is filled in.
    await expect(page.locator(".grid").first.locator("li")).to_have_count(12)
    await page.locator("#backfill").click()
    await expect(page.locator("main")).to_contain_text("[Loft] The Gatekeepers [01-12]")
    await page.get_by_role("button", name="Download", exact=True).click()
    await expect(page.locator("#backfill")).to_be_visible()


async def _read_the_feed(page: Page, url: str) -> str:
    """Have the feed of the group read again, as happens every so often; the beginning of the title that is new in it."""
    await page.goto(f"{url}/following")
    await (
        page.get_by_role("link", name=f"{SHOW} Season 2 · Kura")
        .or_(page.get_by_role("link", name=f"{SHOW} · Kura"))
        .first.click()
    )
    known = await page.locator("#items .entry").count()
    await page.get_by_role("button", name="Fetch now").click()
    await expect(page.locator("#items .entry")).to_have_count(known + 1)
    titles = await page.locator("#items .item-title bdi").all_inner_texts()
    return max(title.partition(" [1080p]")[0] for title in titles if " S2 - " in title)


async def _search_automatically(page: Page, url: str) -> None:
    await page.goto(f"{url}/wanted")
    await page.get_by_role("button", name="Search automatically", exact=True).click()
    await expect(page.get_by_role("button", name="Stop searching automatically")).to_be_visible()


async def _has_happened(page: Page, url: str, series: str, kind: str, title: str) -> None:
    """The history of a show comes to have this, without a reload."""
    await page.goto(f"{url}/history?series={series.rpartition('/')[2]}")
    entry = page.locator("#history .entry", has_text=title).filter(has_text=kind)
    await expect(entry.first).to_be_visible()

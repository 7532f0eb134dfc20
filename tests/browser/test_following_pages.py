"""*Feeds* and *Shows* as somebody uses them, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from kurabito.app.compose.feeds import FeedParts, open_feeds, open_outbound
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.series import Alias
from kurabito.db import Connection
from kurabito.demo.feeds import SEASON, FeedStand
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.runtime import Registry, Worker

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, Picture, Stage, Visit

NAMES = [
    "w" * 251,
    "\N{RIGHT-TO-LEFT OVERRIDE}مهمة طويلة جدا שלום עולם",
    "蔵の番人" * 40,
    "caf\x07 <b>bold</b>",
    "An Extraordinarily Long Title " * 8,
]
DAY = 86_400_000_000
# The last of them airs tomorrow.
STATES = (("have", -DAY), ("downloading", -DAY), ("wanted", -DAY), ("wanted", DAY))


@pytest_asyncio.fixture(loop_scope="session")
async def following(stage: Stage) -> AsyncIterator[FeedParts]:
    """Feeds over the stage's queue, and a worker that reads them."""
    async with open_outbound(stage.settings) as outbound:
        following = open_feeds(stage.queue, outbound, pace=0.0)
        registry = Registry()
        following.tasks.join(registry)
        async with Worker(stage.queue, registry, name="feeds", grace=0.0):
            yield following


@pytest_asyncio.fixture(loop_scope="session")
async def feeds() -> AsyncIterator[str]:
    stand = FeedStand()
    yield await stand.open()
    await stand.close()


@pytest_asyncio.fixture(loop_scope="session")
async def furnished(stage: Stage, following: FeedParts) -> Stage:
    """Feeds in every condition, titles of every kind, and a series with episodes in every state."""
    shown = [name.replace("\x07", "") for name in NAMES]
    for number, name in enumerate(shown[:4]):
        await following.subscriptions.create(
            SubscriptionSettings(
                name=name[:200].strip("\N{RIGHT-TO-LEFT OVERRIDE}"),
                url=f"http://{'long-' * 9}{number}.invalid/{'rss' * 80}",
                new_series=(NewSeries.ADD, NewSeries.ASK)[number % 2],
                is_enabled=False,
            ),
            StartWith.MISSING,
        )
    titles = [f"[{name[:60]}] {name} - {number:02} [1080p]" for name in NAMES for number in (1, 2.5, 1200)]
    items = [FeedItem(title=title, download_url=f"https://x.example/{at}") for at, title in enumerate(titles)]
    bad = [FeedItem(title="第05話 [1080p]" + "[字幕]" * 100, download_url="https://x.example/unread")]
    for subscription_id in (1, 2):
        for_each = tuple(items[subscription_id - 1 :: 2] + bad)
        await following.intake.receive(FetcherResults(subscription_id=subscription_id, items=for_each))
    told = {"code": "bad_status", "message": f"https://{'x' * 300} answered 503"}

    def fail(conn: Connection) -> None:
        conn.run(
            "UPDATE subscriptions SET is_enabled = 1, next_fetch_at = :now + 900000000, failures = 3, "
            "error_code = :code, error_message = :message WHERE id > 2",
            told,
        )
        for number, (state, away) in enumerate(STATES * 4, start=1):
            for kind in ("tv", "special", "opening"):
                conn.run(
                    "INSERT INTO episodes (series_id, kind, number, state, aired_at, created_at, updated_at) "
                    "VALUES (1, :kind, :number, :state, :now + :away, :now, :now) ON CONFLICT DO NOTHING",
                    {"kind": kind, "number": number, "state": state, "away": away},
                )

    await stage.queue.database.write(fail)
    names = tuple(Alias(name[:200], season) for season, name in enumerate(shown, start=7))
    await Catalog(stage.queue.database).change(1, {"aliases": names})
    return stage


async def test_every_page_fits_in_both_lights_and_another_language(
    page: Page, furnished: Stage, picture: Picture, fits: Fit
) -> None:
    await page.goto(await furnished.link())
    for language, theme in (("en", "light"), ("ja", "dark")):
        await page.goto(f"{furnished.url}/login?theme={theme}&language={language}")
        for name, path in (
            ("following", "/following"),
            ("subscription", "/following/1"),
            ("follow", "/following/new"),
            ("rules", "/following/rules?title=" + NAMES[2] + " 05"),
            ("series-list", "/series"),
            ("series", "/series/1"),
        ):
            await page.goto(f"{furnished.url}{path}")
            await expect(page.locator("main h1")).to_be_visible()
            await picture(f"{name}-{theme}")
            await fits()


async def test_somebody_follows_a_feed_and_gets_everything_in_it_read(
    context: BrowserContext, stage: Stage, following: FeedParts, feeds: str, visit: Visit
) -> None:
    # A tab of its own: a host that is not allowed is an error to the console.
    page = await context.new_page()
    await page.goto(await stage.link())
    await visit(page, "Feeds")
    await page.get_by_role("link", name="Follow a feed").click()
    await page.get_by_label("Feed URL").fill(feeds + SEASON)
    await page.keyboard.press("Enter")
    await expect(page.locator("#url-problem")).to_contain_text("inside your own network")
    await page.get_by_role("button", name="Allow this host").click()
    await expect(page.locator(".entry.offer")).to_have_count(9)
    await expect(page.locator("main")).to_contain_text("7 of new series, 2 unmatched")
    # There is nothing to tick before somebody wants to choose.
    tick = page.get_by_role("checkbox", name="The.Gatekeepers.S02E04", exact=False)
    await expect(tick).to_have_count(0)
    await page.get_by_label("Download only those I select").check()
    await expect(tick).to_be_visible()
    await page.get_by_label("Download all that are missing").check()
    await page.get_by_role("button", name="Follow feed").click()
    await expect(page.locator("h1")).to_have_text("This season")
    # It is read while one looks.
    await expect(page.locator(".entry.item")).to_have_count(9)
    await expect(page.locator(".entry.item", has_text="The.Gatekeepers.S02E04")).to_contain_text(
        "is waiting for your decision"
    )

    unread = page.locator(".entry.item", has_text="第05話")
    await unread.get_by_role("link", name="Add a title rule").click()
    await expect(page.locator("#tried")).to_contain_text("Matches, but names no series")
    await page.get_by_label("Title", exact=True).press_sequentially("Kura no Bannin")
    await expect(page.locator(".entry.tried").nth(1)).to_contain_text("Kura no Bannin · Episode 6")
    await page.get_by_label("Read with").fill("(")
    await expect(page.locator("#tried")).to_contain_text("This pattern cannot be used:")
    await page.get_by_label("Read with").fill(r"(?P<episodes>\d+)話")
    await expect(page.locator(".entry.tried").nth(1)).to_contain_text("Kura no Bannin · Episode 6")
    await page.get_by_role("button", name="Save rule").click()
    await expect(page.locator("#rules .entry")).to_have_count(1)

    await visit(page, "Shows")
    asked = page.locator("#questions .card", has_text="Kura no Bannin")
    await expect(asked).to_contain_text("5 episodes found")
    await page.evaluate("window.marked = true")
    await asked.get_by_role("button", name="Follow").click()
    await expect(page.locator("#listed")).to_contain_text("Kura no Bannin")
    await page.locator("#questions .card", has_text="The Gatekeepers").get_by_role("button", name="Ignore").click()
    await expect(page.locator("#questions .card")).to_have_count(2)
    assert await page.evaluate("window.marked === true")
    await page.get_by_role("link", name="Kura no Bannin").click()
    await expect(page.locator(".grid li")).to_have_count(5)
    await page.locator(".grid a").nth(4).click()
    await expect(page.locator(".episode-row:target .ep-unfolded")).to_contain_text("第06話")
    await page.get_by_text("Settings and corrections").click()
    await page.get_by_label("Other names").fill("Kura no Bannin\nThe Warden")
    await page.get_by_role("region", name="Names and numbering").get_by_role("button", name="Save").click()
    await expect(page.get_by_label("Other names")).to_have_value("Kura no Bannin\nThe Warden")

    await visit(page, "Feeds")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("#subscription-1")).to_contain_text("Paused")
    await page.get_by_role("link", name="This season").click()
    await page.locator("#remove summary").click()
    await expect(page.locator("#remove form")).to_contain_text("Unfollow This season?")
    await page.get_by_role("button", name="Unfollow").click()
    await expect(page.locator("#subscriptions")).to_contain_text("No feeds yet")
    await page.close()

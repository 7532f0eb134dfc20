"""*Rules* and *Downloads* as somebody uses them, on a desk and on a phone: first with odd names, then in the demo."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest_asyncio
from playwright.async_api import Page, ViewportSize, expect

from kurabito.app.compose.downloads import open_downloads
from kurabito.app.compose.feeds import open_feeds, open_outbound
from kurabito.db import Connection
from kurabito.downloads.filters.model import Action, Fields, FilterRule
from kurabito.feeds.preferences import Policy
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.feeds.subscriptions import NewSeries, StartWith, SubscriptionSettings
from kurabito.modules.download_types import DownloadType
from kurabito.modules.services import Capabilities, Registration, ServiceType

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, NewPage, Picture, Stage

NAMES = ["w" * 150, "\N{RIGHT-TO-LEFT OVERRIDE}مهمة طويلة جدا", "蔵の番人" * 20, "<b>bold</b>", "A Long Title " * 9]
STATUSES = ("downloading", "completed", "failed", "cancelled", "downloader_error", "no_downloader", "pending")


@pytest_asyncio.fixture(loop_scope="session")
async def furnished(stage: Stage) -> Stage:
    """Downloads in every state, a downloader that is away, rules and questions, all with names of every kind."""
    async with open_outbound(stage.settings) as outbound:
        downloads = open_downloads(stage.queue, outbound, stage.settings)
        feeds = open_feeds(stage.queue, outbound, grabber=downloads.grabber)
        for policy in (Policy.FIRST, Policy.ASK):
            settings = SubscriptionSettings(
                name="feed",
                url=f"https://feeds.example/{policy}",
                new_series=NewSeries.ADD,
                is_enabled=False,
                conflict_policy=policy,
            )
            subscription = await feeds.subscriptions.create(settings, StartWith.MISSING)
            titles = [
                f"[{policy} {name[:40]}] {policy} {name} - {n:02} [{r}p]"
                for name in NAMES
                for n in (1, 2)
                for r in (720, 1080)
            ]
            items = tuple(
                FeedItem(title=title, download_url=f"magnet:?xt=urn:btih:{policy.encode().hex():0>20}{at:020x}")
                for at, title in enumerate(titles)
            )
            await feeds.intake.receive(FetcherResults(subscription_id=subscription.id, items=items))
        await feeds.services.register(
            Registration(
                service_type=ServiceType.DOWNLOADER,
                service_name="A downloader with a name that is long " * 4,
                host="long-" * 10 + "name.invalid",
                port=8485,
                instance_id="one",
                token="token",
                capabilities=Capabilities(supported_download_types=tuple(DownloadType)),
            )
        )
        for name in NAMES:
            shown = name.strip("\N{RIGHT-TO-LEFT OVERRIDE}")
            fields = Fields(groups=(shown, "x" * 60), languages=("ja", "zh-Hant"), max_size=1 << 40, title=shown)
            await downloads.filters.add(
                FilterRule(name=shown, action=Action.EXCLUDE, pattern=f"({'x|' * 200}y)", fields=fields)
            )

        def furnish(conn: Connection) -> None:
            for number, status in enumerate(STATUSES, start=1):
                conn.run(
                    "UPDATE downloads SET status = :status, module_id = 1, progress = 0.5, size_bytes = 123456789, "
                    "downloaded_bytes = 61728394, rate = 1234567, peers = 12, reason = :reason, "
                    "progressed_at = :now - 7200000000 WHERE id = :id",
                    {"status": status, "id": number, "reason": f"https://{'x' * 200} answered 503"},
                )

        await stage.queue.database.write(furnish)
    return stage


async def test_every_page_fits_in_both_lights_and_another_language(
    page: Page, furnished: Stage, picture: Picture, fits: Fit
) -> None:
    await page.goto(await furnished.link())
    for language, theme in (("en", "light"), ("ja", "dark")):
        await page.goto(f"{furnished.url}/login?theme={theme}&language={language}")
        for name, path in (
            ("downloads", "/downloads?show=everything"),
            ("download", "/downloads/5"),
            ("downloaders", "/downloads/downloaders"),
            ("file-questions", "/downloads/questions"),
            ("filters", "/rules"),
            ("filter", "/rules/3"),
            ("filter-off", "/rules/3/off"),
        ):
            await page.goto(f"{furnished.url}{path}")
            await expect(page.locator("main h1")).to_be_visible()
            await picture(f"{name}-{theme}")
            await fits()


async def test_a_rule_cancels_one_download_and_fetches_another(demo: dict[str, str], new_page: NewPage) -> None:
    url = demo["url"]
    page = await new_page(viewport=ViewportSize(width=1280, height=800))
    await page.goto(demo["login"])
    await page.get_by_role("link", name="Downloads", exact=True).click()
    slow = page.locator("tr.download", has_text="Dawn - 08")
    await expect(slow.locator(".badge")).to_have_text("Downloading")
    # They come in while one looks; the slow one alone is left.
    await expect(page.locator("tr.download")).to_have_count(1)
    await slow.get_by_role("button", name="Pause").click()
    await expect(slow.locator(".badge")).to_have_text("Paused")
    await slow.get_by_role("button", name="Resume").click()
    await expect(slow.locator(".badge")).not_to_have_text("Paused")
    await slow.get_by_role("link").click()
    await expect(page.locator("#attempts")).to_contain_text("attic · not responding")
    await expect(page.locator("#attempts")).to_contain_text("built-in · accepted")
    await page.goto(f"{url}/downloads?show=completed")
    assert await page.locator("tr.download").count() == 7

    await page.get_by_role("link", name="Rules", exact=True).click()
    await expect(page.locator("#rules")).to_contain_text("Nothing below 1080p")
    await page.get_by_label("Pattern").fill("Lantern(")
    await expect(page.locator("#tried")).to_contain_text("missing ) at character 8")
    await page.get_by_label("Pattern").fill("")
    await page.get_by_label("Name").fill("Only by Lantern")
    await page.get_by_label("Include only matching releases").check()
    await page.get_by_label("Applies to").select_option(label="The Storehouse at Dawn")
    await page.get_by_label("Groups").press_sequentially("Lantern")
    await expect(page.locator("#cancelled")).to_have_text("1")
    await expect(page.locator("#tried .entry").first).to_contain_text(
        "Dawn - 08 [1080p][WEB-DL].mkv Would be cancelled"
    )
    await page.get_by_role("button", name="Save rule").click()
    await expect(page.locator("#rules")).to_contain_text("Include · Series The Storehouse at Dawn")
    await page.goto(f"{url}/downloads?show=cancelled")
    await expect(page.locator("tr.download")).to_contain_text("[Kura] The Storehouse at Dawn - 08")

    # The rest of the way on a phone.
    known = await page.context.storage_state()
    page = await new_page(viewport=ViewportSize(width=390, height=844), storage_state=known)
    await page.goto(f"{url}/rules")
    await page.locator("#rule-1").get_by_role("link", name="Remove").click()
    await expect(page.locator("#downloaded")).to_have_text("1")
    await expect(page.locator("main")).to_contain_text("[Lantern] The Storehouse at Dawn - 08")
    await page.get_by_role("button", name="Remove rule").click()
    await page.get_by_role("link", name="Shows", exact=True).click()
    await page.get_by_role("link", name="The Storehouse at Dawn").click()
    eighth = page.locator(".grid").first.locator("li").nth(7)
    # Downloaded, and in the library of the shows a moment later.
    await expect(eighth).to_have_attribute("data-episode", re.compile("downloaded|have"))
    await page.goto(f"{url}/downloads?show=completed")
    await page.locator("tr.download", has_text="Lantern").get_by_role("link").click()
    await page.locator("#remove summary").click()
    await page.get_by_label("Also delete its files").check()
    await page.get_by_role("button", name="Delete", exact=True).click()
    await expect(page.locator("h1")).to_have_text("Downloads")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

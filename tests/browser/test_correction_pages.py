"""What was recognised wrongly is corrected, each correction shown before it is made: at a desk and on a phone, in four languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import Page, expect

from kurabito.catalog.intake import CatalogIntake
from kurabito.db import Connection
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.metadata import records
from kurabito.metadata.records import Details

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, Stage

SUBSCRIBE = (
    "INSERT INTO subscriptions (name, url, new_series, start_with, fetch_interval, is_enabled, created_at, updated_at) "
    "VALUES ('Cellar', 'https://feeds.example/', 'add', 'missing', 1000000, 0, :now, :now) RETURNING id"
)
TITLES = (
    "[Toji] Cellar Basket - 01 [480p]",
    "[Kura] Cellar Basket (2019) - 01 [1080p]",
    "[Kura] Barley Song - 01 [1080p]",
    "[Kura] Barley Song / Mugi no Uta [02][1080p]",
    "Barley.Song.S87E01.1080p.WEB.x264-KURA",
)


async def test_what_was_recognised_wrongly_is_corrected(page: Page, stage: Stage, fits: Fit) -> None:
    feed = int(await stage.queue.database.write(lambda conn: conn.value(SUBSCRIBE)))
    for number, title in enumerate(TITLES):
        items = (FeedItem(title=title, download_url=f"https://feeds.example/{number}.torrent"),)
        await CatalogIntake(stage.queue.database).receive(FetcherResults(subscription_id=feed, items=items))
    await page.goto(await stage.link())
    await _every_language_fits(page, stage, fits)
    await _a_question_is_answered(page, stage, fits)
    await _series_are_merged_and_undone(page, stage, fits)
    await _names_are_split_off(page, stage, fits)
    await _a_release_is_moved(page, stage, fits)
    await _a_release_is_let_go(page, stage)
    await _series_are_found(page, stage, fits)
    await _an_offset_is_accepted(page, stage, feed)


async def _every_language_fits(page: Page, stage: Stage, fits: Fit) -> None:
    places = ("/questions", "/series/2/merge?into=1", "/series/2/split?name=Mugi+no+Uta", "/links/4/move?episode=7")
    for language in ("ja", "zh-Hans", "zh-Hant", "en"):
        await page.goto(f"{stage.url}/login?language={language}")
        for place in places:
            await page.goto(f"{stage.url}{place}")
            await expect(page.locator("html")).to_have_attribute("lang", language)
            await expect(page.locator("main button").first).to_be_visible()
            await fits()


async def _a_question_is_answered(page: Page, stage: Stage, fits: Fit) -> None:
    await page.goto(f"{stage.url}/matches")
    await page.locator("#asked-releases a").click()
    question = page.locator(".question")
    await expect(question).to_contain_text("The title has a year, the series has none")
    await expect(question.locator(".clues .against")).to_have_count(1)
    await expect(question.get_by_role("link", name="Add a title rule")).to_have_count(1)
    await fits()
    await question.get_by_role("button", name="New series: follow").click()
    await expect(page.locator("#questions .nothing")).to_have_text("No release needs you.")


async def _unfold(page: Page) -> None:
    """Opens the settings and corrections of a show, which lie above its episodes."""
    await page.locator("#settings > summary").click()


async def _series_are_merged_and_undone(page: Page, stage: Stage, fits: Fit) -> None:
    await page.goto(f"{stage.url}/series/2")
    await _unfold(page)
    await page.get_by_label("Merge into").fill("1")
    await page.get_by_role("button", name="Preview merge").click()
    await expect(page.locator("main")).to_contain_text("2 releases")
    await expect(page.locator("main")).to_contain_text("Barley Song · Mugi no Uta")
    await fits()
    await page.get_by_role("button", name="Merge", exact=True).click()
    await expect(page.locator("h1")).to_contain_text("Cellar Basket")
    await expect(page.locator("#evidence")).to_contain_text("Mugi no Uta")
    # The old address leads to where it is now.
    await page.goto(f"{stage.url}/series/2")
    await expect(page.locator("h1")).to_contain_text("Cellar Basket")
    await _unfold(page)
    await fits()
    await page.get_by_role("button", name="Undo the last correction").click()
    await expect(page.locator("#evidence")).not_to_contain_text("Mugi no Uta · learned")
    await page.goto(f"{stage.url}/series/2")
    await expect(page.locator("h1")).to_contain_text("Barley Song")
    await expect(page.locator("#evidence")).to_contain_text("undone")


async def _names_are_split_off(page: Page, stage: Stage, fits: Fit) -> None:
    await page.goto(f"{stage.url}/series/2")
    await _unfold(page)
    await page.locator("#split").get_by_label("Mugi no Uta", exact=True).check()
    await page.get_by_role("button", name="Preview split").click()
    await expect(page.locator("main")).to_contain_text("becomes a series of its own")
    await expect(page.locator("main")).to_contain_text("1 release")
    await page.get_by_role("button", name="Split off").click()
    await expect(page.locator("h1")).to_contain_text("Mugi no Uta")
    await _unfold(page)
    await page.get_by_role("button", name="Undo the last correction").click()
    await expect(page.locator("h1")).to_contain_text("Barley Song")
    # Single releases can go too.
    await _unfold(page)
    await page.locator("#split-releases summary").click()
    await fits()
    await page.locator("#split-releases").get_by_label("Mugi no Uta").check()
    await page.get_by_role("button", name="Preview split").click()
    await expect(page.locator("main")).to_contain_text("1 release")
    await page.get_by_role("link", name="Cancel").click()
    await expect(page.locator("h1")).to_contain_text("Barley Song")


async def _a_release_is_moved(page: Page, stage: Stage, fits: Fit) -> None:
    release = page.locator(".release", has_text="Mugi no Uta")
    row = page.locator(".episode-row", has=release)
    episode = row.locator("th")
    await expect(episode).to_contain_text("2")
    await row.locator(".seen > summary").click()
    await release.get_by_text("Wrong").click()
    await release.get_by_label("Correct episode").fill("7")
    await release.get_by_role("button", name="Set episode").click()
    await expect(page.locator("main")).to_contain_text("is episode 7.")
    await page.get_by_role("button", name="Set episode").click()
    await expect(episode).to_contain_text("7")
    await row.locator(".seen > summary").click()
    await release.get_by_text("Wrong").click()
    await release.get_by_label("Correct series").fill("1")
    await release.get_by_role("button", name="Move").click()
    await expect(page.locator("main")).to_contain_text("belongs to “Cellar Basket”")
    await page.get_by_role("link", name="Cancel").click()
    await row.locator(".seen > summary").click()
    await release.get_by_text("Wrong").click()
    await release.get_by_role("button", name="Not this show").click()
    await expect(page.locator("main")).to_contain_text("is not “Barley Song”")
    await page.get_by_role("link", name="Cancel").click()
    await _unfold(page)
    await page.get_by_role("button", name="Undo the last correction").click()
    await expect(episode).to_contain_text("2")


async def _a_release_is_let_go(page: Page, stage: Stage) -> None:
    series_id, link_id = (
        await stage.queue.database.read(
            lambda conn: conn.all("SELECT series_id, id FROM anime_links WHERE held_reason = 'doubtful_reading'")
        )
    )[0]
    await page.goto(f"{stage.url}/series/{series_id}")
    release = page.locator(f"#link-{link_id}")
    await expect(release).to_contain_text("is not plausible as a season")
    await page.locator(".seen", has=release).locator("summary").first.click()
    await release.get_by_role("button", name="Download this").click()
    await expect(page.locator(f"#link-{link_id} .trouble")).to_have_count(0)


async def _series_are_found(page: Page, stage: Stage, fits: Fit) -> None:
    await page.goto(f"{stage.url}/series")
    await fits()
    await page.get_by_label("Name", exact=True).fill("mugi")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("#listed li")).to_have_count(1)
    await expect(page.locator("#listed")).to_contain_text("Barley Song")


async def _an_offset_is_accepted(page: Page, stage: Stage, feed: int) -> None:
    titles = ("[Kura] Yeast Garden - 01", *(f"[Kura] Yeast Garden S2 - {number}" for number in ("01", "29")))
    items = tuple(
        FeedItem(title=title, download_url=f"https://feeds.example/{title[-2:]}-{len(title)}") for title in titles
    )
    await CatalogIntake(stage.queue.database).receive(FetcherResults(subscription_id=feed, items=items))

    def fill_in(conn: Connection) -> None:
        record = records.add(conn, Details(title_japanese="酵母の庭", episode_count=24))
        given = {"id": record.id}
        conn.run("UPDATE series SET metadata_id = :id WHERE title = 'Yeast Garden' AND season = 1", given)

    await stage.queue.database.write(fill_in)
    await page.goto(f"{stage.url}/questions")
    await expect(page.locator(".question")).to_contain_text("number 29 would be episode 5")
    await page.get_by_role("button", name="Yes, offset 24").click()
    await expect(page.locator(".question")).to_have_count(0)
    offsets = "SELECT episode_offset FROM series WHERE title = 'Yeast Garden' AND season = 2"
    assert await stage.queue.database.read(lambda conn: conn.value(offsets)) == 24

"""The page of a show in a real browser: the parts of its story in one line, on a phone and on a desk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page, expect
from tests.browser.test_every_page import LANGUAGES, THEMES, violated

from kurabito.metadata import records
from kurabito.metadata.records import Details
from kurabito.web.languages import catalogues

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, Picture, Stage

    from kurabito.db import Connection

ENTRY = (
    "INSERT INTO offline_entries (id, kind, title, language, air_date, bgm_id, tmdb_id, tmdb_kind, tmdb_season, episode_count, "
    "franchise_id) VALUES (:id, :kind, :title, 'ja', :day, :id, :tmdb, :tmdb_kind, :season, 12, 1)"
)
SERIES = (
    "INSERT INTO series (id, title, season, kind, metadata_id, episode_offset, state, created_at, updated_at) "
    "VALUES (:id, 'The Lantern', :season, 'tv', :record, 0, 'followed', :now, :now)"
)
EPISODE = (
    "INSERT INTO episodes (series_id, kind, number, state, aired_at, created_at, updated_at) "
    "VALUES (:id, 'tv', :number, 'wanted', 1, :now, :now)"
)
SEASONS = 12
THIS = 10
# Where the first episode of a show has to be on a phone.
LAST_OF_FIRST_EPISODE = 600
LINE = 90


def _franchise(conn: Connection) -> None:
    """Twelve seasons and a film, two of which are in the collection."""
    for season in range(1, SEASONS + 1):
        values = {
            "id": season,
            "kind": "tv",
            "title": f"灯籠 {season}",
            "day": f"{2010 + season}-04-01",
            "season": season,
        }
        conn.run(ENTRY, {**values, "tmdb": 7, "tmdb_kind": "tv"})
    film = {"id": 99, "kind": "movie", "title": "劇場版 灯籠", "day": "2030-01-01", "season": None}
    conn.run(ENTRY, {**film, "tmdb": 8, "tmdb_kind": "movie"})
    for season in (THIS - 1, THIS):
        record = records.add(conn, Details(title_japanese=f"灯籠 {season}", bgm_id=season)).id
        conn.run(SERIES, {"id": season, "season": season, "record": record})
        for number in range(1, 13):
            conn.run(EPISODE, {"id": season, "number": number})


async def test_the_parts_of_a_story_stand_in_one_line_and_lead_to_each_other(
    page: Page, stage: Stage, fits: Fit, picture: Picture
) -> None:
    await stage.queue.database.write(_franchise)
    await page.goto(await stage.link(f"/series/{THIS}"))
    strip = page.locator("#franchise")
    parts = strip.locator("li")
    await expect(parts).to_have_count(SEASONS + 1)
    line = await strip.bounding_box()
    first = await page.locator(".episode-row").first.bounding_box()
    assert line is not None
    assert first is not None
    assert line["height"] < LINE
    assert first["y"] + first["height"] < LAST_OF_FIRST_EPISODE
    await fits()
    await picture("show-parts")
    current = strip.locator("[aria-current]")
    await expect(current).to_contain_text(f"Season {THIS}")
    await expect(current).to_contain_text("0 / 12")
    await expect(current).to_be_in_viewport(ratio=1)
    await expect(strip.get_by_role("link", name="Film")).to_contain_text("12 episodes 2030 · 劇場版 灯籠")
    await strip.get_by_role("link", name=f"Season {THIS - 1}").click()
    await expect(page).to_have_url(f"{stage.url}/series/{THIS - 1}")
    await expect(strip.locator("[aria-current]")).to_contain_text(f"Season {THIS - 1}")
    # What is not in the collection leads to those who release it.
    await strip.get_by_role("link", name="Season 11").click()
    await page.wait_for_url("**/search/groups?q=*")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_line_is_read_in_every_language_and_violates_no_rule(
    page: Page, stage: Stage, fits: Fit, language: str
) -> None:
    await stage.queue.database.write(_franchise)
    await page.goto(await stage.link(f"/series/{THIS}?language={language}"))
    season = str(catalogues()[language].say("series.season_number", number=THIS))
    await expect(page.locator("#franchise [aria-current]")).to_contain_text(season)
    await fits()
    for theme in THEMES:
        await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        await page.evaluate(AXE_SCRIPT)
        assert await violated(page, theme) == []

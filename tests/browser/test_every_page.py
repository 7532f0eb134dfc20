"""Every page of the demo: no accessibility violation in both themes; it fits in every language, theme and width.

`KURABITO_SHOTS=/some/folder make soak PYTEST_ARGS="-k every_language"` puts a picture of each into a folder to look at.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page, expect
from tests.browser.conftest import SHOTS
from tests.support.waiting import PATIENCE

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage

PAGES: Final = (
    "/",
    "/series",
    "/series?state=asked",
    "/series?state=ignored",
    "/series/1",
    "/series/1/profile",
    "/series/1/backfill",
    "/metadata/1",
    "/calendar",
    "/calendar/shows",
    "/library",
    "/folders",
    "/library/1",
    "/library/1/folders",
    "/library/1/naming",
    "/library/1/renames",
    "/media-servers",
    "/adoption",
    "/imports",
    "/files/1",
    "/downloads",
    "/downloads?show=everything&sort=size",
    "/downloads/1",
    "/downloads/downloaders",
    "/downloads/conflicts",
    "/downloads/questions",
    "/downloads/blocklist",
    "/history",
    "/history/addresses",
    "/following",
    "/following/1",
    "/following/new",
    "/following/rules",
    "/wanted",
    "/search",
    "/search/groups",
    "/search/indexers",
    "/rules/profiles",
    "/rules",
    "/matches",
    "/matches/search?series=1",
    "/questions",
    "/duplicates",
    "/trash",
    "/now",
    "/tasks",
    "/system",
    "/settings/general",
    "/settings/security",
    "/settings/access",
    "/settings/libraries",
    "/settings/downloads",
    "/settings/metadata",
    "/settings/network",
    "/settings/advanced",
    "/settings/backups",
    "/settings/logs",
    "/notifications",
    "/docs",
    "/find?q=the",
)
LANGUAGES: Final = ("en", "ja", "zh-Hans", "zh-Hant")
THEMES: Final = ("light", "dark")
WIDTHS: Final = (390, 1280, 1920)
RULES: Final = {
    "light": {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    # Of a page, only the colours are others at night.
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}},
}
# What is folded away on a page of this width is looked at, too.
UNFOLD: Final = "document.querySelectorAll('.show-settings').forEach((it) => { it.open = true })"
CLIPPED: Final = (
    "[...document.querySelectorAll('.nav a, .nav-open')]"
    ".filter((it) => it.offsetParent && it.scrollWidth > it.clientWidth).map((it) => it.textContent.trim())"
)
CRUSHED: Final = (
    "[...document.querySelectorAll('.entry > *')].filter((it) => it.offsetParent && it.clientWidth < 48"
    " && it.textContent.trim().length > 8 && !it.matches('.pick')).map((it) => it.textContent.trim())"
)

# A tab is one line, whether its list wraps or is scrolled.
BROKEN_TABS: Final = (
    "[...document.querySelectorAll('.tabs a')].filter((it) => it.offsetParent"
    " && it.clientHeight > 2.5 * parseFloat(getComputedStyle(it).fontSize)).map((it) => it.textContent.trim())"
)


async def prepared(demo: dict[str, str], page: Page) -> None:
    """The demo with everything in it that its pages can show."""
    await page.goto(demo["login"])
    await expect(page.locator("#arrived img")).not_to_have_count(0)
    await expect(page.locator(".notice-row")).not_to_have_count(0)


async def shown(page: Page, url: str, path: str) -> None:
    answer = await page.goto(url + path)
    assert answer is not None
    assert answer.status == 200, f"{path} answers {answer.status}"


# It looks at more than a hundred pages, which a machine with one busy core does for a quarter of an hour.
@pytest.mark.timeout(20 * PATIENCE)
async def test_no_page_has_an_accessibility_violation(demo: dict[str, str], new_page: NewPage) -> None:
    page = await new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
    await prepared(demo, page)
    violations: list[str] = []
    await page.goto(f"{demo['url']}/system?theme=light")
    for path in PAGES:
        await shown(page, demo["url"], path)
        await page.evaluate(UNFOLD)
        await page.evaluate(AXE_SCRIPT)
        for theme in THEMES:
            await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
            found: dict[str, Any] = await page.evaluate("(rules) => axe.run(document, rules)", RULES[theme])
            violations += [
                f"{path} ({theme}) {one['id']}: {node['html'][:200]}"
                for one in found["violations"]
                for node in one["nodes"]
            ]
    assert violations == []


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
async def test_no_text_is_squeezed_into_a_column_of_single_letters_on_a_phone(
    demo: dict[str, str], new_page: NewPage, language: str
) -> None:
    page = await new_page(viewport={"width": 390, "height": 900}, locale="en-GB")
    await prepared(demo, page)
    await page.goto(f"{demo['url']}/system?language={language}")
    crushed: list[str] = []
    for path in PAGES:
        await shown(page, demo["url"], path)
        crushed += [f"{path}: {text}" for text in await page.evaluate(CRUSHED)]
        crushed += [f"{path}: {text}" for text in await page.evaluate(BROKEN_TABS)]
    assert crushed == []


@pytest.mark.soak
@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_fits_in_every_language_theme_and_width(
    demo: dict[str, str], new_page: NewPage, language: str
) -> None:
    page = await new_page(locale="en-GB")
    await prepared(demo, page)
    ill: list[str] = []
    for theme in THEMES:
        await page.goto(f"{demo['url']}/system?theme={theme}&language={language}")
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            for path in PAGES:
                await shown(page, demo["url"], path)
                broad = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
                clipped = await page.evaluate(CLIPPED)
                ill += (
                    [f"{path} {language} {theme} {width}: {broad} px too wide, clipped {clipped}"]
                    if broad > 0 or clipped
                    else []
                )
                if SHOTS is not None:
                    name = path.strip("/").translate(str.maketrans("/?=&", "----")) or "home"
                    await page.screenshot(path=Path(SHOTS) / f"{name}-{language}-{theme}-{width}.png", full_page=True)
    assert ill == []


async def test_the_table_of_downloads_fits_a_desk_and_its_menus_are_not_cut_off(
    demo: dict[str, str], new_page: NewPage
) -> None:
    page = await new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
    await prepared(demo, page)
    await shown(page, demo["url"], "/downloads?show=everything")
    too_wide = "[...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth).length"
    assert await page.evaluate(too_wide) == 0
    row = page.locator(".transfers .download").first
    await row.locator("summary").click()
    panel = row.locator(".confirm-panel")
    await panel.scroll_into_view_if_needed()
    whole = "(it) => { const at = it.getBoundingClientRect(); return it.contains(document.elementFromPoint(at.x + 9, at.bottom - 9)) }"
    assert await panel.evaluate(whole), "the menu of a row is cut off by the table"

"""Every page of the demo: no accessibility violation in both themes; it fits in every language, theme and width.

`KURABITO_SHOTS=/some/folder make soak PYTEST_ARGS="-k every_language"` puts a picture of each into a folder to look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import pytest_asyncio
from axe_playwright_python.base import AXE_SCRIPT
from fastapi import APIRouter, FastAPI
from playwright.async_api import Browser, Page, StorageState, expect
from starlette.routing import Route
from tests.browser.conftest import SHOTS, running_demo
from tests.support.waiting import PATIENCE

from kurabito.site.routing import add_routers

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage, Stage

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
    "/search?q=gatekeepers",
    "/series/1/merge?into=2",
    "/series/1/split?link=1",
    "/links/1/move?series=2",
    "/rules/profiles/1",
    "/rules/1",
    "/rules/1/off",
    "/rules/1/remove",
    "/duplicates/plans/1",
    "/setup/welcome",
    "/setup/library",
    "/setup/downloads",
    "/setup/metadata",
    "/setup/downloader",
    "/setup/show",
)
IN_PAGES: Final = {"/duplicates": "/duplicates/groups/", "/tasks?state=dead": "/tasks/0"}
"""Pages whose address is found on another."""
NOT_LOOKED_AT: Final = (
    # What was read again is there a while after a start; its page is a list like others.
    "/questions/relinks/{relink_id}",
    # Tests of their own look at it.
    "/login",
    # Files, and answers as they come.
    "/favicon.ico",
    "/search/answers",
    "/settings/backups/{name}",
    "/settings/logs/download",
    "/static/{name}",
    # They lead to another page, such as that of a form that was tried in another language.
    "/downloads/downloaders-test",
    "/downloads/downloaders/{module_id}/connection",
    "/downloads/downloaders/{module_id}/connection/test",
    "/downloads/downloaders/{module_id}/test",
    "/following/rules/try",
    "/library/{library_id}/naming/try",
    "/media-servers/{service_id}/test",
    "/notifications/{service_id}/test",
    "/rules/try",
    "/rules/{rule_id}/try",
    "/search/indexers/{indexer_id}/test",
    "/settings",
    "/settings/backups/{name}/restore",
    "/settings/security/keys",
    "/settings/security/password",
    "/settings/{name}/test/{setting}",
    "/setup",
)
"""What a browser can ask for and the tests of all pages do not look at."""
LANGUAGES: Final = ("en", "ja", "zh-Hans", "zh-Hant")
THEMES: Final = ("light", "dark")
WIDTHS: Final = (390, 1280, 1920)
RULES: Final = {
    "light": {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    # Of a page, only the colours are others at night.
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}},
}
# What keeps a rule is not listed: that takes longer than to look, and none of it is read.
VIOLATIONS: Final = (
    "async (rules) => (await axe.run(document, {...rules, resultTypes: ['violations'], selectors: false})).violations"
)
# What is folded away on a page of this width is looked at, too.
UNFOLD: Final = "document.querySelectorAll('.show-settings, .further').forEach((it) => { it.open = true })"
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

# A machine that has no font for them draws the letters of the button narrower than readers see them.
WIDEN: Final = """
() => {
  const pen = document.createElement("canvas").getContext("2d")
  for (const it of document.querySelectorAll(".button")) {
    const style = getComputedStyle(it), size = parseFloat(style.fontSize)
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
    it.style.letterSpacing = `${Math.max(0, size - pen.measureText("漢").width)}px`
  }
}
"""
STICKING_OUT: Final = (
    "[...document.querySelectorAll('.card .button, .entry .button, .sheet .button')].filter((it) => it.checkVisibility()"
    " && it.getBoundingClientRect().right > it.closest('.card, .entry, .sheet').getBoundingClientRect().right + 1)"
    ".map((it) => it.textContent.trim())"
)


@dataclass(frozen=True)
class Demo:
    """Where the demo is, and what a browser has that is logged in to it."""

    url: str
    logged_in: StorageState
    pages: tuple[str, ...]
    """All of them, with those whose address is another in each demo."""


@pytest.fixture(scope="module")
def shared_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One for all of these tests, which only look at it: to start one and fill it takes longer than most of them."""
    with running_demo(tmp_path_factory.mktemp("demo")) as told:
        yield told


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def filled(shared_demo: dict[str, str], shared_browser: Browser) -> Demo:
    """The demo with everything in it that its pages can show."""
    context = await shared_browser.new_context(locale="en-GB")
    context.set_default_timeout(PATIENCE * 1000)
    page = await context.new_page()
    # The link is good for one session, which the tests share.
    await page.goto(shared_demo["login"])
    await expect(page.locator("#arrived img")).not_to_have_count(0)
    await expect(page.locator(".notice-row")).not_to_have_count(0)
    url = shared_demo["url"]
    found = [await first_link(page, url + path, to) for path, to in IN_PAGES.items()]
    await page.goto(f"{url}/settings/security")
    for name in ("password", "repeated"):
        await page.fill(f"#{name}", "a password of the demo")
    await page.get_by_role("button", name="Set password").click()
    await expect(page.locator("#saved")).to_be_visible()
    await page.goto(f"{url}/rules/profiles")
    await page.fill("#preferences [name=name]", "HD")
    await page.locator("#preferences button").click()
    await expect(page.locator("#profile-1")).to_be_visible()
    await page.goto(f"{url}/settings/backups")
    await page.get_by_role("button", name="Back up now").click()
    await expect(page.locator("#copies")).to_be_visible()
    # A plan changes nothing.
    await page.goto(f"{url}/duplicates")
    await page.get_by_role("button", name="Plan all groups").click()
    await page.wait_for_url("**/duplicates/plans/1")
    logged_in = await context.storage_state()
    await context.close()
    return Demo(url, logged_in, (*PAGES, *found))


async def first_link(page: Page, url: str, to: str) -> str:
    """Where the first link of a page leads whose address begins like this."""
    await page.goto(url)
    link = await page.locator(f'main a[href^="{to}"]').first.get_attribute("href")
    assert link is not None
    return link


async def shown(page: Page, url: str, path: str) -> None:
    answer = await page.goto(url + path)
    assert answer is not None
    assert answer.status == 200, f"{path} answers {answer.status}"


# It looks at more than a hundred pages, which a machine with one busy core does for a quarter of an hour.
@pytest.mark.timeout(20 * PATIENCE)
async def test_no_page_has_an_accessibility_violation(filled: Demo, new_page: NewPage) -> None:
    page = await new_page(viewport={"width": 1280, "height": 900}, locale="en-GB", storage_state=filled.logged_in)
    violations: list[str] = []
    await page.goto(f"{filled.url}/system?theme=light")
    for path in filled.pages:
        await shown(page, filled.url, path)
        await page.evaluate(UNFOLD)
        await page.evaluate(AXE_SCRIPT)
        for theme in THEMES:
            await page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
            violations += [f"{path} ({theme}) {one}" for one in await violated(page, theme)]
    assert violations == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_log_in_page_has_no_violation_and_fits(filled: Demo, new_page: NewPage, language: str) -> None:
    page = await new_page(locale="en-GB")
    for theme in THEMES:
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            await shown(page, filled.url, f"/login?theme={theme}&language={language}")
            await expect(page.locator("form input[type=password]")).to_be_visible()
            assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        await page.evaluate(AXE_SCRIPT)
        assert await violated(page, "light") == []


@pytest.mark.parametrize(("theme", "rules"), [("light", ["color-contrast", "image-alt"]), ("dark", ["color-contrast"])])
async def test_a_violation_is_seen(new_page: NewPage, theme: str, rules: list[str]) -> None:
    page = await new_page()
    pale = '<p style="background: white; color: silver">pale</p>'
    await page.set_content(
        f'<html lang="en"><title>Ill</title><main><h1>Ill</h1><img src="data:,">{pale}</main></html>'
    )
    await page.evaluate(AXE_SCRIPT)
    found = await violated(page, theme)
    assert [one.partition(":")[0] for one in found] == rules
    assert 'silver">pale</p>' in found[0]


async def violated(page: Page, theme: str) -> list[str]:
    """The rules that the page violates in this theme, with the element that does."""
    found: list[dict[str, Any]] = await page.evaluate(VIOLATIONS, RULES[theme])
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
async def test_no_text_is_squeezed_into_a_column_of_single_letters_on_a_phone(
    filled: Demo, new_page: NewPage, language: str
) -> None:
    page = await new_page(viewport={"width": 390, "height": 900}, locale="en-GB", storage_state=filled.logged_in)
    await page.goto(f"{filled.url}/system?language={language}")
    crushed: list[str] = []
    for path in filled.pages:
        await shown(page, filled.url, path)
        crushed += [f"{path}: {text}" for text in await page.evaluate(CRUSHED)]
        crushed += [f"{path}: {text}" for text in await page.evaluate(BROKEN_TABS)]
    assert crushed == []


@pytest.mark.parametrize("width", [390, 1280])
async def test_no_button_sticks_out_of_its_card(filled: Demo, new_page: NewPage, width: int) -> None:
    page = await new_page(viewport={"width": width, "height": 900}, locale="en-GB", storage_state=filled.logged_in)
    await page.goto(f"{filled.url}/system?language=ja")
    found: list[str] = []
    for path in filled.pages:
        await shown(page, filled.url, path)
        await page.evaluate(WIDEN)
        found += [f"{path}: {text}" for text in await page.evaluate(STICKING_OUT)]
    assert found == []


async def test_no_page_is_left_out(filled: Demo, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Route] = []

    def note(app: FastAPI, routers: Sequence[APIRouter]) -> None:
        made.extend(route for router in routers for route in router.routes if isinstance(route, Route))
        add_routers(app, routers)

    monkeypatch.setattr("kurabito.web.add_routers", note)
    await stage.go()
    await stage.come()
    looked_at = [path.partition("?")[0] for path in filled.pages]
    left_out = {
        route.path
        for route in made
        if "GET" in (route.methods or ()) and not any(route.path_regex.match(path) for path in looked_at)
    }
    assert sorted(left_out) == sorted(NOT_LOOKED_AT)


@pytest.mark.soak
@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_page_fits_in_every_language_theme_and_width(
    filled: Demo, new_page: NewPage, language: str
) -> None:
    page = await new_page(locale="en-GB", storage_state=filled.logged_in)
    ill: list[str] = []
    for theme in THEMES:
        await page.goto(f"{filled.url}/system?theme={theme}&language={language}")
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            for path in filled.pages:
                await shown(page, filled.url, path)
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
    filled: Demo, new_page: NewPage
) -> None:
    page = await new_page(viewport={"width": 1280, "height": 900}, locale="en-GB", storage_state=filled.logged_in)
    await shown(page, filled.url, "/downloads?show=everything")
    too_wide = "[...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth).length"
    assert await page.evaluate(too_wide) == 0
    # Nor do the columns move with every number that comes.
    columns = (
        "[...document.querySelectorAll('.transfers thead th')].map((it) => Math.round(it.getBoundingClientRect().x))"
    )
    say = "(text) => { document.querySelector('.download td:nth-child(4)').textContent = text }"
    before = [await page.evaluate(say, "3 B/s"), await page.evaluate(columns)][1]
    assert [await page.evaluate(say, "99.9 KiB/s"), await page.evaluate(columns)][1] == before
    row = page.locator(".transfers .download").first
    await row.locator("summary").click()
    panel = row.locator(".confirm-panel")
    await panel.scroll_into_view_if_needed()
    whole = "(it) => { const at = it.getBoundingClientRect(); return it.contains(document.elementFromPoint(at.x + 9, at.bottom - 9)) }"
    assert await panel.evaluate(whole), "the menu of a row is cut off by the table"

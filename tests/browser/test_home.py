"""*Home*, the search box and the wall of shows in a real browser, on a phone and on a desk."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from playwright.async_api import Page, Route, expect

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, NewPage, Picture, Screen, Stage, Visit

    from kurabito.db import Connection

SHOWS = 130
FEED = (
    "INSERT INTO subscriptions (id, name, url, fetch_interval, failures, error_code, created_at, updated_at) "
    "VALUES (1, 'Mikan', 'https://feeds.example/rss', 900000000, 3, 'timed_out', :now, :now)"
)
SERIES = (
    "INSERT INTO series (id, title, season, kind, episode_offset, state, created_at, updated_at) "
    "VALUES (:id, :title, 1, 'tv', 0, 'followed', :now, :now)"
)
ALIAS = (
    "INSERT INTO series_aliases (series_id, name, folded, season, kind, source) "
    "VALUES (:id, :title, :folded, 1, 'tv', 'keeper')"
)
EPISODE = (
    "INSERT INTO episodes (series_id, kind, number, state, created_at, updated_at) "
    "VALUES (:id, 'tv', :number, :state, :now, :now)"
)
PROFILE = (
    "INSERT INTO release_profiles (id, name, conflict_policy, upgrade, wait_minutes, preferences, created_at, updated_at) "
    "VALUES (1, 'HD', 'best', 0, 0, '{}', :now, :now)"
)
COUNT_NOTICES = """() => {
  window.noticed = 0;
  const edited = document.getElementById("edited");
  new MutationObserver(() => { window.noticed += edited.querySelectorAll(".undo-notice").length; }).observe(
    edited, { childList: true, subtree: true });
}"""
LINK = (
    "INSERT INTO anime_links (id, release_key, series_id, episode_id, title, url, download_type, is_filtered, created_at) "
    "VALUES (1, 'k', 1, 1, '[Kura] The Lantern - 01 [720p]', 'magnet:?xt=urn:btih:1', 'magnet', 1, :now)"
)
# What moved without the reader's doing, from the first paint on; 0 is said only when nothing came for a while.
SHIFT = (
    "new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().reduce((sum, it) => sum + it.value, 0)))"
    ".observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => done(0), 300))"
)
PAINTED = (
    "new Promise((done) => new PerformanceObserver((list) => list.getEntriesByName('first-contentful-paint').length && done())"
    ".observe({ type: 'paint', buffered: true }))"
)
# Below the bar at the top and above 300 px: a phone shows the first row without a touch.
FIRST_ROW = 300
LAST_OF_FIRST_EPISODE = 600


async def _write(stage: Stage, statement: str, **values: Any) -> None:
    await stage.queue.database.write(lambda conn: conn.run(statement, values))


def _shows(conn: Connection, count: int = SHOWS) -> None:
    for number in range(1, count + 1):
        of = {"id": number, "title": f"The Lantern {number:03}"}
        conn.run(SERIES, of)
        conn.run(ALIAS, {**of, "folded": f"thelantern{number:03}"})
        conn.run(EPISODE, {"id": number, "number": 1, "state": "have" if number % 2 else "wanted"})


def _season(conn: Connection) -> None:
    conn.run(SERIES, {"id": 1, "title": "The Lantern of the Storehouse at the End of the Long Road"})
    for number in range(1, 25):
        conn.run(EPISODE, {"id": 1, "number": number, "state": "wanted"})
    conn.run(LINK)


async def test_a_font_that_comes_late_does_not_move_the_page(page: Page, stage: Stage) -> None:
    may_come = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_come.wait()
        await route.continue_()

    await page.route("**/*.woff2*", hold)
    await page.goto(await stage.link(), wait_until="commit")
    await expect(page.locator(".first-steps li").first).to_be_visible()
    # Painted in the reader's own font before ours is there.
    await page.evaluate(PAINTED)
    may_come.set()
    await page.evaluate("document.fonts.ready.then(() => null)")
    assert await page.evaluate(SHIFT) == 0


async def test_a_slow_machine_paints_the_page_once_it_is_whole(page: Page, stage: Stage) -> None:
    machine = await page.context.new_cdp_session(page)
    await machine.send("Emulation.setCPUThrottlingRate", {"rate": 10})
    for _ in range(3):
        await page.goto(await stage.link())
        assert await page.evaluate(SHIFT) == 0


async def test_trouble_comes_to_the_first_page_and_stays_hidden_until_it_changes(
    page: Page, stage: Stage, screen: Screen, fits: Fit, picture: Picture
) -> None:
    await page.goto(await stage.link())
    first = await page.locator(".first-steps li").first.bounding_box()
    assert first is not None
    assert first["y"] < FIRST_ROW
    assert await page.evaluate(SHIFT) == 0
    await page.evaluate("window.marked = true")
    await _write(stage, FEED)
    row = page.locator(".notice-row", has_text="The feed Mikan cannot be read.")
    await expect(row).to_be_visible()
    await expect(page.locator("#home-count")).not_to_have_text("")
    await fits()
    await picture("home-trouble")
    await row.get_by_role("button", name="Hide until it changes").click()
    await expect(page.locator("#hidden-notices summary")).to_have_text("1 hidden item")
    await expect(row).not_to_be_visible()
    await _write(stage, "UPDATE subscriptions SET error_code = 'bad_status'")
    await expect(row).to_be_visible()
    await _write(stage, "UPDATE subscriptions SET failures = 0, error_code = NULL")
    await expect(row).to_have_count(0)
    assert await page.evaluate("window.marked === true")


def _arrivals(conn: Connection) -> None:
    conn.run(
        "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'A', '/a', :now, :now)"
    )
    for number in range(1, 15):
        of = {"id": number, "path": f"The Lantern {number}/01.mkv"}
        conn.run(SERIES, {"id": number, "title": f"The Lantern {number:03}"})
        conn.run(EPISODE, {"id": number, "number": 1, "state": "have"})
        conn.run(
            "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
            "VALUES (:id, 1, :path, 1, 1, :now, :now)",
            of,
        )
        conn.run(
            "INSERT INTO episode_files (episode_id, file_id, created_at) "
            "SELECT id, :id, :now FROM episodes WHERE series_id = :id",
            {"id": number},
        )


async def test_many_arrivals_make_no_page_wider_than_its_window(page: Page, stage: Stage, fits: Fit) -> None:
    await stage.queue.database.write(_arrivals)
    await page.goto(await stage.link())
    await expect(page.locator(".film-strip > li")).to_have_count(14)
    for width in (390, 768, 1024, 1280):
        await page.set_viewport_size({"width": width, "height": 844})
        await fits()


async def test_the_wall_grows_is_searched_while_one_types_and_leads_to_a_show(
    page: Page, stage: Stage, screen: Screen, visit: Visit, fits: Fit, picture: Picture
) -> None:
    await stage.queue.database.write(_shows)
    await page.goto(await stage.link())
    await visit(page, "Shows")
    cards = page.locator("#wall > li")
    await expect(cards).to_have_count(60)
    assert await page.evaluate(SHIFT) == 0
    await fits()
    await picture("wall")
    await page.evaluate("window.marked = true")
    await page.locator("#more-shows").scroll_into_view_if_needed()
    await expect(cards).to_have_count(120)
    await page.locator("#more-shows").scroll_into_view_if_needed()
    await expect(cards).to_have_count(SHOWS)
    await expect(cards.first).to_contain_text("The Lantern 130")
    await expect(cards.first).to_contain_text("0 / 1")
    await page.get_by_label("Name", exact=True).press_sequentially("lantern 12")
    await expect(cards).to_have_count(10)
    await expect(page).to_have_url(re.compile(r"name=lantern\+12"))
    if screen.width < 500:
        await page.get_by_text("Filter and order").click()
    await page.get_by_label("Order").select_option(label="By title")
    await expect(cards.first).to_contain_text("The Lantern 120")
    assert await page.evaluate("window.marked === true")
    # From anywhere: a slash, a name, down, and Enter.
    await page.locator("h1").click()
    await page.keyboard.press("/")
    await expect(page.get_by_role("searchbox", name="Search shows")).to_be_focused()
    await page.keyboard.type("lantern 077")
    await expect(page.locator("#find-found a").first).to_contain_text("The Lantern 077")
    await fits()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_have_text("The Lantern 077")
    assert await page.evaluate(SHIFT) == 0
    await expect(page.locator(".episode-row")).to_contain_text("Episode 1")
    await fits()
    await picture("show")


async def test_a_wall_that_nearly_fits_its_window_does_not_move(page: Page, stage: Stage, screen: Screen) -> None:
    await stage.queue.database.write(lambda conn: _shows(conn, 8))
    await page.set_viewport_size({"width": screen.width, "height": 400})
    await page.goto(await stage.link("/series"))
    await expect(page.locator("#wall > li")).to_have_count(8)
    # What is below the wall is seen, and would move with a row whose height was guessed.
    whole: int = await page.evaluate("document.documentElement.scrollHeight")
    await page.set_viewport_size({"width": screen.width, "height": whole - 5})
    await page.reload()
    assert await page.evaluate(SHIFT) == 0


async def test_several_shows_are_chosen_with_the_keyboard_and_without_scripts(
    stage: Stage, screen: Screen, new_page: NewPage
) -> None:
    await stage.queue.database.write(_shows)
    for scripted in (True, False):
        page = await new_page(
            viewport={"width": screen.width, "height": screen.height}, locale="en-GB", java_script_enabled=scripted
        )
        await page.goto(await stage.link("/series"))
        cards, many = page.locator("#wall > li"), page.locator("#many")
        await expect(many).not_to_be_visible()
        chosen = [await cards.nth(number).get_attribute("id") for number in (0, 2)]
        for card in chosen:
            box = page.locator(f"#{card} .choose")
            await box.focus()
            await box.press("Space")
            await expect(box).to_be_checked()
        if scripted:
            await expect(many).to_contain_text("2 chosen")
        await many.get_by_role("button", name="Unfollow").click()
        await expect(page.locator("#edited")).to_contain_text("2 shows are no longer followed.")
        # Without a file they are in the collection no more.
        for card in chosen:
            await expect(page.locator(f"#{card}")).to_have_count(0)
        await page.get_by_role("link", name="Dismiss").click()
        await expect(page.locator("#edited .undo-notice")).to_have_count(0)
        await page.goto(f"{stage.url}/series?state=ignored")
        await expect(cards).to_have_count(2)
        await page.get_by_label("Choose all listed").check()
        await many.get_by_role("button", name="Follow", exact=True).click()
        await expect(page.locator("#listed .nothing")).to_be_visible()
        await page.close()


async def test_a_range_of_shows_is_chosen_with_shift_edited_and_put_back(
    page: Page, stage: Stage, fits: Fit, picture: Picture
) -> None:
    await stage.queue.database.write(_shows)
    await _write(stage, PROFILE)
    await page.goto(await stage.link("/series"))
    many, cards = page.locator("#many"), page.locator("#wall > li")
    await cards.nth(1).locator(".choose").click()
    await cards.nth(5).locator(".choose").click(modifiers=["Shift"])
    await expect(many).to_contain_text("5 chosen")
    # While something is chosen, a poster chooses, too.
    await cards.nth(7).locator(".card-cover").click(modifiers=["Shift"])
    await expect(many).to_contain_text("7 chosen")
    await cards.nth(7).locator(".choose").click()
    await cards.nth(6).locator(".choose").click(modifiers=["Shift"])
    await expect(many).to_contain_text("5 chosen")
    await page.keyboard.press("Escape")
    await expect(many).not_to_be_visible()
    await cards.nth(0).locator(".choose").click()
    await cards.nth(2).locator(".choose").click(modifiers=["Shift"])
    await many.get_by_text("Edit…").click()
    await many.get_by_label("Profile").select_option(label="HD")
    await fits()
    await picture("wall-edit")
    await many.get_by_role("button", name="Apply").click()
    notice = page.get_by_role("status").filter(has_text="3 shows now use profile HD.")
    await expect(notice.locator(".undo-notice")).to_be_visible()
    await fits()
    await picture("wall-edited")
    using = "SELECT count(*) FROM series WHERE profile_id IS NOT NULL"
    assert await stage.queue.database.read(lambda conn: conn.value(using)) == 3
    await notice.get_by_role("button", name="Undo").click()
    await expect(page.locator("#edited")).to_contain_text("Undone.")
    assert await stage.queue.database.read(lambda conn: conn.value(using)) == 0
    await page.get_by_role("link", name="Dismiss").click()
    await expect(page.locator("#edited .undo-notice")).to_have_count(0)
    await expect(page).to_have_url(re.compile(r"/series$"))


async def test_a_notice_that_was_dismissed_is_not_brought_back_by_an_older_answer(page: Page, stage: Stage) -> None:
    await stage.queue.database.write(_shows)
    await _write(stage, PROFILE)
    await page.goto(await stage.link("/series"))
    await expect(page.locator("#live")).to_have_text("Live")
    await page.locator("#wall > li").nth(0).locator(".choose").click()
    await page.locator("#many").get_by_text("Edit…").click()
    await page.locator("#many").get_by_label("Profile").select_option(label="HD")
    await page.locator("#many").get_by_role("button", name="Apply").click()
    await expect(page.locator("#edited .undo-notice")).to_be_visible()
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await may_answer.wait()
        await route.continue_()

    await page.route(re.compile("edited="), hold)
    await expect(page.locator("#live")).to_have_text("Live")
    await stage.queue.enqueue("poster.fetch", {})
    await asked.wait()
    await page.get_by_role("link", name="Dismiss").click()
    await page.evaluate(COUNT_NOTICES)
    async with page.expect_request(re.compile("/series$")):
        may_answer.set()
    assert await page.evaluate("window.noticed") == 0


async def test_the_first_episode_of_a_show_is_in_sight_and_unfolds(
    page: Page, stage: Stage, screen: Screen, fits: Fit, picture: Picture
) -> None:
    await stage.queue.database.write(_season)
    await page.goto(await stage.link("/series/1"))
    rows = page.locator(".episode-row")
    await expect(rows).to_have_count(24)
    first = await rows.first.bounding_box()
    assert first is not None
    assert first["y"] + first["height"] < LAST_OF_FIRST_EPISODE
    # Two lines at most, one on a desk.
    assert first["height"] < (80 if screen.width < 500 else 44)
    assert await page.evaluate(SHIFT) == 0
    await fits()
    await picture("show-season")
    details = page.locator("#seen-1 > summary")
    await expect(page.locator("#link-1")).not_to_be_visible()
    await details.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#link-1")).to_be_visible()
    await expect(page.locator("#link-1")).to_contain_text("Excluded by a rule")
    # What unfolds keeps its buttons in their places.
    release, button = [await page.locator(it).bounding_box() for it in ("#link-1", "#correct-1 > summary")]
    assert release is not None
    assert button is not None
    assert release["x"] <= button["x"]
    assert release["y"] < button["y"] < release["y"] + release["height"]
    await fits()
    await page.locator("#actions-2 > summary").click()
    await page.get_by_role("button", name="Not wanted Episode 2").click()
    await expect(page.locator("#episode-2")).to_have_attribute("data-episode", "unwanted")
    # A link to an episode unfolds it.
    await page.goto(f"{stage.url}/series/1")
    await expect(page.locator("#link-1")).not_to_be_visible()
    await page.locator(".grid a").first.click()
    await expect(page.locator("#link-1")).to_be_visible()

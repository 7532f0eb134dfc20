"""The pages in a real browser, on a phone and on a desk."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from playwright.async_api import Page, Route, expect

from kurabito.runtime import TaskState

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage, Picture, Stage

LONG = "extraordinarily" * 13
RIGHT_TO_LEFT = "\N{RIGHT-TO-LEFT OVERRIDE}مهمة طويلة جدا שלום 🏮📦🗄️"


async def _nothing_sticks_out(page: Page) -> None:
    width = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert width[0] <= width[1], f"{page.url} is {width[0]} wide in a window of {width[1]}"


async def _stays(page: Page) -> None:
    """Mark the page, so that a reload would be noticed."""
    await page.evaluate("window.marked = true")


async def _stayed(page: Page) -> bool:
    return bool(await page.evaluate("window.marked === true"))


async def test_one_logs_in_by_link_and_leaves(page: Page, stage: Stage) -> None:
    await page.goto(f"{stage.url}/tasks")
    await expect(page).to_have_url(re.compile(r"/login\?next="))
    await _nothing_sticks_out(page)
    await page.goto(await stage.link())
    await expect(page.locator("h1")).to_have_text("Home")
    await expect(page.locator("#live")).to_have_text("Live")
    leave = page.get_by_role("button", name="Log out")
    if not await leave.is_visible():
        await page.get_by_role("button", name="More").click()
    await leave.click()
    await expect(page.locator("h1")).to_have_text("Log in")
    await page.goto(f"{stage.url}/system")
    await expect(page.locator("h1")).to_have_text("Log in")


async def test_one_logs_in_by_password_and_arrives_where_one_wanted_to_go(
    page: Page, stage: Stage, picture: Picture
) -> None:
    await stage.access.passwords.set("open sesame")
    await page.goto(f"{stage.url}/system")
    await picture("login")
    await page.get_by_label("Password").fill("open sesame")
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_have_text("System")
    await _nothing_sticks_out(page)


async def test_a_task_is_watched_while_it_goes_on(page: Page, stage: Stage) -> None:
    await page.goto(await stage.link("/now"))
    await expect(page.locator("#quiet")).to_be_visible()
    await _stays(page)
    stage.go_on(40)
    task = await stage.queue.enqueue("shelf.count", {})
    entry = page.locator(f"#running [data-task='{task.id}']")
    await expect(entry.locator(".progress-text")).to_have_text("40 / 200")
    stage.go_on(150)
    await expect(entry.locator(".progress-text")).to_have_text("150 / 200")
    await expect(entry.locator("progress")).to_have_js_property("value", 150)
    stage.go_on(200)
    await expect(entry).to_have_count(0)
    await expect(page.locator(".totals [data-tone='good'] b")).to_have_text("1")
    assert await _stayed(page)


async def test_a_running_task_is_cancelled_after_a_question(page: Page, stage: Stage, picture: Picture) -> None:
    stage.go_on(40)
    task = await stage.queue.enqueue("shelf.count", {})
    await page.goto(await stage.link("/now"))
    entry = page.locator(f"#running [data-task='{task.id}']")
    await _stays(page)
    await entry.locator("summary").click()
    await expect(entry.get_by_text("Its unfinished work is lost")).to_be_visible()
    await _nothing_sticks_out(page)
    # What happens meanwhile does not close the question.
    other = await stage.queue.enqueue("nobody.runs.this", {})
    await expect(page.locator(f"#waiting [data-task='{other.id}']")).to_be_visible()
    await picture("question")
    await entry.get_by_role("button", name="Cancel task").click()
    await expect(entry).to_have_count(0)
    assert (await stage.queue.get(task.id)).state is TaskState.CANCELLED
    assert await _stayed(page)


async def test_a_failed_task_tells_why_and_is_retried(page: Page, stage: Stage) -> None:
    task = await stage.queue.enqueue("poster.fetch", {})
    await stage.queue.wait(task.id)
    await page.goto(await stage.link("/now"))
    entry = page.locator(f"#failed [data-task='{task.id}']")
    await expect(entry).to_contain_text("no poster at this address")
    stage.address_exists = True
    await entry.get_by_role("button", name="Retry").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#failed .nothing")).to_be_visible()
    assert (await stage.queue.wait(task.id)).state is TaskState.SUCCEEDED
    await page.goto(f"{stage.url}/tasks/{task.id}")
    await expect(page.locator("h1")).to_have_text("poster.fetch")
    await expect(page.locator("#result pre")).to_have_text('"fetched"')


async def test_a_task_s_own_page_follows_it_to_its_end(page: Page, stage: Stage) -> None:
    task = await stage.queue.enqueue("shelf.count", {})
    await page.goto(await stage.link("/now"))
    await page.goto(f"{stage.url}/tasks/{task.id}")
    await _stays(page)
    stage.go_on(80)
    await expect(page.locator("#task .progress-text")).to_have_text("80 / 200")
    stage.go_on(200)
    await expect(page.locator("#task > .title-row .badge")).to_have_text("Succeeded")
    await expect(page.locator("#result pre")).to_contain_text('"files": 200')
    assert await _stayed(page)


async def test_what_is_asked_for_is_not_undone_by_an_older_answer(page: Page, stage: Stage) -> None:
    # An empty wall has no filter.
    await stage.queue.database.write(
        lambda conn: conn.run(
            "INSERT INTO series (title, state, created_at, updated_at) VALUES ('Kura', 'followed', 5, 5)"
        )
    )
    await page.goto(await stage.link("/series"))
    await expect(page.locator("#live")).to_have_text("Live")
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await may_answer.wait()
        await route.continue_()

    # A refresh is on its way while the reader fills in the filter.
    await page.route(re.compile("/series$"), hold)
    await stage.queue.enqueue("poster.fetch", {})
    await asked.wait()
    await page.get_by_label("Name", exact=True).fill("Kura")
    await expect(page).to_have_url(re.compile("name=Kura"))
    async with page.expect_request(re.compile("name=Kura")):
        may_answer.set()


async def test_languages_and_themes_are_switched_and_remembered(page: Page, stage: Stage, picture: Picture) -> None:
    await _furnish(stage)
    await page.goto(await stage.link("/now"))
    await page.get_by_role("link", name="日本語").click()
    await expect(page.locator("h1")).to_have_text("タスク")
    await expect(page.locator("html")).to_have_attribute("lang", "ja")
    await picture("now-ja")
    await page.get_by_role("link", name="ダーク").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    await page.get_by_role("link", name="ライト").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")
    light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark, light) == ("rgb(21, 23, 26)", "rgb(250, 247, 240)")
    await page.goto(f"{stage.url}/system")
    await expect(page.locator("h1")).to_have_text("システム")
    await _nothing_sticks_out(page)


async def test_times_are_shown_in_the_browser_s_zone(page: Page, stage: Stage) -> None:
    task = await stage.queue.enqueue("nobody.runs.this", {})
    await page.goto(await stage.link("/now"))
    await page.goto(f"{stage.url}/tasks/{task.id}")
    shown = await page.locator(".facts time").first.text_content()
    # Of this year, so the year is not said.
    tokyo = await page.evaluate(
        "(moment) => new Intl.DateTimeFormat('en-GB', {month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit',"
        " second: '2-digit', timeZone: 'Asia/Tokyo'}).format(new Date(moment))",
        task.created_at.isoformat(),
    )
    assert shown == tokyo


async def test_foreign_text_of_any_length_and_direction_keeps_the_layout(
    page: Page, stage: Stage, picture: Picture
) -> None:
    tasks = [
        await stage.queue.enqueue(task_type, {"note": "x" * 5000, RIGHT_TO_LEFT: LONG}, unique_key=task_type)
        for task_type in (LONG, RIGHT_TO_LEFT, "🏮" * 80)
    ]
    await page.goto(await stage.link("/now"))
    await expect(page.locator("#waiting .entry")).to_have_count(3)
    await picture("foreign")
    await _nothing_sticks_out(page)
    for path in ("/tasks", *(f"/tasks/{task.id}" for task in tasks)):
        await page.goto(f"{stage.url}{path}")
        await _nothing_sticks_out(page)


async def test_a_link_into_the_reference_unfolds_what_it_names(page: Page, stage: Stage) -> None:
    await page.goto(await stage.link("/now"))
    await page.goto(f"{stage.url}/docs#get-api-v1-events")
    await expect(page.locator("#get-api-v1-events .answers")).to_be_visible()


async def test_everything_is_reached_with_the_keyboard(page: Page, stage: Stage) -> None:
    await stage.queue.enqueue("nobody.runs.this", {})
    await page.goto(await stage.link("/now"))
    await page.keyboard.press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    seen = set()
    for _ in range(48):
        await page.keyboard.press("Tab")
        if await page.locator(".nav-open:focus").count():
            await page.keyboard.press("Enter")
        focused = await page.evaluate(
            "(() => { const it = document.activeElement;"
            " return [it.textContent.trim(), it === document.body || getComputedStyle(it).outlineStyle !== 'none']; })()"
        )
        assert focused[1], f"{focused[0]} shows no focus"
        seen.add(focused[0])
    assert {"Home", "Tasks", "System", "Log out", "nobody.runs.this", "Cancel", "日本語", "Dark"} <= seen


async def test_the_font_that_the_page_wants_comes_with_it(page: Page, stage: Stage) -> None:
    await page.goto(await stage.link("/now"))
    await page.evaluate("document.fonts.ready")
    loaded = "[...document.fonts].filter((it) => it.status === 'loaded').map((it) => it.family)"
    assert await page.evaluate(loaded) == ["Inter"]
    # Romanised Japanese has letters that only the second file has.
    await page.evaluate("document.fonts.load('1rem Inter', 'Shōwa Genroku Rakugo Shinjū').then(() => null)")
    assert await page.evaluate(loaded) == ["Inter", "Inter"]


async def test_without_javascript_everything_works_too(new_page: NewPage, stage: Stage) -> None:
    page = await new_page(java_script_enabled=False, viewport={"width": 390, "height": 844})
    task = await stage.queue.enqueue("poster.fetch", {})
    await stage.queue.wait(task.id)
    await page.goto(await stage.link("/now"))
    await expect(page.locator("#failed")).to_contain_text("no poster at this address")
    stage.address_exists = True
    await page.get_by_role("button", name="Retry").click()
    await expect(page.locator("h1")).to_have_text("Tasks")
    assert (await stage.queue.wait(task.id)).state is TaskState.SUCCEEDED


async def test_every_page_fits_in_both_lights(page: Page, stage: Stage, picture: Picture) -> None:
    await _furnish(stage)
    await page.goto(await stage.link("/now"))
    await expect(page.locator("#waiting .error-line")).to_be_visible()
    dead = (await stage.queue.list(state=TaskState.DEAD)).items[0]
    for theme in ("light", "dark"):
        for name, path in (
            ("home", "/"),
            ("now", "/now"),
            ("tasks", "/tasks"),
            ("task", f"/tasks/{dead.id}"),
            ("system", "/system"),
            ("docs", "/docs"),
        ):
            await page.goto(f"{stage.url}{path}?theme={theme}")
            await _nothing_sticks_out(page)
            await picture(f"{name}-{theme}")


async def _furnish(stage: Stage) -> None:
    """One task of each kind."""
    stage.go_on(124)
    await stage.queue.enqueue("shelf.count", {"library": "anime", "path": "/srv/anime"})
    poster = await stage.queue.enqueue("poster.fetch", {"series": "蔵の番人", "width": 780})
    await stage.queue.wait(poster.id)
    await stage.queue.enqueue("feed.poll", {"url": "https://feeds.example/rss"})
    await stage.queue.enqueue("shelf.count", {"library": "films"}, delay=200)
    await stage.queue.enqueue("subtitle.translate", {"episode": 12})

"""A server that goes away is noticed, and its return too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import NewPage, Stage


async def test_a_server_that_is_gone_is_shown_and_what_was_missed_is_made_up_for(
    new_page: NewPage, stage: Stage
) -> None:
    page = await new_page()
    await page.goto(await stage.link("/now"))
    await expect(page.locator("#live")).to_have_text("Live")
    await stage.go()
    await expect(page.locator("#live")).to_have_text("Reconnecting…")
    task = await stage.queue.enqueue("nobody.runs.this", {})
    await stage.come()
    await expect(page.locator("#live")).to_have_text("Live")
    await expect(page.locator(f"#waiting [data-task='{task.id}']")).to_be_visible()
    await page.close()

"""Takes the pictures of the documentation from the demo: pictures.py

They stand in docs/images, each as large as its window at twice the fineness, and with few colours so that they stay small.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.async_api import Browser, Page, StorageState, async_playwright, expect

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "images"
DESK: Final = (1280, 978)
PHONE: Final = (390, 1379)
_COLOURS: Final = 192
# A data plane has to start before anything is scanned or drawn.
_PATIENCE: Final = 60_000


class Photographer:
    """Looks at a demo that runs, in any window, light and language."""

    def __init__(self, browser: Browser, url: str, session: StorageState) -> None:
        self._browser = browser
        self._url = url
        self._session = session

    @asynccontextmanager
    async def window(
        self, size: tuple[int, int], path: str = "/", *, theme: str = "light", language: str = "en"
    ) -> AsyncIterator[Page]:
        """A page in a window of its own."""
        context = await self._browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=2,
            locale="en-GB",
            timezone_id="Asia/Tokyo",
            storage_state=self._session,
        )
        page = await context.new_page()
        page.set_default_timeout(_PATIENCE)
        await page.goto(f"{self._url}/login?theme={theme}&language={language}")
        await page.goto(f"{self._url}{path}")
        yield page
        await context.close()


async def take(page: Page, name: str) -> None:
    """Store what the window shows."""
    image = Image.open(BytesIO(await page.screenshot())).convert("RGB")
    small = image.quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(FOLDER / f"{name}.png", optimize=True)


async def photograph(there: Photographer) -> None:
    for name, size, theme, language in (
        ("home", DESK, "light", "en"),
        ("home-ja", DESK, "light", "ja"),
        ("home-phone-dark", PHONE, "dark", "en"),
    ):
        async with there.window(size, theme=theme, language=language) as page:
            await expect(page.locator("#live")).to_have_attribute("data-stream", "on")
            await expect(page.locator("#arrived img")).to_have_count(3, timeout=_PATIENCE)
            # The slow download alone is left.
            await expect(page.locator("#on-its-way .entry")).to_have_count(1, timeout=_PATIENCE)
            await expect(page.locator(".notice-row")).not_to_have_count(0, timeout=_PATIENCE)
            await take(page, name)
    async with there.window((1280, 900), "/series/1") as page:
        await expect(page.locator(".episode-file")).not_to_have_count(0, timeout=_PATIENCE)
        await take(page, "show")
    async with there.window((1280, 900), "/duplicates") as page:
        await expect(page.locator(".entry.group .thumb img")).not_to_have_count(0, timeout=_PATIENCE)
        await take(page, "duplicates")
    async with there.window((1280, 900), "/calendar") as page:
        await expect(page.locator("main img")).not_to_have_count(0, timeout=_PATIENCE)
        await take(page, "calendar")
    async with there.window((1280, 937), "/tasks?state=dead", theme="dark") as page:
        await page.get_by_role("link", name="demo.hopeless").click()
        await expect(page.locator("#live")).to_have_attribute("data-stream", "on")
        await take(page, "task-dark")
    async with there.window((1280, 860), "/library/1/folders?folder=The+Storehouse+at+Dawn/Season+1") as page:
        await expect(page.locator(".tile .thumb img").nth(9)).to_be_visible(timeout=_PATIENCE)
        await take(page, "folder")


async def main() -> None:
    demo = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "kurabito.cli", "demo", "--json", stdout=asyncio.subprocess.PIPE
    )
    assert demo.stdout is not None
    try:
        told = json.loads(await demo.stdout.readline())
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
                args=["--no-sandbox"],
            )
            context = await browser.new_context()
            await (await context.new_page()).goto(told["login"])
            await photograph(Photographer(browser, told["url"], await context.storage_state()))
            await browser.close()
    finally:
        demo.terminate()
        await demo.wait()


if __name__ == "__main__":
    asyncio.run(main())

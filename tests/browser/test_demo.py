"""The demo as somebody sees it who tries Kurabito for the first time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What a running demo says about itself."""
    command = [sys.executable, "-m", "kurabito.cli", "demo", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == 0
    assert list(tmp_path.iterdir()) == []


async def test_everything_the_page_can_show_is_there(demo: dict[str, str], browser: Browser) -> None:
    page = await browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    await page.goto(demo["login"])
    await expect(page.locator("#live")).to_have_text("Live")
    await expect(page.locator("#running progress").first).to_be_visible()
    await expect(page.locator("#waiting")).to_contain_text("No worker runs this type")
    await expect(page.locator("#failed")).to_contain_text("The Lost Episode <1080p> & more")
    # It moves by itself.
    first = await page.locator("#running .progress-text").first.inner_text()
    await expect(page.locator("#running .progress-text").first).not_to_have_text(first)
    await page.goto(f"{demo['url']}/system")
    await expect(page.locator("main")).to_contain_text("demo.copy")
    await page.close()
    assert problems == []

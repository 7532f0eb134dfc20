"""The tutorial *Your first show* is true: somebody who does what it says sees what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.text_browser import TextBrowser

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

TUTORIAL = Path(__file__).parents[3] / "docs" / "tutorial" / "your-first-show.md"
STEP = re.compile(r"^- (Click|Press|See) \*\*(.+?)\*\*$|^- Type `(.+?)` into \*\*(.+?)\*\*$", re.MULTILINE)


def test_the_tutorial_of_keepers_is_followed_to_its_end(
    commands: Commands, until: Callable[[Callable[[], object]], None], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    steps = STEP.findall(TUTORIAL.read_text("utf-8"))
    assert len(steps) >= 15
    with commands.started("demo", "--json", TMPDIR=str(tmp_path)) as (process, _):
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        browser = TextBrowser(told["url"])
        request.addfinalizer(browser.close)
        browser.open(told["login"])
        for verb, words, text, label in steps:
            if text:
                browser.type(text, label)
            elif verb == "Click":
                until(partial(_sees, browser, words))
                browser.click(words)
            elif verb == "Press":
                browser.press(words)
            else:
                # What the server does takes its time; a browser would be told.
                until(partial(_sees, browser, words))
        process.terminate()
        process.wait(timeout=60)


def _sees(browser: TextBrowser, words: str) -> bool:
    if not browser.sees(words):
        browser.again()
    return browser.sees(words)

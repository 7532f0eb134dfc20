"""*Library*, *Duplicates* and *Trash* with whatever names there are, on a phone and on a desk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext, Page, expect

from kurabito.app.compose.library import open_library
from kurabito.db import Connection
from kurabito.library.deletion.plans import DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.libraries import LibrarySettings
from kurabito.library.removal import LibraryRemoval
from kurabito.library.scans.queue import TaskPriority
from kurabito.runtime import Registry, Worker
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, Picture, Stage

NAMES = [
    "w" * 251 + ".mkv",
    "\N{RIGHT-TO-LEFT OVERRIDE}مهمة طويلة جدا/שלום עולם.mkv",
    "蔵の番人" * 20 + ".mkv",
    "a/" * 100 + "deep.mkv",
    "caf\uefe9\n<b>bold</b>.avi",
    "An Extraordinarily Long Title " * 8,
]
FILE = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, is_missing, needs_hash,
                           hash_algorithm, content_hash, hash_last_error, created_at, updated_at)
VALUES (:library, :path, :size, 1700000000000000000, 1, :inode, :missing, 0, 'blake3', :hash, :error, :now, :now)
"""
TRASHED = """
INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash,
                           trashed_at)
VALUES (:id, 1, 1, :path, '.kurabito-trash/t', 123456789, 'blake3', :hash, :now)
"""


@pytest_asyncio.fixture(loop_scope="session")
async def furnished(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """A library with every kind of name, each of them twice; one that fails, and one that waits."""
    folder = tmp_path_factory.mktemp("libraries")
    parts = open_library(stage.settings, stage.queue)
    for name in ("films", "蔵" * 40, "long" * 40):
        (folder / name).mkdir()
        await parts.libraries.create(str(folder / name), LibrarySettings(name=name))
    await parts.scans.submit_task(2, TaskPriority.HIGH)

    def know(conn: Connection) -> None:
        for number, name in enumerate(NAMES):
            values = {"size": 10 ** (number + 4), "hash": bytes([number]) * 32, "error": None, "missing": 0}
            for library in (1, 2, 3):
                conn.run(FILE, {**values, "library": library, "path": name, "inode": number * 10 + library})
            conn.run(TRASHED, {"id": f"{number:032x}", "path": name, "hash": values["hash"]})
        gone = {"size": 1, "hash": b"?" * 32, "error": "FILE_UNREADABLE: " + "x" * 200, "missing": 1}
        conn.run(FILE, {**gone, "library": 1, "path": "zz gone", "inode": 999})
        conn.run(
            "INSERT INTO jobs (id, kind, status, library_id, error_code, error_message, created_at, updated_at, "
            "finished_at) VALUES ('j', 'scan', 'failed', 1, 'ROOT_UNAVAILABLE', :told, :now, :now, :now)",
            {"told": f"the folder /srv/{'x' * 300} cannot be read"},
        )

    await stage.queue.database.write(know)
    await DeletionPlans(stage.queue.database, allowed=True).make(KeepRules())
    return stage


async def test_every_page_fits_in_both_lights_and_another_language(
    page: Page, furnished: Stage, picture: Picture, fits: Fit
) -> None:
    await page.goto(await furnished.link())
    group = "/duplicates/groups/blake3:" + "01" * 32
    for language, theme in (("en", "light"), ("ja", "dark")):
        await page.goto(f"{furnished.url}/login?theme={theme}&language={language}")
        for name, path in (
            ("libraries", "/library"),
            ("library", "/library/1"),
            ("naming", "/library/2/naming"),
            ("renames", "/library/2/renames"),
            ("folder", "/library/1/folders"),
            ("folder-deep", f"/library/1/folders?view=list&folder={'a/' * 98}a"),
            ("duplicates", "/duplicates"),
            ("group", group),
            ("plan", "/duplicates/plans/1"),
            ("trash", "/trash"),
        ):
            await page.goto(f"{furnished.url}{path}")
            await expect(page.locator("main h1")).to_be_visible()
            await picture(f"{name}-{theme}")
            await fits()


async def test_a_naming_is_tried_while_it_is_typed(page: Page, furnished: Stage) -> None:
    await page.goto(await furnished.link())
    await page.goto(f"{furnished.url}/library/2")
    await page.get_by_role("link", name="File names").click()
    tried = page.locator("#tried .entry")
    await expect(tried).to_have_count(10)
    await expect(tried.first).to_contain_text("Sousou no Frieren S01E08.mkv")
    episode = page.get_by_label("Episode", exact=True)
    await episode.press("End")
    await episode.press_sequentially("< - {episode_title}>")
    await expect(tried.first).to_contain_text("Sousou no Frieren S01E08 - Frieren the Slayer.mkv")
    await episode.fill("{title} {episdoe}")
    await expect(page.locator("#tried")).to_contain_text("There is no token episdoe. (Character 9)")
    await page.get_by_role("link", name="Plex").click()
    await expect(tried.first).to_contain_text("Sousou no Frieren (2023) - s01e08.mkv")
    await page.get_by_label("Subtitle languages").select_option("current")
    await expect(tried.first).to_contain_text("s01e08.zh-Hans.ass")
    await page.get_by_role("button", name="Save").click()
    # Saved, and no longer only chosen: a page that is still on its way cannot be loaded again.
    await page.wait_for_url("**/library/2/naming")
    await page.reload()
    await expect(tried.first).to_contain_text("s01e08.zh-Hans.ass")


async def test_what_is_not_allowed_is_said_and_what_is_ticked_stays_ticked(
    context: BrowserContext, furnished: Stage
) -> None:
    # A tab of its own: a form that is refused is an error to the console.
    page = await context.new_page()
    await page.goto(await furnished.link())
    await page.goto(f"{furnished.url}/duplicates")
    await expect(page.locator("#live")).to_have_text("Live")
    box = page.locator(".entry.group").nth(2).get_by_role("checkbox")
    await box.focus()
    await page.keyboard.press("Space")
    # Something happens, the page is brought up to date, and the choice is still there.
    await furnished.queue.enqueue("nobody.runs.this", {})
    async with page.expect_response(lambda answer: answer.url.endswith("/duplicates")):
        await furnished.queue.enqueue("nobody.runs.this.either", {})
    await expect(box).to_be_checked()
    await expect(page.locator("#sum [data-count]")).to_have_text("1")
    await page.locator("#options summary").click()
    await page.get_by_label("Protected folders").fill("/elsewhere")
    await page.get_by_role("button", name="Plan selected groups").click()
    await expect(page.locator("[data-problem]")).to_contain_text("/elsewhere is in no library")
    await expect(page.locator(".entry.group").nth(2).get_by_role("checkbox")).to_be_checked()
    await page.get_by_label("Protected folders").fill("")
    await page.get_by_role("button", name="Plan selected groups").click()
    await expect(page.locator(".entry.step")).to_have_count(2)
    await expect(page.locator("#not-allowed")).to_contain_text("under Settings, Libraries")
    await expect(page.locator("#apply")).to_have_count(0)
    # A library is let go after a question only.
    await page.goto(f"{furnished.url}/library/3")
    await page.locator("#remove summary").click()
    await expect(page.locator("#remove form")).to_contain_text("Its files stay on disk.")
    await page.keyboard.press("Escape")
    await expect(page.locator("#remove form")).to_be_hidden()
    await page.locator("#remove summary").click()
    await page.get_by_role("button", name="Remove").click()
    await expect(page.locator("h1")).to_have_text("Library")
    # It takes as long as there are files to forget, and goes from the page when it is done.
    await expect(page.locator("#library-3")).to_contain_text("Removing")
    assert isinstance(furnished.queue, SqlQueue)
    registry = Registry()
    LibraryRemoval(furnished.queue).join(registry)
    async with Worker(furnished.queue, registry, grace=0.0):
        await expect(page.locator(".entry.shelf")).to_have_count(2, timeout=60_000)
    await page.close()

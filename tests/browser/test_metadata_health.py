"""A source that does not answer is named on the pages, and nothing says that it was only not asked yet."""

from __future__ import annotations

import asyncio
import socket
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import Page, expect
from tests.browser.conftest import Screen
from tests.support.waiting import PATIENCE

from kurabito.app.compose.feeds import open_outbound
from kurabito.app.compose.metadata import MetadataParts, open_metadata
from kurabito.db import Connection
from kurabito.metadata import records
from kurabito.metadata.episodes import EpisodeSource, KnownEpisode, keep_lists
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import Details, RecordCandidate, RecordKind, TmdbKind, candidates_as_stored
from kurabito.metadata.runner import SYNC
from kurabito.metadata.sources.bangumi_data import IndexFile, OfflineEntry
from kurabito.metadata.sources.index import IndexOrigin, import_index
from kurabito.runtime import Registry, TaskState, Worker

if TYPE_CHECKING:
    from tests.browser.conftest import Fit, Stage

IDS = Ids(bgm_id=7, tmdb_id=70, tmdb_kind=TmdbKind.TV)


async def test_the_day_of_an_episode_is_no_moment(page: Page, stage: Stage) -> None:
    episode = KnownEpisode(1, {"en": "The first"}, date(2016, 10, 6))

    def write(conn: Connection) -> int:
        keep_lists(conn, source=EpisodeSource.BGM, lists={"7": [episode]})
        return records.add(conn, Details(title_english="Storehouse", bgm_id=7)).id

    number = await stage.queue.database.write(write)
    await page.goto(await stage.link())
    await page.goto(f"{stage.url}/metadata/{number}")
    await expect(page.locator(".known-episodes time")).to_have_text("6 Oct 2016")


async def test_what_is_missing_is_told_with_the_source_that_does_not_answer(
    page: Page, stage: Stage, fits: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kurabito.http.retries._FIRST_WAIT", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}"
    await stage.go()
    away = {"tmdb_key": "made-up", "tmdb_url": nowhere, "bgm_url": nowhere}
    stage.settings = type(stage.settings)(**{**stage.settings.model_dump(exclude_unset=True), **away})
    await stage.come()

    async with open_outbound(stage.settings) as outbound:
        parts = open_metadata(stage.settings, stage.queue, outbound)
        unknown = await parts.service.create(Details(title_japanese="知らない蔵", year=2020))
        await _sync(stage, parts, TaskState.DEAD)
        # An id that is known comes although no service answers; only the poster waits.
        index = IndexFile((OfflineEntry("蔵の夜", RecordKind.TV, "ja", IDS),), bad_rows=1)
        await asyncio.to_thread(import_index, stage.queue.database, index, IndexOrigin.FILE)
        known = await parts.service.create(Details(title_japanese="蔵の夜"))
        fresh = await parts.service.create(Details(title_japanese="別の蔵", mal_id=1, tmdb_id=3))
        await page.goto(await stage.link())
        await page.goto(f"{stage.url}/metadata/{fresh.id}")
        state = page.locator("#state")
        await expect(state).to_contain_text("No poster yet: TMDB does not respond.")
        # Nothing could be asked, and the page does not call that a success.
        await expect(state).to_contain_text("The last sync failed.")
        await state.get_by_role("link", name="Failed").click()
        await expect(page.locator("main")).to_contain_text("TMDB was not read")
        await _sync(stage, parts, TaskState.SUCCEEDED)

    await page.goto(f"{stage.url}/metadata/{unknown.id}")
    await expect(state).to_contain_text("Not looked up: TMDB does not respond.")
    await expect(state).to_contain_text("It could not be reached. Last attempt")
    await expect(state).not_to_contain_text("Not looked up yet")
    await page.goto(f"{stage.url}/metadata/{known.id}")
    await expect(page.locator(".ids")).to_contain_text("70")
    await expect(state).to_contain_text("No poster yet: bgm.tv does not respond.")
    await expect(state).not_to_contain_text("once the ID is known")

    await page.goto(f"{stage.url}/calendar")
    sources = page.locator("#sources")
    await expect(sources.locator("[data-source=tmdb]")).to_contain_text("Not responding It could not be reached.")
    await expect(sources.locator("[data-source=tmdb]")).to_contain_text("1 show is waiting for it.")
    await expect(sources.locator("[data-source=bgm]")).to_contain_text("1 show is waiting for it.")
    await expect(sources.locator("[data-source=index]")).to_contain_text("Working 1 entry, fetched")
    await expect(sources.locator("[data-source=index]")).to_contain_text("1 row of the file was skipped.")
    await fits()


MAYBE = RecordCandidate(7, TmdbKind.TV, "蔵の夜", 2022, is_animation=True)
LACKS: dict[str, tuple[Details, dict[str, object], list[str]]] = {
    "with a key, new": (
        Details(title_japanese="蔵", bgm_id=1),
        {},
        ["No poster yet. The next sync looks for one.", "Not looked up yet. The next sync does it."],
    ),
    "with a key, looked up": (
        Details(title_japanese="蔵", bgm_id=2),
        {"tmdb_lookup_at": 1, "poster_lookup_at": 1},
        ["No source has a poster of it.", "Looked up and not found. The next lookup is in seven days"],
    ),
    "with a key, unclear": (
        Details(title_japanese="蔵", poster_url="https://img.example/1.jpg"),
        {"tmdb_lookup_at": 1, "tmdb_candidates": candidates_as_stored((MAYBE,))},
        ["The poster is not downloaded yet. Every sync tries again;", "TMDB has several candidates. Choose one:"],
    ),
    "with a key, nameless": (
        Details(title_chinese="藏"),
        {},
        [
            "No poster is known. It is fetched once the ID is known.",
            "It has no Japanese or English title to look it up by.",
        ],
    ),
    "without a key": (
        Details(title_japanese="蔵", bgm_id=4),
        {},
        ["It is not in the ID index, and TMDB needs a key."],
    ),
    "without a key, with an id": (
        Details(title_japanese="蔵", tmdb_id=5),
        {},
        ["No poster yet: only TMDB may have one, and it needs a key."],
    ),
}


@pytest.mark.parametrize("screen", [Screen(390, 844, "")], ids=["phone"], indirect=True)
async def test_every_other_reason_is_told_as_it_is(page: Page, stage: Stage) -> None:
    """No source has failed here: what is missing was not asked yet, not found, not clear, or cannot be asked."""
    for has_key in (True, False):
        # A page that is open would ask the server for events while it is away.
        await page.goto("about:blank")
        await stage.go()
        key = {"tmdb_key": "made-up" if has_key else None}
        stage.settings = type(stage.settings)(**{**stage.settings.model_dump(exclude_unset=True), **key})
        await stage.come()
        await page.goto(await stage.link())
        for case, (details, columns, texts) in LACKS.items():
            if case.startswith("with a key") is not has_key:
                continue
            made = await stage.queue.database.write(partial(_add, details=details, columns=columns))
            await page.goto(f"{stage.url}/metadata/{made}")
            lacks = page.locator("#state [data-lack]")
            await expect(lacks.first).to_be_visible()
            for text in texts:
                await expect(lacks.filter(has_text=text)).to_have_count(1)


def _add(conn: Connection, details: Details, columns: dict[str, object]) -> int:
    made = records.add(conn, details)
    for column, value in columns.items():
        conn.run(f"UPDATE metadata SET {column} = :value WHERE id = :id", {"value": value, "id": made.id})
    return made.id


async def _sync(stage: Stage, parts: MetadataParts, ends: TaskState) -> None:
    registry = Registry()
    parts.runner.join(registry)
    async with Worker(stage.queue, registry, name="filler", grace=0.0):
        task = await stage.queue.enqueue(SYNC, unique_key=SYNC)
        assert (await stage.queue.wait(task.id, timeout=PATIENCE)).state is ends

"""The page of a download shows the way of its files into a library, what is in the way, and what can be done."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests.support.sites import open_pages

from kurabito.app.product import open_product
from kurabito.runtime import open_queue
from kurabito.runtime.sql.queue import SqlQueue
from kurabito.settings import Settings

if TYPE_CHECKING:
    from tests.integration.placements.conftest import House

EPISODE = "[Kura] Yoru no Kurabito - 01 [1080p].mkv"
PLACED = "Yoru no Kurabito/Season 01/Yoru no Kurabito S01E01.mkv"


@pytest.fixture
async def site(house: House, url: str, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(api_key="a key for the tests", state=tmp_path / "state")
    async with open_queue(url) as queue:
        assert isinstance(queue, SqlQueue)
        async with open_pages(settings, open_product(settings, queue)) as client:
            yield client


def read(path: str) -> str:
    """A path as a reader sees it: each folder stands for itself."""
    return path.replace("/", " / ")


async def shown(site: httpx2.AsyncClient, path: str = "/downloads/1", language: str = "en") -> str:
    page = await site.get(path, headers={"Accept-Language": language})
    assert page.status_code == 200, page.text
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.text)).split())


async def test_a_file_in_its_place_is_shown_with_how_it_came_there(house: House, site: httpx2.AsyncClient) -> None:
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    await house.settle()
    text = await shown(site)
    assert f"In library Hard link library 1 · {read(PLACED)}" in text
    assert "In library" in await shown(site, f"/series/{series}")
    assert "已在媒体库 硬链接" in await shown(site, language="zh-CN")


async def test_a_name_that_is_taken_offers_a_choice_and_takes_it(house: House, site: httpx2.AsyncClient) -> None:
    house.shelf.put(PLACED, b"of another release")
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    text = await shown(site)
    assert "Not placed" in text
    assert "Another file has this name already. Retry Keep both Leave it" in text
    answer = await site.post("/placements/1/resolve", data={"choice": "keep_both", "next": "/downloads/1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/downloads/1")
    house.plane()
    assert read(PLACED.replace(".mkv", " (2).mkv")) in await shown(site)
    assert (await site.post("/placements/1/resolve", data={"choice": "leave"})).status_code == 409


async def test_a_path_that_no_data_plane_sees_says_how_to_map_it(house: House, site: httpx2.AsyncClient) -> None:
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"}, save_path="/mnt/nas/dl/Series/1")
    await house.settle()
    text = await shown(site)
    assert "No data plane sees /mnt/nas/dl/Series/1. Mount it, or set a path mapping for the downloader." in text


async def test_a_question_is_asked_with_what_it_is_about(house: House, site: httpx2.AsyncClient) -> None:
    house.shelf.run("UPDATE library_roots SET accepts = 'any'")
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    assert "Several libraries take downloads of this kind: library 1, library 2." in await shown(site)

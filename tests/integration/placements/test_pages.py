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
    assert "已入库 硬链接" in await shown(site, language="zh-CN")


async def test_the_row_of_an_episode_names_the_group_whose_file_has_another_name_now(
    house: House, site: httpx2.AsyncClient
) -> None:
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    await house.settle()
    cells = re.findall(r'<td class="ep-file">.*?</td>', (await site.get(f"/series/{series}")).text, re.DOTALL)
    assert [re.findall(r"<span>(?:<bdi>)?(\w+)", cell) for cell in cells] == [["1080p", "Kura"]]


async def test_files_are_imported_into_no_series_that_nobody_chose(house: House, site: httpx2.AsyncClient) -> None:
    first, other = house.series("Yoru no Kurabito"), house.series("A Lonely Lighthouse")

    async def selected(path: str) -> list[str]:
        chosen = (await site.get(path)).text.split('id="series-field"')[1].split("</select>")[0]
        return re.findall(r'value="(\d*)" selected', chosen)

    assert await selected("/imports?path=/srv/a.mkv") == [""]
    assert await selected(f"/imports?series={other}") == [str(other)]
    assert (await site.get("/imports?series=9999")).status_code == 404
    # The page of a show leads there, and it is chosen then.
    assert f'href="/imports?series={first}"' in (await site.get(f"/series/{first}")).text


async def test_a_download_of_what_is_had_says_that_nothing_is_filed(house: House, site: httpx2.AsyncClient) -> None:
    series = house.series("Yoru no Kurabito")
    for name in (EPISODE, EPISODE.replace("Kura]", "Other]")):
        house.download(series, name, {name: b"one"})
        await house.settle()
    page = await shown(site, "/downloads/2")
    assert "No file of it is added to a library: the episode is there already" in page
    assert (
        "[Other] Yoru no Kurabito - 01 [1080p].mkv : The library already has this episode, and this file is not better."
        in page
    ), page


async def test_a_name_that_is_taken_offers_a_choice_and_takes_it(house: House, site: httpx2.AsyncClient) -> None:
    house.shelf.put(PLACED, b"of another release")
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    text = await shown(site)
    assert "Not added" in text
    assert "Another file has this name already. Retry Keep both Replace it Leave it" in text
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
    assert "1 file to identify" in await shown(site, "/downloads")
    assert "1 file to identify" in await shown(site, "/questions")
    assert "Files to identify" in await shown(site, "/downloads/questions")
    chosen = {"choice": "library", "library_id": "2", "next": "/downloads/questions"}
    answer = await site.post("/downloads/questions/1/answer", data=chosen)
    assert (answer.status_code, answer.headers["location"]) == (303, "/downloads/questions")
    await house.settle()
    assert house.library(2) == {PLACED: b"one"}
    assert "No file needs you." in await shown(site, "/downloads/questions")


async def test_an_episode_is_said_on_the_page_and_through_the_api(house: House, site: httpx2.AsyncClient) -> None:
    two = {"Prologue.mkv": b"one", "Epilogue.mkv": b"two"}
    house.download(house.series("Yoru no Kurabito"), "Yoru no Kurabito", two, episodes=(1, 2))
    await house.settle()
    assert "The name does not say which episode it is." in await shown(site)
    found = (await site.get("/api/v1/placements/questions")).json()["items"]
    ids = {one["path"]: one["id"] for one in found}
    said = {"choice": "file", "episodes": [1]}
    answer = await site.post(f"/api/v1/placements/questions/{ids['Prologue.mkv']}/answer", json=said)
    assert answer.json()["answer"]["episodes"] == [1]
    typed = {"choice": "file", "episodes": "2", "season": "1"}
    assert (await site.post(f"/downloads/questions/{ids['Epilogue.mkv']}/answer", data=typed)).status_code == 303
    await house.settle()
    assert house.library() == {PLACED: b"one", PLACED.replace("E01", "E02"): b"two"}
    wrong = await site.post("/downloads/questions/1/answer", data={"choice": "file", "episodes": "seven"})
    assert wrong.status_code == 422


async def test_a_replacement_is_shown_and_undone(house: House, site: httpx2.AsyncClient) -> None:
    house.shelf.put(PLACED, b"of another release")
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    assert (await site.post("/placements/1/resolve", data={"choice": "replace"})).status_code == 303
    house.plane()
    text = await shown(site)
    assert "which is in the trash. Undo" in text
    answer = await site.post("/api/v1/placements/1/undo")
    assert answer.json()["replaces_path"] == PLACED
    house.plane()
    assert house.shelf.path(PLACED).read_bytes() == b"of another release"


async def test_a_file_that_has_its_name_no_more_is_not_said_to_be_there(house: House, site: httpx2.AsyncClient) -> None:
    series = house.series("Yoru no Kurabito")
    house.download(series, EPISODE, {EPISODE: b"one"})
    await house.settle()
    assert f"In library Hard link library 1 · {read(PLACED)}" in await shown(site)
    better = EPISODE.replace("01", "01v2", 1)
    (second,) = house.download(series, better, {better: b"one, and better"})
    await house.settle()
    gone = f"No longer under this name Hard link library 1 · {read(PLACED)}"
    assert gone in await shown(site)
    text = await shown(site, f"/downloads/{second}")
    assert "In library Hard link" in text
    assert "which is in the trash. Undo" in text
    assert (await site.post("/api/v1/placements/2/undo")).status_code == 200
    house.plane()
    await house.settle()
    text = await shown(site, f"/downloads/{second}")
    # The file that was replaced is back, and the one that took its place is in the trash.
    assert gone in text
    assert text.count("which is in the trash.") == 1


async def test_renames_are_shown_applied_and_undone(house: House, site: httpx2.AsyncClient) -> None:
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.settle()
    assert "Every file has the right name already." in await shown(site, "/library/1/renames")
    named = {"preset": "flat", "episode_file": "{title} {episode:03}"}
    assert (await site.put("/api/v1/libraries/1/naming", json=named)).status_code == 200
    previewed = (await site.post("/api/v1/libraries/1/renames/preview")).json()
    assert previewed["renames"] == [{"path": PLACED, "target": "Yoru no Kurabito/Yoru no Kurabito 001.mkv"}]
    assert "1 file would be renamed Rename 1 file" in await shown(site, "/library/1/renames")
    assert (await site.post("/library/1/renames")).status_code == 303
    house.plane()
    assert house.library() == {"Yoru no Kurabito/Yoru no Kurabito 001.mkv": b"one"}
    assert "1 of 1 renamed Undo" in await shown(site, "/library/1/renames")
    assert (await site.post("/api/v1/renames/1/undo")).json()["undoes_id"] == 1
    house.plane()
    assert house.library() == {PLACED: b"one"}
    assert (await site.post("/library/1/renames/1/undo")).status_code == 409


async def test_what_waits_says_when_it_is_tried_again(house: House, site: httpx2.AsyncClient) -> None:
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one"})
    await house.loop.step()
    house.plane()
    await house.loop.step()
    # The disk of the library is gone before the file comes there.
    house.shelf.path("").rename(house.shelf.folder / "elsewhere")
    house.plane()
    page = await shown(site)
    assert "Mount it" in page
    assert "Next attempt" in page


async def test_a_large_download_shows_what_is_not_done_first_and_how_much_more_there_is(
    house: House, site: httpx2.AsyncClient
) -> None:
    names = [f"[Kura] Yoru no Kurabito - {number:03} [1080p].mkv" for number in range(1, 206)]
    house.download(house.series("Yoru no Kurabito"), "batch", {name: name.encode() for name in names})
    last = house.shelf.path(PLACED.replace("E01", "E205"))
    last.parent.mkdir(parents=True)
    last.write_bytes(b"of the user")
    await house.settle()
    page = await shown(site)
    assert page.index("S01E205.mkv") < page.index("S01E01.mkv")
    assert "5 more files" in page


async def test_a_download_that_failed_for_its_files_is_not_said_to_be_had(
    house: House, site: httpx2.AsyncClient
) -> None:
    house.download(house.series("Yoru no Kurabito"), EPISODE, {EPISODE: b"one", "setup.exe": b"MZ"})
    await house.settle()
    assert house.refused == [(1, ("setup.exe",))]
    house.shelf.run("UPDATE downloads SET status = 'failed'")
    assert "No file of it is added to a library" not in await shown(site)

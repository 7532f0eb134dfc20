"""What is known of a series and its episodes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog.errors import SeriesNotFound
from kurabito.catalog.states import SeriesKind, SeriesOrder, SeriesShelf
from kurabito.clock import SECOND
from kurabito.errors import InvalidInput
from kurabito.feeds.results import FeedItem

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk

    from kurabito.db import Connection


async def test_an_episode_is_unaired_until_its_moment_comes(desk: Desk) -> None:
    titles = [f"[Kura] Show - {number:02}" for number in (1, 2, 3)]
    items = [FeedItem(title=title, download_url=f"https://feeds.example/{title[-2:]}.torrent") for title in titles]
    await desk.bring(desk.subscribe(), *items)
    ((series_id,),) = desk.all("SELECT id FROM series")
    airs = desk.clock.now() + 60 * SECOND
    set_state = "UPDATE episodes SET aired_at = :airs, state = CASE number WHEN 1 THEN 'have' ELSE 'wanted' END"
    desk.database.write_blocking(lambda conn: conn.run(f"{set_state} WHERE number < 3", {"airs": airs}))

    async def states() -> list[str]:
        return [episode.state for episode in (await desk.catalog.episodes(series_id)).items]

    assert await states() == ["have", "unaired", "wanted"]
    desk.clock.advance(60)
    assert await states() == ["have", "wanted", "wanted"]


async def test_pages_of_a_list_give_everything_once(desk: Desk) -> None:
    items = [
        FeedItem(title=f"[Kura] Show {number} - 01", download_url=f"https://feeds.example/{number}.torrent")
        for number in range(7)
    ]
    await desk.bring(desk.subscribe(), *items)
    for listed in (desk.catalog.series, desk.catalog.links, desk.catalog.raw_items):
        seen: list[int] = []
        cursor = None
        while cursor or not seen:
            page = await listed(limit=3, cursor=cursor)
            seen += [one.id for one in page.items]
            cursor = page.next_cursor
        assert len(seen) == 7
        assert seen == sorted(set(seen), reverse=True)
        with pytest.raises(InvalidInput, match="cursor"):
            await listed(cursor="-1")
    for cursor in ("tv", "radio-1", "tv-1e9"):
        with pytest.raises(InvalidInput, match="cursor"):
            await desk.catalog.episodes(1, cursor=cursor)
    with pytest.raises(SeriesNotFound):
        await desk.catalog.episodes(4711)


async def test_series_are_found_by_their_names_and_kinds_in_either_order(desk: Desk) -> None:
    titles = ("[Kura] Yeast Garden - 01", "[Kura] 酵母花园 / Yeast Fields [01]", "[Kura] Copper Vat Movie [BD 1080p]")
    items = [FeedItem(title=title, download_url=f"https://feeds.example/{n}.torrent") for n, title in enumerate(titles)]
    for item in items:
        await desk.bring(desk.subscribe(item.download_url or ""), item)

    async def found(**wanted: Any) -> list[str]:
        return [one.title for one in (await desk.catalog.series(**wanted)).items]

    assert await found(name="yeast") == ["Yeast Fields", "Yeast Garden"]
    assert await found(name="花园") == ["Yeast Fields"]
    assert await found(name="YEAST g") == ["Yeast Garden"]
    assert await found(kind=SeriesKind.MOVIE) == ["Copper Vat"]
    assert await found(order=SeriesOrder.OLDEST) == ["Yeast Garden", "Yeast Fields", "Copper Vat"]
    first = await desk.catalog.series(order=SeriesOrder.OLDEST, limit=2)
    assert await found(order=SeriesOrder.OLDEST, cursor=first.next_cursor) == ["Copper Vat"]
    assert await found(name="%") == ["Copper Vat", "Yeast Fields", "Yeast Garden"]


def _run(statement: str, conn: Connection) -> None:
    conn.run(statement)


async def test_series_are_listed_by_title_by_year_and_by_the_library_that_has_their_files(desk: Desk) -> None:
    titles = ("[Kura] beta - 01", "[Kura] Alpha - 01", "[Kura] Gamma - 01")
    items = [FeedItem(title=title, download_url=f"https://feeds.example/{n}.torrent") for n, title in enumerate(titles)]
    await desk.bring(desk.subscribe(), *items)
    for statement in (
        "UPDATE series SET year = 2019 WHERE title = 'beta'",
        (
            "INSERT INTO metadata (id, kind, year, air_date, created_at, updated_at) "
            "VALUES (1, 'tv', 2019, '2019-10-03', :now, :now)"
        ),
        ("UPDATE episodes SET is_unwanted = 1 WHERE series_id = (SELECT id FROM series WHERE title = 'beta')"),
        "UPDATE series SET metadata_id = 1 WHERE title = 'Gamma'",
        "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'Shows', '/srv', :now, :now)",
        (
            "INSERT INTO library_files (id, library_id, relative_path, size_bytes, mtime_ns, created_at, updated_at) "
            "VALUES (1, 1, 'Alpha/01.mkv', 1, 1, :now, :now)"
        ),
        (
            "INSERT INTO episode_files (episode_id, file_id, created_at) SELECT episodes.id, 1, :now FROM episodes "
            "JOIN series ON series.id = episodes.series_id WHERE series.title = 'Alpha'"
        ),
    ):
        desk.database.write_blocking(partial(_run, statement))

    async def found(**wanted: Any) -> list[str]:
        return [one.title for one in (await desk.catalog.series(order=SeriesOrder.TITLE, **wanted)).items]

    assert await found() == ["Alpha", "beta", "Gamma"]
    first = await desk.catalog.series(order=SeriesOrder.TITLE, limit=2)
    assert await found(cursor=first.next_cursor) == ["Gamma"]
    assert await found(year=2019) == ["beta", "Gamma"]
    assert await found(library_id=1) == ["Alpha"]
    assert await found(quarter=4) == ["Gamma"]
    assert await found(quarter=1) == []
    # What its keeper does not want is not missing.
    assert await found(lacks=True) == ["Alpha", "Gamma"]
    assert await found(lacks=False) == ["beta"]
    change = "UPDATE series SET state = CASE title WHEN 'Gamma' THEN 'followed' ELSE 'ignored' END"
    desk.database.write_blocking(lambda conn: conn.run(change))
    assert await found(shelf=SeriesShelf.COLLECTION) == ["Alpha", "Gamma"]
    first = await desk.catalog.series(order=SeriesOrder.TITLE, shelf=SeriesShelf.COLLECTION, limit=1)
    assert [one.title for one in first.items] == ["Alpha"]
    assert await found(shelf=SeriesShelf.COLLECTION, cursor=first.next_cursor) == ["Gamma"]
    assert await found(shelf=SeriesShelf.LIBRARY_ONLY) == ["Alpha"]
    assert await found(shelf=SeriesShelf.NOT_FOLLOWED) == ["beta"]
    desk.database.write_blocking(lambda conn: conn.run("UPDATE library_files SET is_missing = 1"))
    assert await found(library_id=1) == []
    assert await found(shelf=SeriesShelf.COLLECTION) == ["Gamma"]
    assert await found(shelf=SeriesShelf.NOT_FOLLOWED) == ["Alpha", "beta"]

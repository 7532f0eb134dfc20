"""What is known of a series and its episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kurabito.catalog.errors import SeriesNotFound
from kurabito.catalog.series import SeriesOrder
from kurabito.catalog.states import SeriesKind
from kurabito.clock import SECOND
from kurabito.errors import InvalidInput
from kurabito.feeds.results import FeedItem

if TYPE_CHECKING:
    from tests.integration.catalog.conftest import Desk


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

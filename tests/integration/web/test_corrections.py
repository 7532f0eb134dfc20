"""Corrections on the page: what one would do is said before it is done, and a series may be called by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.catalog.intake import CatalogIntake
from kurabito.feeds.results import FeedItem, FetcherResults
from kurabito.feeds.subscriptions import StartWith, SubscriptionSettings

if TYPE_CHECKING:
    from tests.integration.web.conftest import Site

pytestmark = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
TITLES = (
    "[Kura] Yeast Garden - 01",
    "[Kura] Barley Song - 02",
    "[Kura] Barley Song OVA - 01",
    "[Kura] Barley Vat - 01",
)


async def bring(site: Site, *titles: str) -> None:
    settings = SubscriptionSettings(name="Feed", url="https://feeds.example/")
    feed = await site.feeds.subscriptions.create(settings, StartWith.MISSING)
    for number, title in enumerate(titles or TITLES):
        items = (FeedItem(title=title, download_url=f"https://feeds.example/{number}.torrent"),)
        await CatalogIntake(site.queue.database).receive(FetcherResults(subscription_id=feed.id, items=items))


async def places(site: Site) -> list[tuple[object, ...]]:
    sql = (
        "SELECT link.series_id, episode.kind, episode.number FROM anime_links AS link "
        "JOIN episodes AS episode ON episode.id = link.episode_id ORDER BY link.id"
    )
    return await site.queue.database.read(lambda conn: conn.all(sql))


async def test_a_release_goes_to_a_series_that_is_called_by_its_name(site: Site) -> None:
    await bring(site)
    before = await places(site)
    assert "belongs to “Barley Song”" in await site.read("/links/1/move", series="barley song")
    assert "1 release" in await site.read("/links/1/move", series="Barley Vat")
    for unclear in ("barley", "nothing of that name", "!"):
        assert (await site.get("/links/1/move", series=unclear)).status_code == 422
    assert (await site.get("/links/4711/move", series="2")).status_code == 404
    site.client.headers["Accept-Language"] = "ja"
    for asked, said in (
        ({"series": "barley"}, "一覧から選んでください"),
        ({"episode": "two"}, "話数を一つ入力してください"),
    ):
        page = await site.client.get("/links/1/move", params=asked, headers={"Accept": "text/html"})
        assert said in page.text
        assert 'class="hint" lang="en"' not in page.text
    del site.client.headers["Accept-Language"]
    assert await places(site) == before
    await site.post("/links/1/move", series="2")
    assert (await places(site))[0] == (2, "tv", 1.0)


async def test_a_special_stays_one_under_another_number(site: Site) -> None:
    await bring(site)
    page = await site.get("/series/2")
    assert '<input type="hidden" name="kind" value="ova">' in page.text
    assert "is episode 3." in await site.read("/links/3/move", episode="3", kind="ova")
    assert (await site.get("/links/3/move", episode="3", kind="nonsense")).status_code == 422
    await site.post("/links/3/move", episode="3", kind="ova")
    assert (await places(site))[2] == (2, "ova", 3.0)


async def test_links_alone_are_split_off(site: Site) -> None:
    await bring(site)
    assert "1 release No file on disk changes." in await site.read("/series/2/split", link="3")
    assert (await site.get("/series/2/split")).status_code == 409
    await site.post("/series/2/split", link=["3"])
    left, gone = (await places(site))[1:3]
    assert left == (2, "tv", 2.0)
    assert gone[0] != 2
    assert gone[1:] == ("ova", 1.0)


async def test_a_question_without_candidates_is_answered_by_the_name_of_a_series(site: Site) -> None:
    await bring(site, *TITLES, "[Kura] 1917 - 05")
    page = await site.read("/questions")
    assert "The name alone does not say which show this is." in page
    assert '<option value="2">Barley Song' in (await site.get("/questions")).text
    assert (await site.post("/questions/1/answer", series="nothing of that name")).status_code == 422
    await site.post("/questions/1/answer", series="barley song")
    assert (await places(site))[-1] == (2, "tv", 5.0)
    assert "No release needs you." in await site.read("/questions")

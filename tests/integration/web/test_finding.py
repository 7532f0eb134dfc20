"""The pages of indexers and of the search."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator

import pytest
from tests.integration.web.conftest import Site
from tests.support.indexers import KEY, Answered, StandIn, caps, channel, jackett_item, prowlarr_item, standing_in

from kurabito.db import Connection
from kurabito.metadata import records
from kurabito.metadata.records import Details


@pytest.fixture
async def jackett() -> AsyncIterator[StandIn]:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        items = (jackett_item(server.url(), 7), prowlarr_item(server.url(), 8, usenet=True))
        return Answered(caps() if query["t"] == "caps" else channel(*items))

    async with standing_in(respond) as server:
        yield server


async def test_an_indexer_is_added_tested_changed_and_removed(site: Site, jackett: StandIn) -> None:
    pasted = jackett.url(f"/api/v2.0/indexers/nyaasi/results/torznab/?apikey={KEY}")
    refused = await site.post("/search/indexers", name="Jackett", url="ftp://nas", api_key=KEY)
    assert refused.status_code == 422
    added = await site.post("/search/indexers", name="Jackett", url=pasted, allows_private="yes")
    assert "Not used yet" in added.text
    tested = await site.post("/search/indexers/1/test")
    assert "It works: 2 results" in tested.text
    changed = await site.post("/search/indexers/1", min_seeders="5", priority="1", per_hour="0", is_enabled="yes")
    assert (changed.status_code, "This number cannot be used" in changed.text) == (422, True)
    changed = await site.post("/search/indexers/1", min_seeders="5", priority="1", per_hour="9", is_enabled="")
    assert 'data-tone="off"' in changed.text
    assert (await site.feeds.indexers.get(1)).settings.api_key == KEY
    assert KEY not in refused.text + added.text + tested.text + changed.text
    assert "No indexers yet" in (await site.post("/search/indexers/1/remove")).text


async def test_everything_about_an_indexer_can_be_changed_on_its_page(site: Site, jackett: StandIn) -> None:
    await site.post("/search/indexers", name="Jackett", url=jackett.url(f"/?apikey={KEY}"), allows_private="yes")
    await site.post("/search/indexers/sites", site="mikan")
    usual = {"min_seeders": "0", "per_hour": "60", "is_enabled": "yes"}
    named = {"name": "Second", "url": jackett.url("/2/api"), "allows_private": "yes", "categories": "5070, 2000"}
    changed = await site.post(
        "/search/indexers/1", **usual, **named, priority="-5", seed_ratio="1.5", seed_minutes="60"
    )
    assert changed.status_code == 200
    settings = (await site.feeds.indexers.get(1)).settings
    # The same host: its key stays.
    assert (settings.name, settings.url, settings.api_key) == ("Second", jackett.url("/2/api"), KEY)
    assert (settings.categories, settings.priority, settings.allows_private) == ((5070, 2000), -5, True)
    refused = await site.post("/search/indexers/1", **usual, **{**named, "categories": "all"}, priority="0")
    assert (refused.status_code, "These categories cannot be used" in refused.text) == (422, True)
    assert (await site.post("/search/indexers/1", **usual, **named, priority="-5000")).status_code == 422
    await site.post("/search/indexers/2", **usual, name="Mikan", url="https://mirror.example/", priority="0")
    assert (await site.feeds.indexers.get(2)).settings.url == "https://mirror.example"
    await site.post("/search/indexers/2", **usual, name="Mikan", url="", priority="0")
    assert (await site.feeds.indexers.get(2)).settings.url is None
    await site.post("/search/indexers/1/test")
    page = await site.read("/search/indexers")
    assert re.search("Last queries Second Test 2 results", page)


async def test_a_site_is_switched_on(site: Site) -> None:
    page = await site.read("/search/indexers")
    assert re.search("TokyoTosho www.tokyotosho.info Untested Add", page)
    added = await site.post("/search/indexers/sites", site="mikan")
    assert [one.settings.name for one in await site.feeds.indexers.everything()] == ["Mikan"]
    assert 'value="mikan"' not in added.text
    assert (await site.post("/search/indexers/sites", site="none")).status_code == 422


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "New series, not followed"), ("ja", "フォローしていない"), ("zh-Hans", "未关注"), ("zh-Hant", "未追蹤")],
)
async def test_a_release_is_found_and_grabbed(site: Site, jackett: StandIn, language: str, words: str) -> None:
    site.client.headers["Accept-Language"] = language
    empty = await site.get("/search", q="Yoru no Kurabito")
    assert empty.status_code == 200
    await site.post("/search/indexers", name="Jackett", url=jackett.url(f"/?apikey={KEY}"), allows_private="yes")
    found = await site.get("/search", q="Yoru no Kurabito")
    assert words in found.text
    (key,) = re.findall(r'name="key" value="([^"]+)"', found.text)
    grabbed = await site.post("/search/grab", key=key)
    assert (grabbed.status_code, grabbed.url.path) == (200, "/downloads")
    assert "Yoru no Kurabito" in grabbed.text
    assert (await site.post("/search/grab", key="unknown")).status_code == 404
    assert KEY not in found.text + grabbed.text


async def test_a_feed_that_is_pasted_into_the_search_is_followed(site: Site) -> None:
    pasted = "https://127.0.0.1/rss?a=1"
    await site.get("/search/answers", q=pasted)  # until it is known what the link is
    sent = await site.get("/search", q=pasted)
    assert sent.status_code == 303
    assert f'value="{pasted}"' in (await site.get(sent.headers["location"])).text


def _follow(conn: Connection) -> None:
    conn.run(
        "INSERT INTO series (id, title, season, kind, episode_offset, state, created_at, updated_at) "
        "VALUES (1, 'The Lantern', 1, 'tv', 0, 'followed', :now, :now)"
    )
    conn.run(
        "INSERT INTO series_aliases (series_id, name, folded, season, kind, source) "
        "VALUES (1, 'The Lantern', 'thelantern', 1, 'tv', 'keeper')"
    )


async def test_a_page_is_shown_before_the_last_answer_and_told_of_it(site: Site) -> None:
    slow = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await slow.wait()
        writer.close()

    def respond(_path: str, query: dict[str, str]) -> Answered:
        return Answered(caps() if query["t"] == "caps" else channel(jackett_item("http://a.example", 7)))

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with standing_in(respond) as fast:
        port = server.sockets[0].getsockname()[1]
        await site.post("/search/indexers", name="Fast", url=fast.url("/1/api"), allows_private="yes")
        await site.post("/search/indexers", name="Slow", url=f"http://127.0.0.1:{port}/api", allows_private="yes")
        first = await site.get("/search", q="Yoru no Kurabito")
        assert "Yoru no Kurabito - 07" in first.text
        (stream,) = re.findall(r'data-answers="([^"]+)"', first.text)
        groups = await site.get("/search/groups", q="Yoru no Kurabito")
        assert f'data-answers="{stream}"' in groups.text
        assert 'name="key"' in groups.text
        # What is missing of a show is searched for in the background, too.
        await site.queue.database.write(_follow)
        plan = (await site.get("/series/1/backfill")).text
        assert 'id="backfill" data-live data-every="1"' in plan
        assert "Searching the indexers…" in plan
        slow.set()
        told = await site.client.get(html.unescape(stream))
        assert told.text.endswith("event: done\ndata: {}\n\n")
        last = await site.get("/search", q="Yoru no Kurabito")
        assert "data-answers" not in last.text
        assert "data-answers" not in (await site.get("/search/groups", q="Yoru no Kurabito")).text
        assert "Slow" in last.text
        # The page was asked for three times, and the indexer once for what it can do and once for results.
        assert [query["t"] for _, query in fast.asked if query.get("q") != "The Lantern"] == ["caps", "search"]
        while 'data-every="1"' in plan:
            plan = (await site.get("/series/1/backfill")).text
        assert "Nothing to download" in plan
    server.close()


async def test_a_profile_is_made_changed_and_used_by_a_show(site: Site) -> None:
    filled = {
        "name": "Small", "is_default": "yes", "conflict_policy": "best", "wait_minutes": "30", "groups": "Kura, Bito",
        "resolutions": "1080p、720", "terms": "50 HEVC\n-100 /hard.?sub/", "batches": "any", "most_mb": "12,5",
    }  # fmt: skip
    refused = await site.post("/rules/profiles", **{**filled, "terms": "HEVC"})
    assert (refused.status_code, "HEVC" in refused.text) == (422, True)
    made = await site.post("/rules/profiles", **filled)
    assert ("Small" in made.text, "Default" in made.text) == (True, True)
    shown = await site.get("/rules/profiles/1")
    for text in ('value="Kura, Bito"', 'value="1080, 720"', "-100 /hard.?sub/", 'value="12.5"', "is worth"):
        assert text in shown.text
    magnet = f"magnet:?xt=urn:btih:{5:040x}&dn=%5BKura%5D%20Yoru%20-%2005%20%5B1080p%5D"
    found = await site.get("/search", q=magnet)
    (key,) = re.findall(r'name="key" value="([^"]+)"', found.text)
    await site.post("/search/grab", key=key)
    own = await site.post("/series/1/profile/own", conflict_policy="ask", groups="Kura", batches="any")
    assert "Its own preferences" in own.text
    assert "Its own preferences" not in (await site.post("/series/1/profile", profile="1")).text
    assert "No profiles yet" in (await site.post("/rules/profiles/1/remove")).text
    assert (await site.get("/rules/profiles/1")).status_code == 404


@pytest.mark.parametrize("language", ["en", "ja", "zh-Hans", "zh-Hant"])
async def test_the_list_of_failed_releases_is_shown(site: Site, language: str) -> None:
    site.client.headers["Accept-Language"] = language
    assert (await site.get("/downloads/blocklist")).status_code == 200
    assert (await site.post("/downloads/blocklist/clear")).status_code == 200
    assert (await site.post("/downloads/blocklist/7/clear")).status_code == 404


@pytest.mark.parametrize("language", ["en", "ja", "zh-Hans", "zh-Hant"])
async def test_what_is_wanted_is_shown_searched_for_and_fetched(site: Site, jackett: StandIn, language: str) -> None:
    site.client.headers["Accept-Language"] = language
    assert (await site.get("/wanted")).status_code == 200
    await site.post("/search/indexers", name="Jackett", url=jackett.url("/"), allows_private="yes")
    found = await site.get("/search", q="Yoru no Kurabito")
    (key,) = re.findall(r'name="key" value="([^"]+)"', found.text)
    await site.post("/search/grab", key=key)
    await site.post("/series/1/state", state="followed")

    def lose(conn: Connection) -> None:
        conn.run("DELETE FROM downloads")
        conn.run("UPDATE episodes SET state = 'wanted'")

    await site.queue.database.write(lose)
    for path in ("/wanted", "/wanted?by=show"):
        assert "Yoru no Kurabito" in (await site.get(path)).text
    plan = await site.get("/series/1/backfill")
    assert re.findall(r'name="key" value="([^"]+)"', plan.text) == [key]
    searched = await site.post("/wanted/search", episode="1")
    assert 'data-tone="active"' in searched.text
    assert 'value="off"' in (await site.post("/wanted/policy", is_automatic="on")).text
    before = len(jackett.asked)
    switched = await site.post("/series/1/automatic-search", is_automatic="off")
    assert re.search('value="off" aria-pressed="true"', switched.text)
    # The page is shown again without another request.
    assert len(jackett.asked) == before
    await site.post("/series/1/backfill", key=key)
    assert "Yoru no Kurabito" not in (await site.get("/wanted")).text


@pytest.mark.parametrize("language", ["en", "ja", "zh-Hans", "zh-Hant"])
async def test_a_group_is_chosen_and_its_show_followed(site: Site, jackett: StandIn, language: str) -> None:
    site.client.headers["Accept-Language"] = language
    assert (await site.get("/search/groups")).status_code in (200, 303)
    await site.post("/search/indexers", name="Jackett", url=jackett.url("/"), allows_private="yes")
    groups = await site.get("/search/groups", q="Yoru no Kurabito")
    assert "1080p" in groups.text
    (key,) = re.findall(r'name="key" value="([^"]+)"', groups.text)
    followed = await site.post("/search/groups", key=key)
    assert (followed.status_code, followed.url.path) == (200, "/series/1")


async def test_wanted_episodes_have_the_title_that_their_reader_knows(site: Site) -> None:
    def lack(conn: Connection) -> None:
        record = records.add(conn, Details(title_japanese="夜の蔵人", title_chinese="夜之藏人", title_english="Night"))
        conn.run(
            "INSERT INTO series (id, title, season, kind, metadata_id, episode_offset, state, created_at, updated_at) "
            "VALUES (1, 'Yoru no Kurabito', 2, 'tv', :record, 0, 'followed', :now, :now)",
            {"record": record.id},
        )
        for number in range(1, 503):
            conn.run(
                "INSERT INTO episodes (series_id, kind, number, state, aired_at, created_at, updated_at) "
                "VALUES (1, 'tv', :number, 'wanted', :now - 86400000000, :now, :now)",
                {"number": number},
            )

    await site.queue.database.write(lack)
    for language, title in (("en", "Night"), ("ja", "夜の蔵人"), ("zh-Hant", "夜之藏人")):
        site.client.headers["Accept-Language"] = language
        for path in ("/wanted", "/wanted?by=show"):
            page = (await site.get(path)).text
            assert f"<bdi>{title}</bdi>" in page
            assert "Yoru" not in page
            assert page.count('name="episode"') == 500
            # What is left out is said.
            assert 'id="not-all"' in page
        # So do the pages of one show.
        for path in ("/series/1/profile", "/series/1/backfill", "/history?series=1"):
            page = (await site.get(path)).text
            assert title in page, path
            assert "Yoru" not in page, path

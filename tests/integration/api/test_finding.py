"""Indexers and the search through them, over the API and each database."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest
from tests.integration.api.conftest import Site
from tests.support.indexers import (
    KEY,
    Answered,
    StandIn,
    caps,
    channel,
    error,
    jackett_item,
    private_item,
    private_torrent,
    prowlarr_item,
    standing_in,
)

MAGNET = f"magnet:?xt=urn:btih:{8:040x}&dn=Kura"


@pytest.fixture
async def prowlarr() -> AsyncIterator[StandIn]:
    """Episodes 7 and 8; the link of 8 leads to its magnet. `limited` is asked too often."""

    def respond(path: str, query: dict[str, str]) -> Answered:
        if path.endswith("/download"):
            return Answered(status="301 Moved Permanently", headers={"location": MAGNET})
        if query["t"] == "caps":
            return Answered(caps())
        if path.startswith("/limited"):
            return Answered(error(900, "slow down"), "429 Too Many Requests", {"retry-after": "600"})
        host = server.url()
        return Answered(channel(jackett_item(host, 7), prowlarr_item(host, 8), prowlarr_item(host, 9, usenet=True)))

    async with standing_in(respond) as server:
        yield server


async def add(site: Site, url: str, name: str = "Kura", **others: Any) -> dict[str, Any]:
    order = {"name": name, "url": url, "allows_private": True, **others}
    reply = await site.http.post("/api/v1/indexers", json=order)
    assert reply.status_code == 201, reply.text
    return dict(reply.json())


async def test_a_key_is_written_and_never_shown(site: Site, prowlarr: StandIn) -> None:
    made = await add(site, prowlarr.url(f"/1/api?t=caps&apikey={KEY}"))
    assert (made["url"], made["has_key"], made["health"]) == (prowlarr.url("/1/api"), True, "new")
    tested = await site.http.post(f"/api/v1/indexers/{made['id']}/test")
    found = await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})
    listed = await site.http.get("/api/v1/indexers")
    queries = await site.http.get(f"/api/v1/indexers/{made['id']}/queries")
    assert (tested.json()["is_good"], tested.json()["results"]) == (True, 3)
    assert [one["text"] for one in queries.json()["items"]] == ["Yoru no Kurabito", ""]
    assert all(asked["apikey"] == KEY for _, asked in prowlarr.asked)
    assert KEY not in "".join(reply.text for reply in (tested, found, listed, queries))
    # A key is its host's own.
    moved = await site.http.patch(f"/api/v1/indexers/{made['id']}", json={"url": "https://other.example/api"})
    assert (moved.json()["has_key"], moved.json()["allows_private"]) == (False, False)


async def test_results_are_merged_decided_and_grabbed(site: Site, prowlarr: StandIn) -> None:
    await add(site, prowlarr.url(f"/1/api?apikey={KEY}"), "One", priority=5)
    await add(site, prowlarr.url(f"/2/api?apikey={KEY}"), "Two")
    answer = (await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})).json()
    by_episode = {tuple(one["release"]["episodes"]): one for one in answer["items"] if one["release"]}
    seventh, eighth = by_episode[7.0,], by_episode[8.0,]
    assert sorted(seventh["indexers"]) == ["One", "Two"]
    assert (seventh["is_taken"], seventh["why"]["code"]) == (False, "series_new")
    assert eighth["release"]["download_type"] == "torrent"
    (usenet,) = (one for one in answer["items"] if one["release"] is None)
    assert usenet["why"]["code"] == "usenet"

    refused = await site.http.post("/api/v1/releases/grab", json={"key": usenet["key"]})
    unknown = await site.http.post("/api/v1/releases/grab", json={"key": "url:0"})
    assert (refused.status_code, unknown.status_code) == (409, 404)
    assert (await site.http.get("/api/v1/downloads")).json()["items"] == []

    grabbed = await site.http.post("/api/v1/releases/grab", json={"key": eighth["key"]})
    assert grabbed.status_code == 202, grabbed.text
    assert len(grabbed.json()["download_ids"]) == 1
    again = await site.http.post("/api/v1/releases/grab", json={"key": eighth["key"]})
    assert again.json() == grabbed.json()
    (link,) = (await site.http.get("/api/v1/links")).json()["items"]
    # Its link had the key in it and redirected to a magnet, which is what is stored.
    assert (link["url"], link["download_type"], link["episode"]) == (MAGNET, "magnet", 8.0)
    (series,) = (await site.http.get("/api/v1/series")).json()["items"]
    assert series["state"] == "asked"
    states = (await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})).json()["items"]
    assert {one["why"]["code"] for one in states if one["release"]} == {"series_asked"}
    await site.http.patch(f"/api/v1/series/{series['id']}", json={"state": "followed"})
    followed = (await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})).json()["items"]
    decided = {tuple(one["release"]["episodes"]): one["why"] for one in followed if one["release"]}
    assert decided[7.0,] is None
    assert decided[8.0,]["code"] == "under_way"
    rule = {"name": "no Kura", "action": "exclude", "pattern": "Kurabito - 07"}
    assert (await site.http.post("/api/v1/filters", json=rule)).status_code == 201
    filtered = (await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})).json()["items"]
    assert {"code": "excluded", "facts": {"rule": "no Kura"}} in [one["why"] for one in filtered]


async def test_an_indexer_that_is_asked_too_often_rests(site: Site, prowlarr: StandIn) -> None:
    limited = await add(site, prowlarr.url("/limited/api"), "Limited")
    once = await add(site, prowlarr.url("/1/api"), "Once", per_hour=2)
    codes = []
    for _ in range(2):
        answer = (await site.http.get("/api/v1/search", params={"q": "Kura"})).json()
        codes.append({one["name"]: one["error_code"] for one in answer["indexers"]})
    assert codes == [
        {"Limited": "indexer_limited", "Once": None},
        {"Limited": "indexer_resting", "Once": "indexer_resting"},
    ]
    assert len([path for path, asked in prowlarr.asked if asked.get("t") == "search"]) == 2
    health = {one["id"]: one for one in (await site.http.get("/api/v1/indexers")).json()["items"]}
    assert (health[limited["id"]]["health"], health[once["id"]]["health"]) == ("limited", "healthy")
    for _ in range(2):
        await site.http.post(f"/api/v1/indexers/{limited['id']}/test")
    attention = (await site.http.get("/api/v1/attention")).json()["items"]
    assert [one["action"] for one in attention if one["code"] == "indexer_failing"] == [
        {"id": "test_indexer", "target": limited["id"]}
    ]


async def test_a_search_is_told_answer_by_answer(site: Site, prowlarr: StandIn) -> None:
    await add(site, prowlarr.url("/1/api"), "One")
    await add(site, prowlarr.url("/limited/api"), "Limited")
    reply = await site.http.get("/api/v1/search", params={"q": "Kura"}, headers={"Accept": "text/event-stream"})
    events = [dict(line.split(": ", 1) for line in event.split("\n")) for event in reply.text.strip().split("\n\n")]
    assert [event["event"] for event in events] == ["found", "found", "done"]
    assert [len(json.loads(event["data"])["indexers"]) for event in events[:2]] == [1, 2]


async def test_sites_are_added_by_their_key(site: Site) -> None:
    sites = {one["key"]: one for one in (await site.http.get("/api/v1/indexers/sites")).json()["items"]}
    assert {"mikan", "nyaa", "acgrip", "dmhy", "bangumi_moe", "animetosho", "tokyotosho"} <= set(sites)
    assert [key for key, one in sites.items() if not one["is_tested"]] == ["animetosho", "bangumi_moe", "tokyotosho"]
    made = await site.http.post("/api/v1/indexers", json={"kind": "site", "name": "DMHY", "site": "dmhy"})
    assert (made.status_code, made.json()["per_hour"], made.json()["url"]) == (201, 30, None)
    twice = await site.http.post("/api/v1/indexers", json={"kind": "site", "name": "DMHY", "site": "nyaa"})
    unknown = await site.http.post("/api/v1/indexers", json={"kind": "site", "name": "No", "site": "no"})
    assert (twice.status_code, unknown.status_code) == (409, 422)
    gone = await site.http.delete(f"/api/v1/indexers/{made.json()['id']}")
    missing = await site.http.post(f"/api/v1/indexers/{made.json()['id']}/test")
    assert (gone.status_code, missing.status_code) == (204, 404)


async def test_every_request_counts_towards_the_limit_of_an_hour(site: Site) -> None:
    def respond(_path: str, query: dict[str, str]) -> Answered:
        if query.get("t") == "caps":
            return Answered(caps(limit=2))
        first = int(query.get("offset", 0))
        return Answered(channel(*(jackett_item(server.url(), one) for one in range(first, first + 2))))

    async with standing_in(respond) as server:
        await add(site, server.url("/1/api"), per_hour=4)
        first = (await site.http.get("/api/v1/search", params={"q": "Kura"})).json()
        again = (await site.http.get("/api/v1/search", params={"q": "Bito"})).json()
    # What it can do, and three pages: the rest of them would be too many.
    assert len(server.asked) == 4
    assert [(one["results"], one["is_whole"], one["error_code"]) for one in first["indexers"]] == [(6, False, None)]
    assert [one["error_code"] for one in again["indexers"]] == ["indexer_resting"]
    (indexer,) = (await site.http.get("/api/v1/indexers")).json()["items"]
    assert (indexer["health"], indexer["failures"]) == ("healthy", 0)


async def test_an_indexer_is_asked_through_its_own_proxy(site: Site, prowlarr: StandIn) -> None:
    asked: list[str] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    refused = await site.http.post(
        "/api/v1/indexers", json={"name": "No", "url": "http://a.example", "proxy": "ftp://a"}
    )
    assert refused.status_code == 422
    url = f"http://me:hunter2@127.0.0.1:{port}"
    made = await add(site, "http://indexer.example/api", "Far", allows_private=False, proxy=url)
    shown = f"http://127.0.0.1:{port}"
    assert made["proxy"] == shown
    answer = (await site.http.get("/api/v1/search", params={"q": "Kura"})).json()
    assert asked[0].startswith("GET http://indexer.example/api?t=caps")
    changed = await site.http.patch(f"/api/v1/indexers/{made['id']}", json={"proxy": shown, "seed_ratio": 2.5})
    assert (changed.json()["proxy"], changed.json()["seed_ratio"]) == (shown, 2.5)
    # As it was shown, it stays with its login.
    await site.http.post(f"/api/v1/indexers/{made['id']}/test")
    assert [b64encode(b"me:hunter2").decode() in head for head in asked] == [True, True]
    gone = await site.http.patch(f"/api/v1/indexers/{made['id']}", json={"proxy": None})
    assert gone.json()["proxy"] is None
    assert "hunter2" not in json.dumps([made, answer, changed.json()])
    server.close()


async def test_a_key_reaches_no_answer_whatever_an_indexer_sends(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """The key in the title, in ids, in the trackers of a magnet and of a torrent, in errors, and in where a link leads."""
    passkey = "deadbeef0123456789deadbeef012345"
    tracker = f"https://tracker.example/{passkey}/announce"
    magnet = f"magnet:?xt=urn:btih:{7:040x}&amp;dn={KEY}&amp;tr={quote(tracker)}&amp;tr=udp%3A%2F%2Fopen.example%3A80"
    announce = tracker.encode()
    torrent = (
        b"d8:announce%d:%b4:infod6:lengthi5e4:name4:Kura12:piece lengthi16384e6:pieces20:" % (len(announce), announce)
        + b"x" * 20
        + b"ee"
    )

    def respond(path: str, query: dict[str, str]) -> Answered:
        if path.endswith("/download"):
            return Answered(torrent) if "Zm9v8" in query["link"] else Answered(b"", "500 Oh no")
        if query["t"] == "caps":
            return Answered(caps())
        echoed = jackett_item(server.url(), 7).replace("[Kura]", f"[{KEY}]").replace("tracker.example/7", KEY)
        echoed = re.sub(r'name="magneturl" value="[^"]*"', f'name="magneturl" value="{magnet}"', echoed)
        return Answered(channel(echoed, prowlarr_item(server.url(), 8), prowlarr_item(server.url(), 9)))

    caplog.set_level("DEBUG")
    async with standing_in(respond) as server:
        made = await add(site, server.url(f"/1/api?apikey={KEY}"))
        found = await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})
        keys = {tuple(one["release"]["episodes"]): one["key"] for one in found.json()["items"]}
        grabs = [await site.http.post("/api/v1/releases/grab", json={"key": key}) for key in keys.values()]
        assert sorted(grab.status_code for grab in grabs) == [202, 202, 502]
    told = [found, *grabs]
    shown = ("links", "downloads", "raw-items", "indexers", f"indexers/{made['id']}/queries", "series", "attention")
    told += [await site.http.get(f"/api/v1/{path}") for path in shown]
    everything = "".join(reply.text for reply in told) + caplog.text
    assert KEY not in everything
    assert passkey not in everything
    (seventh,) = (one for one in told[4].json()["items"] if one["episode"] == 7.0)
    assert seventh["url"] == f"magnet:?xt=urn:btih:{7:040x}&tr=udp%3A%2F%2Fopen.example%3A80"


async def test_a_private_torrent_is_grabbed_and_its_passkey_reaches_no_answer(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    passkey = "deadbeef0123456789deadbeef012345"
    torrent, digest = private_torrent(passkey)
    magnet = f"magnet:?xt=urn:btih:{digest}&amp;tr={quote(f'https://members.example/announce/{passkey}')}"

    def respond(path: str, query: dict[str, str]) -> Answered:
        if path.startswith("/dl/"):
            return Answered(torrent)
        return Answered(caps() if query["t"] == "caps" else channel(private_item(server.url(), 7, magnet)))

    caplog.set_level("DEBUG")
    async with standing_in(respond) as server:
        await add(site, server.url(f"/api?apikey={KEY}"))
        found = await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})
        (one,) = found.json()["items"]
        grabbed = await site.http.post("/api/v1/releases/grab", json={"key": one["key"]})
        again = await site.http.post("/api/v1/releases/grab", json={"key": one["key"]})
    assert (grabbed.status_code, again.json()) == (202, grabbed.json())
    (download,) = grabbed.json()["download_ids"]
    links = await site.http.get("/api/v1/links")
    (link,) = links.json()["items"]
    # Never as a magnet link: that would have its peers looked for elsewhere.
    assert (link["url"], link["download_type"], link["hash"]) == (f"torrent:{digest}", "torrent", digest)
    api = ("downloads", f"downloads/{download}", "history", "raw-items", "indexers", "series", "attention", "tasks")
    pages = ("downloads", f"downloads/{download}", "history", "search", "series/1", "wanted", "tasks")
    exports = ("/api/v1/history/export?format=csv", "/api/v1/history/export?format=json")
    told = [found, grabbed, again, links]
    told += [await site.http.get(path) for path in (*(f"/api/v1/{one}" for one in api), *exports)]
    told += [await site.http.get(f"/{one}", headers={"Accept": "text/html"}) for one in pages]
    assert {reply.status_code for reply in told} == {200, 202}
    everything = "".join(reply.text for reply in told) + caplog.text
    assert passkey not in everything
    assert KEY not in everything


async def test_a_link_to_another_program_of_the_same_machine_is_not_followed(site: Site) -> None:
    async with standing_in(lambda _path, _query: Answered(b"done")) as other:

        def respond(_path: str, query: dict[str, str]) -> Answered:
            return Answered(caps() if query["t"] == "caps" else channel(prowlarr_item(other.url(), 7)))

        async with standing_in(respond) as server:
            await add(site, server.url("/api"))
            found = (await site.http.get("/api/v1/search", params={"q": "Yoru"})).json()["items"]
            grabbed = await site.http.post("/api/v1/releases/grab", json={"key": found[0]["key"]})
        assert (grabbed.status_code, other.asked) == (422, [])


async def test_a_series_is_searched_for_in_its_spellings(site: Site, prowlarr: StandIn) -> None:
    await add(site, prowlarr.url("/1/api"))
    found = (await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})).json()["items"]
    await site.http.post("/api/v1/releases/grab", json={"key": next(one["key"] for one in found if one["release"])})
    (series,) = (await site.http.get("/api/v1/series")).json()["items"]
    names = [{"name": name, "season": 1} for name in ("Yoru no Kurabito", "夜の蔵人", "Kurabito of the Night")]
    changed = await site.http.patch(f"/api/v1/series/{series['id']}", json={"aliases": names, "episode_offset": 12})
    assert changed.status_code == 200, changed.text
    prowlarr.asked.clear()
    reply = await site.http.get("/api/v1/search", params={"series_id": series["id"], "episode": 3})
    assert reply.status_code == 200, reply.text
    asked = [(query["q"], query.get("ep")) for _, query in prowlarr.asked]
    # Titles count on from an earlier season, which season and episode do not.
    assert asked == [
        ("Yoru no Kurabito 15", None),
        ("Yoru no Kurabito", "3"),
        ("夜の蔵人 15", None),
        ("Kurabito of the Night 15", None),
    ]
    assert (await site.http.get("/api/v1/search")).status_code == 422


async def test_a_pasted_magnet_is_grabbed(site: Site) -> None:
    text = f"magnet:?xt=urn:btih:{5:040x}&dn=%5BKura%5D%20Yoru%20no%20Kurabito%20-%2005%20%5B1080p%5D"
    answer = (await site.http.get("/api/v1/search", params={"q": text})).json()
    (found,) = answer["items"]
    assert (answer["indexers"], found["indexers"], found["release"]["episodes"]) == ([], [], [5.0])
    grabbed = await site.http.post("/api/v1/releases/grab", json={"key": found["key"]})
    assert grabbed.status_code == 202
    (link,) = (await site.http.get("/api/v1/links")).json()["items"]
    assert link["url"] == text


async def test_preferences_decide_search_and_feeds_alike(site: Site, prowlarr: StandIn) -> None:
    await add(site, prowlarr.url("/1/api"))
    found = (await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})).json()["items"]
    eighth = next(one["key"] for one in found if one["release"] and one["release"]["episodes"] == [8.0])
    await site.http.post("/api/v1/releases/grab", json={"key": eighth})
    (series,) = (await site.http.get("/api/v1/series")).json()["items"]
    own = f"/api/v1/series/{series['id']}/profile"
    await site.http.patch(f"/api/v1/series/{series['id']}", json={"state": "followed"})
    assert (await site.http.get(own)).json() is None

    body = {"name": "Small", "is_default": True, "preferences": {"groups": ["Kura"], "most_mb": 20}}
    small = (await site.http.post("/api/v1/profiles", json=body)).json()
    assert (small["is_default"], small["preferences"]["most_mb"], small["steps"]["version"]) == (True, 20.0, 1)
    assert (await site.http.post("/api/v1/profiles", json=body)).status_code == 409
    assert (await site.http.get(own)).json()["id"] == small["id"]

    async def seventh() -> dict[str, Any]:
        items = (await site.http.get("/api/v1/search", params={"q": "Yoru no Kurabito"})).json()["items"]
        return next(one for one in items if one["release"] and one["release"]["episodes"] == [7.0])

    # 639 MB for an episode.
    refused = await seventh()
    assert (refused["why"]["code"], refused["why"]["facts"]) == ("too_large", {"mb": 26.6, "most": 20.0})
    large = {"own": {"upgrade": True, "preferences": {"terms": [{"text": "1080p", "points": 5}]}}}
    assert (await site.http.put(own, json=large)).json()["series_id"] == series["id"]
    taken = await seventh()
    assert (taken["why"], {"name": "term", "points": 5, "what": "1080p"} in taken["score_parts"]) == (None, True)
    bad = {"own": {"preferences": {"terms": [{"text": "(", "points": 1, "is_pattern": True}]}}}
    assert (await site.http.put(own, json=bad)).status_code == 422
    assert (await site.http.put(own, json={"profile_id": 999})).status_code == 404
    assert (await site.http.put(own, json={})).json()["id"] == small["id"]
    assert (await seventh())["why"]["code"] == "too_large"
    assert (await site.http.delete(f"/api/v1/profiles/{small['id']}")).status_code == 204
    assert (await seventh())["why"] is None


async def test_what_is_wanted_is_listed_and_switched_on(site: Site, prowlarr: StandIn) -> None:
    await add(site, prowlarr.url("/1/api"))
    assert (await site.http.get("/api/v1/wanted")).json()["items"] == []
    assert (await site.http.get("/api/v1/wanted/policy")).json() == {"is_automatic": False}
    assert (await site.http.put("/api/v1/wanted/policy", json={"is_automatic": True})).status_code == 200
    assert (await site.http.get("/api/v1/wanted/policy")).json() == {"is_automatic": True}
    assert (await site.http.post("/api/v1/wanted/search", json={})).json() == {"asked": 0}
    unknown = await site.http.put("/api/v1/series/9/automatic-search", json={"is_automatic": None})
    assert unknown.status_code == 404
    assert (await site.http.get("/api/v1/series/9/backfill")).status_code == 404
    assert (await site.http.get("/api/v1/blocklist")).json()["items"] == []
    assert (await site.http.delete("/api/v1/blocklist")).json() == {"cleared": 0}
    assert (await site.http.delete("/api/v1/blocklist/9")).status_code == 404

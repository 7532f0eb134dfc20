"""What modules send and what people ask about feeds, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2

from kurabito.access import Keys, Scope
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

SUBSCRIBE = (
    "INSERT INTO subscriptions (name, url, new_series, start_with, fetch_interval, created_at, updated_at) "
    "VALUES ('feed', 'https://feeds.example', 'ask', 'missing', 1000000, :now, :now) RETURNING id"
)


def subscribed(site: Site) -> int:
    assert isinstance(site.queue, SqlQueue)
    row = site.queue.database.write_blocking(lambda conn: conn.one(SUBSCRIBE))
    assert row is not None
    return int(row[0])


def item(title: Any, number: int = 1, **more: Any) -> dict[str, Any]:
    url = f"https://feeds.example/{number}.torrent"
    return {"title": title, "description": None, "download_url": url, "pub_date": None, **more}


def results(subscription_id: int, *items: Any, **more: Any) -> dict[str, Any]:
    return {
        "subscription_id": subscription_id,
        "items": list(items),
        "fetcher_source": "tests",
        "success": True,
        "error_message": None,
        **more,
    }


async def test_a_module_brings_results_and_repeats_them_without_harm(site: Site) -> None:
    feed = subscribed(site)
    body = results(
        feed,
        item("[Kura] Show - 01", 1, pub_date="Fri, 02 Jan 2026 03:04:05 +0800"),
        item("[Kura] Show - 02", 2, pub_date="2026-01-02T03:04:05"),
        item("[Kura] Show - 03", 3, pub_date="yesterday", size_bytes=1.5),
        item("[1080p]", 4),
        item(5, 5),
        None,
        ["neither"],
    )
    expected = {"success": True, "items_received": 7, "items_parsed": 3, "items_failed": 4}
    for path in ("/fetcher-results", "/raw-fetcher-results"):
        answer = await site.http.post(path, json=body)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert isinstance(told.pop("message"), str)
        assert told == expected
    items = (await site.http.get("/api/v1/raw-items", params={"status": "parsed", "subscription_id": feed})).json()
    assert [one["pub_date"] for one in items["items"]] == [None, "2026-01-02T03:04:05Z", "2026-01-01T19:04:05Z"]
    failed = (await site.http.get("/api/v1/raw-items", params={"status": "failed"})).json()["items"]
    assert [one["reason"] for one in failed] == ["no_url", "no_title", "no_title"]
    links = (await site.http.get("/api/v1/links")).json()["items"]
    assert [(link["episode"], link["download_type"], link["held_reason"]) for link in links] == [
        (3.0, "torrent", "series_asked"),
        (2.0, "torrent", "series_asked"),
        (1.0, "torrent", "series_asked"),
    ]


async def test_half_characters_and_nul_pass_through_json(site: Site) -> None:
    text = (
        '{"subscription_id": %d, "items": [{"title": "[Kura] Sh\\u0000ow \\ud800 - 01", "download_url": '
        '"https://feeds.example/\\udfff1.torrent"}]}'
    )
    answer = await site.http.post(
        "/fetcher-results", content=text % subscribed(site), headers={"content-type": "application/json"}
    )
    assert answer.json()["items_parsed"] == 1, answer.text
    (series,) = (await site.http.get("/api/v1/series")).json()["items"]
    assert series["title"] == "Show"


async def test_results_take_a_key_of_a_module_and_a_subscription_that_is_there(site: Site) -> None:
    assert isinstance(site.queue, SqlQueue)
    keys = Keys(site.queue.database)
    for scope, status in ((Scope.MODULE, 404), (Scope.READ, 403)):
        key = await keys.create(scope.value, [scope.value])
        async with httpx2.AsyncClient(base_url=site.url, headers={"X-Api-Key": key.secret}) as http:
            answer = await http.post("/fetcher-results", json=results(4711))
            assert answer.status_code == status, answer.text
    assert (await site.http.post("/fetcher-results", json={"items": []})).status_code == 422


async def test_a_series_is_followed_renamed_and_looked_through(site: Site) -> None:
    feed = subscribed(site)
    shows = [item(f"[Kura] Show - {number:02}", number) for number in range(1, 6)]
    await site.http.post("/fetcher-results", json=results(feed, *shows, item("[Kura] Show OVA - 01", 9)))
    await site.http.post("/fetcher-results", json=results(feed, item("[Kura] Other - 01", 20)))
    other, show = (await site.http.get("/api/v1/series", params={"state": "asked"})).json()["items"]
    path = f"/api/v1/series/{show['id']}"
    change = {
        "title": "The Show",
        "state": "followed",
        "season": 3,
        "aliases": [{"name": "Show"}, {"name": "ショー", "season": 3}],
    }
    answer = await site.http.patch(path, json=change)
    assert answer.status_code == 200, answer.text
    shown = (await site.http.get(path)).json()
    assert (shown["title"], shown["season"], shown["state"]) == ("The Show", 3, "followed")
    assert [(alias["name"], alias["season"], alias["source"]) for alias in shown["aliases"]] == [
        ("Show", 1, "title"),
        ("ショー", 3, "keeper"),
    ]
    links = (await site.http.get("/api/v1/links", params={"series_id": show["id"], "held": True})).json()
    assert links["items"] == []

    pages: list[list[tuple[Any, ...]]] = []
    cursor = None
    while cursor or not pages:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await site.http.get(f"{path}/episodes", params=params)).json()
        pages.append([(one["kind"], one["number"], one["state"], one["link_count"]) for one in page["items"]])
        cursor = page["next_cursor"]
    regular = [("tv", float(number), "downloading", 1) for number in range(1, 6)]
    assert [one for page in pages for one in page] == [*regular, ("ova", 1.0, "downloading", 1)]

    taken = await site.http.patch(path, json={"aliases": [{"name": "OTHER!"}]})
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "series_conflict")
    assert (await site.http.get(path)).json()["aliases"] == shown["aliases"]
    assert (await site.http.patch("/api/v1/series/4711", json={})).status_code == 404
    assert (await site.http.patch(f"/api/v1/series/{other['id']}", json={"state": "lost"})).status_code == 422


async def test_title_rules_are_previewed_kept_and_tried_on_what_failed(site: Site) -> None:
    await site.http.post("/fetcher-results", json=results(subscribed(site), item("[720p][07]")))
    rule = {
        "name": "nameless",
        "condition": r"^\[720p\]",
        "parse": r"\[(?P<episodes>\d+)\]$",
        "fields": {"title": "The Cellar"},
    }
    preview = (await site.http.post("/api/v1/title-rules/preview", json=rule)).json()
    (shown,) = preview["items"]
    assert (shown["before"]["title"], shown["after"]["title"], shown["after"]["episodes"]) == (None, "The Cellar", [7])
    created = await site.http.post("/api/v1/title-rules", json=rule)
    assert created.status_code == 201
    assert (await site.http.post("/api/v1/title-rules", json=rule)).status_code == 409
    assert (await site.http.get("/api/v1/raw-items", params={"status": "failed"})).json()["items"] == []
    refused = await site.http.post("/api/v1/title-rules", json={**rule, "name": "x", "condition": "("})
    assert refused.status_code == 422
    assert refused.json()["error"]["message"].startswith("condition: ")
    path = f"/api/v1/title-rules/{created.json()['id']}"
    assert (await site.http.put(path, json={**rule, "is_enabled": False})).json()["is_enabled"] is False
    assert (await site.http.delete(path)).status_code == 204
    assert (await site.http.delete(path)).status_code == 404
    assert (await site.http.get("/api/v1/title-rules")).json() == {"items": [], "next_cursor": None}

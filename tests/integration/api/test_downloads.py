"""Downloads, filters and conflicts, over HTTP."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Any

from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

API = "/api/v1"


async def follow(site: Site, **settings: Any) -> int:
    body = {"url": "https://feeds.example/rss", "new_series": "add", "start_with": "missing", "is_enabled": False}
    answer = await site.http.post(f"{API}/subscriptions", json={**body, **settings})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


async def bring(site: Site, subscription_id: int, *titles: str) -> None:
    items = [
        {"title": title, "download_url": f"magnet:?xt=urn:btih:{sha1(title.encode()).hexdigest()}", "pub_date": None}
        for title in titles
    ]
    answer = await site.http.post(
        "/fetcher-results", json={"subscription_id": subscription_id, "items": items, "success": True}
    )
    assert answer.status_code == 200, answer.text


async def statuses(site: Site) -> list[str]:
    return [one["status"] for one in (await site.http.get(f"{API}/downloads")).json()["items"]][::-1]


async def test_downloads_are_listed_looked_at_and_moved(site: Site) -> None:
    await bring(site, await follow(site), *[f"[Kura] Show - {number:02}" for number in (1, 2, 3)])
    first = (await site.http.get(f"{API}/downloads", params={"limit": 2})).json()
    assert [one["title"] for one in first["items"]] == ["[Kura] Show - 03", "[Kura] Show - 02"]
    rest = (await site.http.get(f"{API}/downloads", params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert ([one["id"] for one in rest["items"]], rest["next_cursor"]) == ([1], None)
    one = (await site.http.get(f"{API}/downloads/1")).json()
    assert (one["status"], one["progress"], one["is_stalled"], one["attempts"]) == ("pending", 0.0, False, [])
    assert one["progress_state"] == "pending"
    cancelled = (await site.http.post(f"{API}/downloads/1/cancel")).json()
    assert (cancelled["status"], cancelled["progress_state"]) == ("cancelled", "cancelled")
    retried = await site.http.post(f"{API}/downloads/1/retry")
    assert (retried.status_code, retried.json()["id"]) == (202, 4)
    for action, code in (
        ("cancel", 409),
        ("pause", 409),
        ("resume", 409),
        ("send-elsewhere", 409),
        ("retry", 409),
        ("want-again", 409),
    ):
        answer = await site.http.post(f"{API}/downloads/1/{action}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (code, "download_conflict"), action
        answer = await site.http.post(f"{API}/downloads/99/{action}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "download_not_found"), action
    assert (await site.http.delete(f"{API}/downloads/2", params={"delete_files": True})).status_code == 204
    assert (await site.http.get(f"{API}/downloads/2")).status_code == 404
    listed = (await site.http.get(f"{API}/downloads", params={"status": "cancelled"})).json()["items"]
    assert [one["id"] for one in listed] == [1]
    assert (await site.http.get(f"{API}/downloads", params={"module_id": 1})).json()["items"] == []


async def test_an_episode_is_wanted_again(site: Site) -> None:
    await bring(site, await follow(site), "[Kura] Show - 01", "[Tōji] Show - 01")
    assert isinstance(site.queue, SqlQueue)
    database = site.queue.database
    await database.write(lambda conn: conn.run("UPDATE downloads SET status = 'completed'"))
    await database.write(lambda conn: conn.run("UPDATE episodes SET state = 'have'"))
    other = await site.http.post(f"{API}/downloads/1/want-again", params={"other_release": True})
    assert (other.status_code, [one["link_id"] for one in other.json()["downloads"]]) == (202, [2])
    assert other.json()["is_asked"] is False
    busy = await site.http.post(f"{API}/episodes/1/want-again")
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "download_conflict")
    await site.http.post(f"{API}/downloads/2/cancel")
    again = await site.http.post(f"{API}/episodes/1/want-again")
    assert again.status_code == 202, again.text
    assert len(again.json()["downloads"]) == 1
    unknown = await site.http.post(f"{API}/episodes/99/want-again")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "episode_not_found")


async def test_a_filter_is_tried_saved_changed_and_removed(site: Site) -> None:
    await bring(site, await follow(site), "[Kura] Show - 01 [1080p]", "[Kura] Show - 02 [720p]")
    rule = {"name": "no small ones", "action": "exclude", "fields": {"resolutions": [720]}}
    tried = (await site.http.post(f"{API}/filters/preview", json={"rule": rule})).json()
    assert (tried["excluded_count"], tried["cancelled_count"], tried["dispatched_count"]) == (1, 1, 0)
    assert tried["newly_excluded"] == [
        {
            "link_id": 2,
            "title": "[Kura] Show - 02 [720p]",
            "reason": "excluded by no small ones",
            "why": {"code": "excluded", "facts": {"rule": "no small ones"}},
            "download_id": 2,
        }
    ]
    assert await statuses(site) == ["pending", "pending"]
    saved = await site.http.post(f"{API}/filters", json=rule)
    assert (saved.status_code, saved.json()["fields"]["resolutions"]) == (201, [720])
    assert await statuses(site) == ["pending", "cancelled"]
    refused = await site.http.post(f"{API}/downloads/2/retry")
    assert refused.status_code == 409
    assert [one["name"] for one in (await site.http.get(f"{API}/filters")).json()["items"]] == ["no small ones"]
    back = (await site.http.post(f"{API}/filters/preview", json={"rule_id": 1})).json()
    assert back["newly_dispatched"] == [{"link_id": 2, "title": "[Kura] Show - 02 [720p]", "is_dispatched": True}]
    changed = await site.http.put(f"{API}/filters/1", json={**rule, "fields": {}, "pattern": "480p"})
    assert (changed.status_code, changed.json()["pattern"]) == (200, "480p")
    assert await statuses(site) == ["pending", "cancelled", "pending"]
    assert (await site.http.delete(f"{API}/filters/1")).status_code == 204
    assert (await site.http.delete(f"{API}/filters/1")).status_code == 404
    bad = await site.http.post(f"{API}/filters", json={**rule, "pattern": "(?=x)"})
    assert (bad.status_code, bad.json()["error"]["message"].split(":")[0]) == (422, "pattern")


async def test_a_keeper_is_asked_and_chooses(site: Site) -> None:
    feed = await follow(site, conflict_policy="ask", preferences={"groups": ["Kura"]}, wait_minutes=5)
    stored = (await site.http.get(f"{API}/subscriptions/{feed}")).json()
    assert (stored["conflict_policy"], stored["preferences"]["groups"], stored["wait_minutes"]) == ("ask", ["Kura"], 5)
    await bring(site, feed, "[Kura] Show - 01", "[Tōji] Show - 01")
    (conflict,) = (await site.http.get(f"{API}/conflicts")).json()["items"]
    assert (conflict["status"], conflict["number"], len(conflict["releases"])) == ("asked", 1.0, 2)
    body = {"link_id": conflict["releases"][0]["link_id"]}
    wrong = await site.http.post(f"{API}/conflicts/{conflict['id']}/resolve", json={"link_id": 99})
    assert wrong.status_code == 422
    chosen = await site.http.post(f"{API}/conflicts/{conflict['id']}/resolve", json=body)
    assert (chosen.status_code, chosen.json()["link_id"]) == (200, body["link_id"])
    again = await site.http.post(f"{API}/conflicts/{conflict['id']}/resolve", json=body)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "conflict_resolved")
    assert (await site.http.post(f"{API}/conflicts/99/resolve", json=body)).status_code == 404
    assert (await site.http.get(f"{API}/conflicts")).json()["items"] == []
    changed = await site.http.patch(f"{API}/subscriptions/{feed}", json={"conflict_policy": "first", "upgrade": True})
    assert (changed.json()["conflict_policy"], changed.json()["upgrade"]) == ("first", True)


async def test_a_service_has_path_maps_that_can_be_tried(site: Site) -> None:
    body = {
        "service_type": "downloader",
        "service_name": "A",
        "host": "127.0.0.1",
        "port": 9,
        "instance_id": "i",
        "token": "t",
    }
    module_id = (await site.http.post("/services/register", json=body)).json()["service_id"]
    maps = [{"core": "/srv/downloads", "downloader": "D:\\downloads"}]
    changed = await site.http.patch(f"{API}/services/{module_id}", json={"path_maps": maps})
    assert (changed.status_code, changed.json()["path_maps"], changed.json()["health"]) == (200, maps, "healthy")
    assert (await site.http.get(f"{API}/services")).json()["items"][0]["path_maps"] == maps
    await site.http.post("/services/register", json={**body, "service_type": "viewer", "service_name": "V"})
    await site.http.patch(f"{API}/services/{module_id}", json={"is_enabled": False})
    listed = (await site.http.get(f"{API}/services")).json()["items"]
    assert [(one["service_name"], one["health"]) for one in listed] == [("A", "disabled"), ("V", None)]
    bad = await site.http.patch(f"{API}/services/{module_id}", json={"path_maps": [{"core": "x", "downloader": "/y"}]})
    assert (bad.status_code, bad.json()["error"]["message"].split(":")[0]) == (422, "path_maps")
    assert (await site.http.patch(f"{API}/services/99", json={"path_maps": []})).status_code == 404
    assert (await site.http.post(f"{API}/services/99/test-paths")).status_code == 404
    # Nobody listens at that port.
    assert (await site.http.post(f"{API}/services/{module_id}/test-paths")).status_code == 502


async def test_placements_are_listed_retried_and_resolved(site: Site) -> None:
    assert isinstance(site.queue, SqlQueue)
    add = (
        "INSERT INTO placements (library_id, mode, fallbacks, source_root, source_path, size_bytes, target_path, status, "
        "error_code, error_facts, created_at, updated_at) VALUES (1, 'link', '[\"copy\"]', '/dl', 'a.mkv', 5, 'Show/a.mkv', "
        "'failed', 'TARGET_EXISTS', '{\"path\": \"/l/Show/a.mkv\"}', :now, :now)"
    )
    library = (
        "INSERT INTO library_roots (id, name, root_path, created_at, updated_at) VALUES (1, 'l', '/l', :now, :now)"
    )
    for statement in (library, add):
        await site.queue.database.write(lambda conn, statement=statement: conn.run(statement))  # type: ignore[misc]
    (one,) = (await site.http.get(f"{API}/placements", params={"status": "failed"})).json()["items"]
    assert (one["source"], one["target_path"], one["modes"]) == ("/dl/a.mkv", "Show/a.mkv", ["link", "copy"])
    assert (one["error_code"], one["error_facts"]) == ("TARGET_EXISTS", {"path": "/l/Show/a.mkv"})
    bad = await site.http.post(f"{API}/placements/1/resolve", json={"choice": "burn"})
    assert bad.status_code == 422
    kept = await site.http.post(f"{API}/placements/1/resolve", json={"choice": "keep_both"})
    assert (kept.status_code, kept.json()["target_path"]) == (200, "Show/a (2).mkv")
    again = await site.http.post(f"{API}/placements/1/resolve", json={"choice": "leave"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "placement_conflict")
    assert (await site.http.post(f"{API}/placements/1/retry")).json()["status"] == "pending"
    missing = await site.http.post(f"{API}/placements/7/retry")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "placement_not_found")

"""Questions about releases and corrections of series, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.api.test_catalog import item, results, subscribed

from kurabito.catalog.identity.relink import Relinker, RelinkTask
from kurabito.catalog.relinks.store import RelinkCause
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

TITLES = (
    "[Toji] Cellar Basket - 01",
    "[Kura] Cellar Basket (2019) - 01",
    "[Kura] Barley Song - 01",
    "[Kura] Barley Song / Mugi no Uta [02]",
)


async def bring(site: Site) -> None:
    feed = subscribed(site)
    for number, title in enumerate(TITLES, 1):
        answer = await site.http.post("/fetcher-results", json=results(feed, item(title, number)))
        assert answer.status_code == 200, answer.text


async def ask(site: Site, method: str, path: str, status: int = 200, **body: Any) -> Any:
    answer = await site.http.request(method, f"/api/v1{path}", json=body if method != "GET" else None)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_a_question_is_listed_looked_into_and_answered(site: Site) -> None:
    await bring(site)
    (question,) = (await ask(site, "GET", "/questions"))["items"]
    assert (question["names"], question["year"], question["releases"]) == (["Cellar Basket"], 2019, 1)
    (candidate,) = question["candidates"]
    assert (candidate["speaks_for"], candidate["speaks_against"]) == (["name"], ["unsaid_year"])
    attention = {one["code"]: one for one in (await ask(site, "GET", "/attention"))["items"]}
    assert attention["questions_open"]["facts"] == {"count": 1}
    path = f"/questions/{question['id']}/answer"
    await ask(site, "POST", path, 422)
    await ask(site, "POST", path, 422, series_id=1, new_series="followed")
    await ask(site, "POST", path, 404, series_id=4711)
    seen = await ask(site, "POST", path, new_series="followed", preview=True)
    assert (seen["is_preview"], seen["freed"]) == (True, 1)
    done = await ask(site, "POST", path, new_series="followed")
    assert (await ask(site, "GET", f"/series/{done['series_id']}"))["year"] == 2019
    assert (await ask(site, "GET", "/questions"))["items"] == []
    await ask(site, "POST", path, 409, series_id=1)
    await ask(site, "GET", "/questions/4711", 404)


async def test_series_are_merged_split_and_undone(site: Site) -> None:
    await bring(site)
    barley = next(one for one in (await ask(site, "GET", "/series"))["items"] if one["title"] == "Barley Song")
    seen = await ask(site, "POST", f"/series/{barley['id']}/merge", into=1, preview=True)
    assert (seen["links"], seen["names"]) == (2, ["Barley Song", "Mugi no Uta"])
    await ask(site, "POST", f"/series/{barley['id']}/merge", into=1)
    assert (await ask(site, "GET", f"/series/{barley['id']}"))["merged_into"] == 1
    await ask(site, "POST", f"/series/{barley['id']}/merge", 404, into=1)
    evidence = await ask(site, "GET", "/series/1/evidence")
    assert [(one["kind"], one["made_by"]) for one in evidence["corrections"]] == [("merge", "keeper")]
    assert {name["name"] for name in evidence["names"]} == {"Cellar Basket", "Barley Song", "Mugi no Uta"}
    undone = await ask(site, "POST", "/series/1/undo")
    assert undone["kind"] == "merge"
    await ask(site, "POST", "/series/1/undo", 409)
    split = await ask(site, "POST", f"/series/{barley['id']}/split", names=["Mugi no Uta"])
    assert (split["links"], split["names"]) == (1, ["Mugi no Uta"])
    await ask(site, "POST", f"/series/{barley['id']}/split", 409)


async def test_a_link_is_moved_counted_otherwise_rejected_and_released(site: Site) -> None:
    await bring(site)
    links = {link["title"]: link for link in (await ask(site, "GET", "/links"))["items"]}
    link = links["[Kura] Barley Song - 01"]
    await ask(site, "PATCH", f"/links/{link['id']}", 422)
    await ask(site, "PATCH", f"/links/{link['id']}", series_id=1)
    await ask(site, "PATCH", f"/links/{link['id']}", episode=7.5)
    moved = next(one for one in (await ask(site, "GET", "/links"))["items"] if one["id"] == link["id"])
    assert (moved["series_id"], moved["episode"], moved["held_reason"]) == (1, 7.5, "series_asked")
    await ask(site, "PATCH", f"/links/{link['id']}", 422, is_other_show=True, series_id=1)
    other = await ask(site, "PATCH", f"/links/{link['id']}", is_other_show=True)
    assert other["series_id"] not in (1, link["series_id"])
    assert (await ask(site, "POST", f"/links/{link['id']}/release"))["freed"] == 1
    await ask(site, "POST", f"/links/{link['id']}/release", 409)
    await ask(site, "POST", "/links/4711/release", 404)
    held = links["[Kura] Cellar Basket (2019) - 01"]
    assert held["question_id"] is not None
    await ask(site, "POST", f"/links/{held['id']}/release", 409)


async def test_what_was_read_again_says_why_and_what_moved(site: Site) -> None:
    await bring(site)
    assert (await ask(site, "GET", "/relinks"))["items"] == []
    barley = next(one for one in (await ask(site, "GET", "/series"))["items"] if one["title"] == "Barley Song")
    assert isinstance(site.queue, SqlQueue)
    relinker = Relinker(site.queue)
    await ask(site, "PATCH", f"/series/{barley['id']}", episode_offset=1)
    await relinker.relink(RelinkTask(series_id=barley["id"], cause=RelinkCause.OFFSET))
    (run,) = (await ask(site, "GET", "/relinks"))["items"]
    assert (run["cause"], run["links_moved"]) == ("offset", 1)
    (moved,) = (await ask(site, "GET", f"/relinks/{run['id']}/links"))["items"]
    assert (moved["from_number"], moved["to_number"], moved["is_waiting"]) == (2.0, 1.0, False)
    await ask(site, "GET", "/relinks/4711/links", 404)


async def test_an_episode_has_a_kind_that_episodes_have(site: Site) -> None:
    await bring(site)
    place = {"series_id": 1, "episode": 3, "kind": "unknown"}
    for preview in (True, False):
        refused = await ask(site, "PATCH", "/links/1", 422, **place, preview=preview)
        assert refused["error"]["message"].startswith("kind: must be one of tv, movie")
    wanted = {"path": "/srv/a.mkv", "series_id": 1, "episodes": [1], "kind": "unknown"}
    answer = await site.http.post("/api/v1/imports", json=wanted)
    assert (answer.status_code, answer.json()["error"]["message"][:25]) == (422, "kind: must be one of tv, ")

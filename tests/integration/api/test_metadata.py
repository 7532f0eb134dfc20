"""Metadata, the calendar and posters over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.db import Connection
from kurabito.metadata.calendar import REFRESH
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind
from kurabito.metadata.runner import SYNC
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi_data import IndexFile, OfflineEntry
from kurabito.metadata.sources.index import IndexOrigin, import_index
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site
    from tests.support.waiting import Eventually

PICTURE = b"\xff\xd8\xff a picture"


@pytest.fixture
async def site(url: str, serve: Callable[..., AbstractAsyncContextManager[Site]]) -> AsyncIterator[Site]:
    """The API over each database, with whoever fills metadata in."""
    async with serve(url, acting=True) as site:
        yield site


async def test_a_record_is_made_found_changed_and_forgotten(site: Site, eventually: Eventually) -> None:
    made = await site.http.post(
        "/api/v1/metadata",
        json={
            "title_japanese": "蔵の夜",
            "year": 2022,
            "air_date": "2022-01-08",
            "poster_url": "https://img.test/a.jpg",
        },
    )
    assert made.status_code == 201
    record = made.json()
    place = f"/api/v1/metadata/{record['id']}"
    assert (record["kind"], record["air_date"], record["tmdb_candidates"]) == ("tv", "2022-01-08", [])
    assert record["missing"] == ["poster_waits", "id_not_asked"]
    assert (await site.http.get(place)).json() == record
    other = (await site.http.post("/api/v1/metadata", json={"title_english": "Another", "bgm_id": 5})).json()
    pages = []
    cursor: str | None = None
    while True:
        asked = {"limit": "1", **({"cursor": cursor} if cursor else {})}
        page = (await site.http.get("/api/v1/metadata", params=asked)).json()
        pages.append([item["id"] for item in page["items"]])
        if (cursor := page["next_cursor"]) is None:
            break
    assert pages == [[record["id"]], [other["id"]]]
    found = await site.http.get("/api/v1/metadata", params={"contains": "anoth"})
    assert [item["id"] for item in found.json()["items"]] == [other["id"]]
    changed = await site.http.patch(place, json={"year": 2023, "poster_url": None, "tmdb_id": 7, "tmdb_kind": "tv"})
    assert (changed.json()["year"], changed.json()["poster_url"], changed.json()["tmdb_id"]) == (2023, None, 7)
    assert changed.json()["title_japanese"] == "蔵の夜"
    assert (await site.http.delete(place)).status_code == 204
    gone = await site.http.get(place)
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "metadata_not_found")
    # Whoever made or changed one wants to see it filled in.
    await eventually(lambda: _tasks(site, SYNC))


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("POST", {}, 422, "title_japanese"),
    ("POST", {"title_japanese": ""}, 422, "title_japanese"),
    ("POST", {"title_japanese": "蔵", "year": 12}, 422, "year"),
    ("POST", {"title_japanese": "蔵", "kind": "play"}, 422, "kind"),
    ("POST", {"title_japanese": "蔵", "poster_url": "/posters/../../etc/passwd"}, 422, "poster_url"),
    ("POST", {"title_japanese": "蔵", "poster_url": "/posters/0123456789abcdef.jpg"}, 422, "poster_url"),
    ("POST", {"title_japanese": "蔵", "poster_url": "file:///etc/passwd"}, 422, "poster_url"),
    ("POST", {"title_japanese": "蔵", "bgm_id": 1}, 409, "bgm_id"),
    ("PATCH", {"title_japanese": None}, 422, "title_japanese"),
    ("PATCH", {"unknown": 1}, 422, "unknown"),
]


async def test_what_is_refused_changes_nothing(site: Site) -> None:
    one = (await site.http.post("/api/v1/metadata", json={"title_japanese": "古い蔵", "bgm_id": 1})).json()
    for method, body, status, field in REFUSED:
        place = "/api/v1/metadata" + (f"/{one['id']}" if method == "PATCH" else "")
        refused = await site.http.request(method, place, json=body)
        assert refused.status_code == status, (method, body)
        assert field in refused.json()["error"]["message"]
        assert (await site.http.get("/api/v1/metadata")).json()["items"] == [one], (method, body)


async def test_a_sync_and_a_refresh_are_asked_for_and_are_tasks(site: Site, eventually: Eventually) -> None:
    asked = await site.http.post("/api/v1/metadata/sync")
    assert (asked.status_code, asked.json()) == (202, {"task_type": SYNC})
    await eventually(lambda: _tasks(site, SYNC))
    refresh = [await site.http.post("/api/v1/calendar/refresh") for _ in range(2)]
    assert {answer.status_code for answer in refresh} == {202}
    assert [str(task.id) for task in await _tasks(site, REFRESH)] == list({one.json()["task_id"] for one in refresh})


async def test_the_calendar_shows_a_season_by_weekday(site: Site) -> None:
    assert isinstance(site.queue, SqlQueue)
    saturday = OfflineEntry(
        "蔵の夜", RecordKind.TV, "ja", Ids(bgm_id=5, tmdb_id=6), date(2022, 1, 8), title_chinese="藏"
    )
    site.queue.database.write_blocking(lambda conn: offline.replace_entries(conn, [saturday]))
    one = (await site.http.post("/api/v1/metadata", json={"title_japanese": "蔵の夜", "bgm_id": 5})).json()
    answer = (await site.http.get("/api/v1/calendar", params={"season": "2022-01"})).json()
    assert [day["weekday"] for day in answer["days"]] == [1, 2, 3, 4, 5, 6, 7]
    (item,) = answer["days"][5]["items"]
    assert (item["metadata_id"], item["title_chinese"], item["tmdb_id"]) == (one["id"], "藏", 6)
    week = (await site.http.get("/api/v1/calendar")).json()
    assert (week["season"], week["refreshed_at"], [day["items"] for day in week["days"]]) == (None, None, [[]] * 7)
    assert (await site.http.get("/api/v1/calendar", params={"season": "2022-02"})).status_code == 422


@pytest.fixture
async def with_posters(serve: Callable[..., Any], tmp_path: Path) -> AsyncIterator[Site]:
    (tmp_path / "posters").mkdir()
    (tmp_path / "posters" / "0123456789abcdef.jpg").write_bytes(PICTURE)
    (tmp_path / "secret.jpg").write_bytes(PICTURE)
    async with serve(f"sqlite:///{tmp_path / 'tasks.db'}", state=tmp_path) as site:
        yield site


async def test_a_poster_is_served_for_ever_and_not_sent_twice(with_posters: Site) -> None:
    http = with_posters.http
    sent = await http.get("/posters/0123456789abcdef.jpg")
    assert (sent.status_code, sent.content, sent.headers["content-type"]) == (200, PICTURE, "image/jpeg")
    assert sent.headers["cache-control"] == "private, max-age=31536000, immutable"
    again = await http.get("/posters/0123456789abcdef.jpg", headers={"If-None-Match": sent.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", sent.headers["etag"])
    assert (await http.get("/posters/0123456789abcdef.jpg", headers={"X-Api-Key": "wrong"})).status_code == 401


NO_POSTERS = (
    "/posters/../secret.jpg", "/posters/%2e%2e/secret.jpg", "/posters/%2e%2e%2fsecret.jpg", "/posters/..%5csecret.jpg",
    "/posters//etc/passwd", "/posters/%2fetc%2fpasswd", "/posters/0123456789abcdef.jpg%00.png", "/posters/",
    "/posters/%252e%252e%252fsecret.jpg", "/posters/0123456789ABCDEF.jpg",
    "/posters/ffffffffffffffff.jpg", "/posters/./0123456789abcdef.jpg", "/posters/x/../0123456789abcdef.jpg",
)  # fmt: skip


async def test_nothing_else_is_served(with_posters: Site) -> None:
    for path in NO_POSTERS:
        # Sent as it is written: a client would tidy it up before.
        reader, writer = await with_posters.stream()
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: a key for the tests\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        answer = await reader.read()
        writer.close()
        assert answer.startswith(b"HTTP/1.1 404 "), path
        assert PICTURE not in answer


async def _tasks(site: Site, task_type: str) -> list[Any]:
    return list(await site.queue.list(task_type=task_type))


async def test_the_sources_say_how_they_are_and_what_waits_for_them(site: Site) -> None:
    assert isinstance(site.queue, SqlQueue)
    answer = (await site.http.get("/api/v1/metadata/sources")).json()
    assert {one["source"]: one["state"] for one in answer["sources"]} == {
        "tmdb": "off",
        "bgm": "unused",
        "index": "off",
    }
    assert answer["index"] is None
    entries = (OfflineEntry("蔵", RecordKind.TV, "ja", Ids(bgm_id=1)),)
    file = IndexFile(entries, unknown_kinds=2, bad_rows=3)

    def fail(conn: Connection) -> None:
        conn.run(
            "INSERT INTO metadata_sources (name, failed_at, error_code, error_message) "
            "VALUES ('bgm', :now, 'timed_out', 'nothing came')"
        )
        conn.run("INSERT INTO metadata (kind, bgm_id, created_at, updated_at) VALUES ('tv', 5, 1, 1)")

    await asyncio.to_thread(import_index, site.queue.database, file, IndexOrigin.FILE)
    await site.queue.database.write(fail)
    answer = (await site.http.get("/api/v1/metadata/sources")).json()
    bgm = next(one for one in answer["sources"] if one["source"] == "bgm")
    assert (bgm["state"], bgm["failure"], bgm["message"], bgm["held_back"]) == (
        "failing",
        "timed_out",
        "nothing came",
        1,
    )
    assert answer["index"] | {"imported_at": ""} == {
        "imported_at": "", "entries": 1, "unknown_kinds": 2, "bad_rows": 3, "origin": "file",
    }  # fmt: skip
    (record,) = (await site.http.get("/api/v1/metadata")).json()["items"]
    assert record["missing"] == ["poster_held_back", "id_without_title"]
    attention = (await site.http.get("/api/v1/attention")).json()["items"]
    (failing,) = (one for one in attention if one["code"] == "metadata_source_failing")
    assert failing["facts"] == {"source": "bgm", "failure": "timed_out", "held_back": 1}
    assert failing["action"] == {"id": "sync_metadata", "target": "bgm"}
    assert (await site.http.post("/api/v1/metadata/index/update")).status_code == 202

"""Thumbnails over HTTP, on both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.db import Connection
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

ADD = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, needs_hash, created_at, updated_at)
VALUES (1, :path, 10, 1, 0, :now, :now) RETURNING id
"""
REQUEST = "/api/v1/thumbs/request"


@pytest.fixture
async def site(
    url: str, tmp_path: Path, serve: Callable[..., AbstractAsyncContextManager[Site]]
) -> AsyncIterator[Site]:
    async with serve(url, state=tmp_path) as site:
        yield site


async def write(site: Site, sql: str, **values: Any) -> Any:
    assert isinstance(site.queue, SqlQueue)

    def work(conn: Connection) -> Any:
        return conn.one(sql, values) if "RETURNING" in sql else conn.run(sql, values)

    return await site.queue.database.write(work)


async def add(site: Site, path: str) -> int:
    (file_id,) = await write(site, ADD, path=path)
    return int(file_id)


async def test_one_picture_from_the_request_to_the_browser(site: Site, tmp_path: Path) -> None:
    file = await add(site, "poster.jpg")
    answer = await site.http.post(REQUEST, json={"file_id": file, "max_dimension": 64, "format": "webp"})
    assert answer.status_code == 202
    asked = answer.json()
    assert (asked["status"], asked["format"], asked["max_dimension"]) == ("pending", "webp", 64)
    assert asked["group_key"] == f"file:{file}"
    here = f"/api/v1/thumbs/{asked['key']}"
    assert (await site.http.get(here)).json() == asked
    early = await site.http.get(f"{here}/content")
    assert (early.status_code, early.json()["error"]["code"]) == (404, "thumbnail_not_ready")
    picture = tmp_path / "thumbs" / asked["output_path"]
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"a picture")
    await write(site, "UPDATE thumbnails SET status = 'ready', width = 64, height = 36, bytes_size = 9")
    shown = await site.http.get(f"{here}/content")
    assert (shown.status_code, shown.content) == (200, b"a picture")
    assert shown.headers["Content-Type"] == "image/webp"
    assert "immutable" in shown.headers["Cache-Control"]
    assert "private" in shown.headers["Cache-Control"]
    known = await site.http.get(f"{here}/content", headers={"If-None-Match": shown.headers["ETag"]})
    assert (known.status_code, known.content) == (304, b"")
    # Asked for again it is what it was, and nothing waits.
    again = (await site.http.post(REQUEST, json={"file_id": file, "max_dimension": 64, "format": "webp"})).json()
    assert (again["key"], again["status"], again["width"]) == (asked["key"], "ready", 64)
    metrics = (await site.http.get("/api/v1/thumbs/metrics")).json()
    assert metrics == {
        "depth": 0,
        "capacity": 50_000,
        "running": 0,
        "ready": 1,
        "failed": 0,
        "retry_backlog": 0,
        "cleanup_waiting": 0,
        "cleanup_lag_seconds": 0.0,
        "bytes_stored": 9,
    }


async def test_many_files_are_asked_for_in_one_call(site: Site) -> None:
    film, text = await add(site, "film.mkv"), await add(site, "notes.txt")
    answer = await site.http.post(REQUEST, json={"file_ids": [film, text, 4711]})
    assert answer.status_code == 202
    first, second, third = answer.json()["items"]
    assert (first["file_id"], first["status"], first["error"]) == (film, "pending", None)
    assert (second["file_id"], second["status"], second["error"]["code"]) == (text, "refused", "nothing_to_draw")
    assert (third["file_id"], third["status"], third["error"]["code"]) == (4711, "refused", "file_not_found")
    await write(
        site, "UPDATE thumbnails SET status = 'failed', error_code = 'THUMB_EMPTY', retry_after = 9000000000000000"
    )
    (failed,) = (await site.http.post(REQUEST, json={"file_ids": [film]})).json()["items"]
    assert (failed["status"], failed["error"]["code"], failed["key"]) == ("failed", "THUMB_EMPTY", first["key"])


async def test_what_is_refused_says_why(site: Site) -> None:
    text = await add(site, "notes.txt")
    for body, status in (
        ({"file_id": 4711}, 404),
        ({"file_id": text}, 409),
        ({}, 422),
        ({"file_id": text, "file_ids": [text]}, 422),
        ({"file_ids": []}, 422),
        ({"file_ids": [1] * 501}, 422),
        ({"file_id": text, "max_dimension": 15}, 422),
        ({"file_id": text, "max_dimension": 4097}, 422),
        ({"file_id": text, "format": "gif"}, 422),
    ):
        answer = await site.http.post(REQUEST, json=body)
        assert answer.status_code == status, body
        assert answer.json()["error"]["message"]
    for path in ("0" * 40, f"{'0' * 40}/content"):
        assert (await site.http.get(f"/api/v1/thumbs/{path}")).status_code == 404


async def test_nothing_is_admitted_when_too_many_wait(
    url: str, tmp_path: Path, serve: Callable[..., AbstractAsyncContextManager[Site]]
) -> None:
    async with serve(url, state=tmp_path, thumbnail_capacity=1) as site:
        first, second = await add(site, "a.jpg"), await add(site, "b.jpg")
        assert (await site.http.post(REQUEST, json={"file_id": first})).status_code == 202
        full = await site.http.post(REQUEST, json={"file_id": second})
        assert (full.status_code, full.json()["error"]["code"]) == (429, "thumbnails_full")


async def test_a_group_is_cleaned_up_after_a_while(site: Site) -> None:
    answer = await site.http.post("/api/v1/thumbs/cleanup/group", json={"group_key": "file:7"})
    assert answer.status_code == 202
    scheduled = answer.json()
    assert (scheduled["group_key"], scheduled["status"]) == ("file:7", "pending")
    assert scheduled["execute_after"] > scheduled["created_at"]
    assert (await site.http.post("/api/v1/thumbs/cleanup/group", json={"group_key": "file:7"})).json() == scheduled
    assert (await site.http.post("/api/v1/thumbs/cleanup/group", json={"group_key": "x"})).status_code == 422


async def test_checkpoints_are_asked_for_where_there_is_a_log(site: Site, url: str) -> None:
    order, latest, metrics = (f"/api/v1/maintenance/wal/{name}" for name in ("checkpoint", "latest", "metrics"))
    if not url.startswith("sqlite"):
        for answer in (await site.http.post(order, json={}), await site.http.get(latest), await site.http.get(metrics)):
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_wal")
        return
    assert (await site.http.get(latest)).status_code == 404
    refused = await site.http.post(order, json={"mode": "truncate", "force": True})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "checkpoint_not_allowed")
    for mode in ("full", "PASSIVE", ""):
        assert (await site.http.post(order, json={"mode": mode})).status_code == 422
    answer = await site.http.post(order, json={"mode": "restart", "reason": "a test"})
    assert answer.status_code == 202
    asked = answer.json()
    assert (asked["mode"], asked["reason"], asked["status"]) == ("restart", "a test", "pending")
    second = await site.http.post(order, json={"mode": "passive"})
    assert (second.status_code, second.json()["id"]) == (202, asked["id"])
    await write(site, "UPDATE wal_maintenance_jobs SET status = 'completed', finished_at = :now")
    soon = await site.http.post(order, json={})
    assert (soon.status_code, soon.json()["error"]["code"]) == (429, "checkpoint_too_soon")
    forced = await site.http.post(order, json={"force": True})
    assert (forced.status_code, forced.json()["mode"]) == (202, "passive")
    assert (await site.http.get(latest)).json()["id"] == forced.json()["id"]
    found = (await site.http.get(metrics)).json()
    assert found["counts"] == {"pending": 1, "running": 0, "retryable": 0, "completed": 1, "failed": 0}
    assert found["wal_bytes"] > 0

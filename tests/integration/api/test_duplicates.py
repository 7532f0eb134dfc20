"""Duplicates, plans and the trash over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kurabito.db import Connection
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

KEY = "blake3:" + bytes(range(32)).hex()
ADD = """
INSERT INTO library_files (library_id, relative_path, size_bytes, mtime_ns, device, inode, needs_hash, hash_algorithm,
                           content_hash, created_at, updated_at)
VALUES (1, :path, 10, :age, 1, :age, 0, 'blake3', :hash, :now, :now)
"""
TRASH = """
INSERT INTO trash_entries (id, file_id, library_id, relative_path, trash_path, size_bytes, hash_algorithm, content_hash,
                           trashed_at)
VALUES (:id, 1, 1, 'gone.mkv', '.kurabito-trash/x', 10, 'blake3', :hash, :now)
"""


async def write(site: Site, sql: str, rows: list[dict[str, Any]]) -> None:
    assert isinstance(site.queue, SqlQueue)

    def work(conn: Connection) -> None:
        for row in rows:
            conn.run(sql, row)

    await site.queue.database.write(work)


@pytest.fixture
async def files(site: Site) -> None:
    await write(site, ADD, [{"path": f"{age}.mkv", "age": age, "hash": bytes(range(32))} for age in (1, 2, 3)])


@pytest.mark.usefixtures("files")
async def test_groups_and_their_files(site: Site) -> None:
    answer = await site.http.get("/api/v1/duplicates/groups", params={"reclaimable": "true"})
    assert answer.json() == {
        "items": [
            {
                "group_key": KEY,
                "hash_algorithm": "blake3",
                "content_hash_hex": bytes(range(32)).hex(),
                "file_count": 3,
                "total_size_bytes": 30,
                "copies": 3,
                "reclaimable_bytes": 20,
            }
        ],
        "next_cursor": None,
    }
    page = (await site.http.get(f"/api/v1/duplicates/groups/{KEY}/files", params={"limit": 2})).json()
    assert [file["relative_path"] for file in page["items"]] == ["1.mkv", "2.mkv"]
    assert page["next_cursor"] == str(page["items"][-1]["id"])


REFUSED = [
    ("groups?cursor=nonsense", "cursor"),
    ("groups?limit=0", "limit"),
    ("groups/md5:00/files", "group_key"),
    (f"groups/{KEY[:-1]}/files", "group_key"),
    (f"groups/{KEY}/files?cursor=x", "cursor"),
    ("plans/x", "plan_id"),
]


async def test_what_is_refused_is_named(site: Site) -> None:
    for path, field in REFUSED:
        answer = await site.http.get(f"/api/v1/duplicates/{path}")
        assert answer.status_code == 422, path
        assert answer.json()["error"]["message"].startswith(f"{field}: ")


@pytest.mark.usefixtures("files")
async def test_a_plan_from_its_preview_to_its_job(site: Site) -> None:
    answer = await site.http.post("/api/v1/duplicates/plans", json={"keep": [{"rule": "newest"}]})
    assert answer.status_code == 201
    plan = answer.json()
    assert (plan["mode"], plan["file_count"], plan["freed_bytes"], plan["job_id"]) == ("trash", 2, 20, None)
    assert [(step["relative_path"], step["kept_path"], step["reason"]) for step in plan["steps"]["items"]] == [
        ("1.mkv", "3.mkv", "kept_is_newer"),
        ("2.mkv", "3.mkv", "kept_is_newer"),
    ]
    address = f"/api/v1/duplicates/plans/{plan['id']}"
    checking = await site.http.post(f"{address}/apply", json={})
    assert (checking.status_code, checking.json()["job_is_dry_run"], checking.json()["job_status"]) == (
        202,
        True,
        "pending",
    )
    # The setting is off unless somebody turned it on.
    refused = await site.http.post(f"{address}/apply", json={"dry_run": False, "confirm": True})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "deletion_not_allowed")
    shown = (await site.http.get(address, params={"limit": 1})).json()
    assert (shown["job_id"], shown["steps"]["next_cursor"]) == (checking.json()["job_id"], "1")
    assert (await site.http.get("/api/v1/duplicates/plans/4711")).status_code == 404


NO_PLANS: list[dict[str, Any]] = [
    {"mode": "shred"},
    {"keep": []},
    {"keep": [{"rule": "best"}]},
    {"keep": [{"rule": "in_library"}]},
    {"keep": [{"rule": "oldest", "library_id": 1}]},
    {"protected": [{"library_id": 1, "folder": "../x"}]},
    {"group_keys": ["nonsense"]},
    {"delete_everything": True},
]


async def test_a_plan_that_makes_no_sense_is_refused(site: Site) -> None:
    for body in NO_PLANS:
        assert (await site.http.post("/api/v1/duplicates/plans", json=body)).status_code == 422, body


async def test_the_trash_and_the_way_back(site: Site) -> None:
    entry = "5f" * 16
    await write(site, TRASH, [{"id": entry, "hash": bytes(range(32))}])
    (shown,) = (await site.http.get("/api/v1/trash")).json()["items"]
    assert (shown["id"], shown["relative_path"], shown["group_key"]) == (entry, "gone.mkv", KEY)
    assert shown["expires_at"] > shown["trashed_at"]
    answer = await site.http.post(f"/api/v1/trash/{entry}/restore")
    assert (answer.status_code, list(answer.json())) == (202, ["job_id"])
    again = await site.http.post(f"/api/v1/trash/{entry}/restore")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "trash_conflict")
    assert (await site.http.post("/api/v1/trash/none/restore")).status_code == 404
    assert (await site.http.get("/api/v1/trash?cursor=x")).status_code == 422

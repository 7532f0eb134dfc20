"""Libraries, their scans and their jobs over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.waiting import PATIENCE

from kurabito.library.loop import Reconciler
from kurabito.library.removal import LibraryRemoval
from kurabito.runtime import Registry, TaskRecord, TaskState, Worker
from kurabito.runtime.sql.queue import SqlQueue

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

LIBRARIES, SCANS, JOBS = "/api/v1/libraries", "/api/v1/scan-tasks", "/api/v1/jobs"


@pytest.fixture
async def library(site: Site, tmp_path: Path) -> int:
    (tmp_path / "films").mkdir()
    answer = await site.http.post(LIBRARIES, json={"name": "Films", "path": str(tmp_path / "films")})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["id"])


async def step(site: Site) -> None:
    assert isinstance(site.queue, SqlQueue)
    await Reconciler(site.queue).step()


async def remove(site: Site, task_id: str) -> TaskRecord:
    assert isinstance(site.queue, SqlQueue)
    registry = Registry()
    LibraryRemoval(site.queue).join(registry)
    async with Worker(site.queue, registry, grace=0.0):
        return await site.queue.wait(UUID(task_id), timeout=PATIENCE)


async def test_a_library_is_made_shown_changed_and_let_go(site: Site, library: int, tmp_path: Path) -> None:
    shown = (await site.http.get(f"{LIBRARIES}/{library}")).json()
    assert (shown["name"], shown["path"], shown["scan_interval"]) == ("Films", str(tmp_path / "films"), None)
    assert shown["status"] == "never_scanned"
    changed = await site.http.patch(f"{LIBRARIES}/{library}", json={"scan_interval": 3600, "ignored": ["*.part"]})
    assert changed.status_code == 200
    assert (changed.json()["scan_interval"], changed.json()["ignored"]) == (3600.0, ["*.part"])
    assert changed.json()["name"] == "Films"
    assert (await site.http.get(LIBRARIES)).json() == {"items": [changed.json()], "next_cursor": None}
    files = await site.http.get(f"{LIBRARIES}/{library}/files")
    assert files.json() == {"items": [], "next_cursor": None}
    removed = await site.http.delete(f"{LIBRARIES}/{library}")
    assert removed.status_code == 202
    leaving = (await site.http.get(f"{LIBRARIES}/{library}")).json()
    assert (leaving["status"], leaving["removing_since"] is None) == ("removing", False)
    assert (await site.http.post(f"{LIBRARIES}/{library}/scan")).status_code == 409
    assert (await remove(site, removed.json()["task_id"])).state is TaskState.SUCCEEDED
    assert (await site.http.get(f"{LIBRARIES}/{library}")).status_code == 404
    assert (tmp_path / "films").is_dir()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"path": "/tmp"}, "name"),
    ({"name": "x"}, "path"),
    ({"name": "x", "path": "films"}, "path"),
    ({"name": "x", "path": "/nowhere at all"}, "path"),
    ({"name": "", "path": "/tmp"}, "name"),
    ({"name": "x", "path": "/tmp", "scan_interval": 1}, "scan_interval"),
    ({"name": "x", "path": "/tmp", "algorithm": "md5"}, "algorithm"),
    ({"name": "x", "path": "/tmp", "colour": "red"}, "colour"),
]


async def test_a_bad_library_is_refused_with_the_field(site: Site) -> None:
    for body, field in REFUSED:
        answer = await site.http.post(LIBRARIES, json=body)
        assert answer.status_code == 422, body
        assert answer.json()["error"]["message"].startswith(f"{field}: ")


async def test_a_folder_is_in_one_library(site: Site, library: int, tmp_path: Path) -> None:
    answer = await site.http.post(LIBRARIES, json={"name": "Again", "path": str(tmp_path / "films")})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "library_conflict")


async def test_a_scan_is_accepted_at_once_and_asked_for_once(site: Site, library: int) -> None:
    answer = await site.http.post(f"{LIBRARIES}/{library}/scan")
    assert answer.status_code == 202
    accepted = answer.json()
    assert accepted["task"]["id"] == accepted["task_id"]
    assert (accepted["task"]["status"], accepted["task"]["priority"]) == ("pending", 1)
    again = (await site.http.post(f"{LIBRARIES}/{library}/scan")).json()
    assert again["task_id"] == accepted["task_id"]
    assert (await site.http.get(f"{LIBRARIES}/{library}/scan-task")).json() == accepted["task"]
    assert (await site.http.get(SCANS)).json() == {"pending": [accepted["task"]], "running": [], "history": []}
    await step(site)
    queue = (await site.http.get(SCANS)).json()
    assert ([task["status"] for task in queue["running"]], queue["pending"], queue["history"]) == (["running"], [], [])
    busy = await site.http.delete(f"{LIBRARIES}/{library}")
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "library_in_use")
    confirmed = await site.http.delete(f"{LIBRARIES}/{library}", params={"confirm": "true"})
    assert confirmed.status_code == 202
    (history,) = (await site.http.get(SCANS)).json()["history"]
    assert (history["id"], history["status"]) == (accepted["task_id"], "cancelled")


async def test_a_scan_is_cancelled_once(site: Site, library: int) -> None:
    task_id = (await site.http.post(f"{LIBRARIES}/{library}/scan")).json()["task_id"]
    cancelled = await site.http.delete(f"{SCANS}/{task_id}")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    again = await site.http.delete(f"{SCANS}/{task_id}")
    assert (again.status_code, again.json()["error"]["code"]) == (400, "task_finished")
    assert (await site.http.get(f"{SCANS}/{task_id}")).json() == cancelled.json()
    assert (await site.http.get(SCANS, params={"limit": 1})).json()["history"] == [cancelled.json()]
    assert (await site.http.get(f"{LIBRARIES}/{library}/scan-task")).status_code == 404


async def test_an_unknown_scan_is_not_found(site: Site) -> None:
    for task_id in ("nonsense", "00000000-0000-0000-0000-000000000000"):
        for answer in (await site.http.get(f"{SCANS}/{task_id}"), await site.http.delete(f"{SCANS}/{task_id}")):
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "task_not_found"), task_id


async def test_an_unknown_library_is_not_found(site: Site) -> None:
    for method, path in (("GET", ""), ("GET", "/files"), ("GET", "/scan-task"), ("POST", "/scan"), ("DELETE", "")):
        answer = await site.http.request(method, f"{LIBRARIES}/7{path}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "library_not_found"), path


async def test_jobs_are_admitted_one_at_a_time(site: Site, library: int) -> None:
    made = await site.http.post(JOBS, json={"kind": "hash", "library_id": library})
    assert (made.status_code, made.json()["status"], made.json()["kind"]) == (201, "pending", "hash")
    taken = await site.http.post(JOBS, json={"kind": "scan", "library_id": library})
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "job_conflict")
    job = made.json()["id"]
    assert (await site.http.get(f"{JOBS}/{job}")).json() == made.json()
    assert (await site.http.post(f"{JOBS}/{job}/cancel")).json()["status"] == "cancelled"
    assert (await site.http.post(f"{JOBS}/{job}/cancel")).status_code == 409
    assert (await site.http.post(f"{JOBS}/{job}/reset")).json()["status"] == "pending"
    assert (await site.http.post(f"{JOBS}/recover-stale")).json() == {"recovered": 0}
    listed = (await site.http.get(JOBS, params={"kind": "hash", "status": "pending"})).json()
    assert ([found["id"] for found in listed["items"]], listed["next_cursor"]) == ([job], None)


async def test_other_jobs_are_refused(site: Site, library: int) -> None:
    for kind in ("delete", "thumbnail", "SCAN", ""):
        answer = await site.http.post(JOBS, json={"kind": kind, "library_id": library})
        assert answer.status_code == 422, kind
        assert answer.json()["error"]["message"].startswith("kind: ")


async def test_a_cursor_that_no_page_gave_is_refused(site: Site, library: int) -> None:
    for path in (JOBS, LIBRARIES, f"{LIBRARIES}/{library}/files"):
        answer = await site.http.get(path, params={"cursor": "gone"})
        assert answer.status_code == 422, path
        assert answer.json()["error"]["message"].startswith("cursor: "), path


async def test_no_worker_outside_gets_a_scan(site: Site, library: int) -> None:
    task_id = (await site.http.post(f"{LIBRARIES}/{library}/scan")).json()["task_id"]
    body = {"worker": "agent", "task_types": ["library.scan"], "max": 1, "wait": 0}
    assert (await site.http.post("/api/v1/worker/claim", json=body)).json()["tasks"] == []
    assert (await site.http.get(f"{SCANS}/{task_id}")).json()["status"] == "pending"

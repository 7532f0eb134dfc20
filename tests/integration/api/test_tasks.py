"""Tasks over HTTP."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.runtime import Registry, Worker
from kurabito.runtime.outcomes import Success
from kurabito.runtime.tasks.payloads import JSON

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site


async def test_a_task_that_was_asked_for_can_be_looked_at(site: Site) -> None:
    payload = {"path": "/films/映画", "deep": [1, 2.5, None, {"a": True}]}
    answer = await site.http.post(
        "/api/v1/tasks",
        json={"task_type": "scan", "payload": payload, "priority": 3, "unique_key": "films", "max_attempts": 2},
    )
    assert answer.status_code == 201
    task = answer.json()
    assert (task["payload"], task["content_type"], task["state"]) == (payload, JSON, "queued")
    assert (task["priority"], task["unique_key"], task["max_attempts"]) == (3, "films", 2)
    assert task["created_at"].endswith("Z")
    assert task["reason"] == {"code": "no_worker", "parameters": {"task_type": "scan"}}
    assert (await site.http.get(f"/api/v1/tasks/{task['id']}")).json() == task


async def test_of_many_who_ask_with_one_key_at_once_one_is_told_that_it_is_new(site: Site) -> None:
    order = {"task_type": "scan", "unique_key": "films"}
    answers = await asyncio.gather(*(site.http.post("/api/v1/tasks", json=order) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1


async def test_a_delayed_task_says_when_it_is_due(quick_site: Site) -> None:
    async with Worker(quick_site.queue, _registry_of("scan")):
        task = (await quick_site.http.post("/api/v1/tasks", json={"task_type": "scan", "delay": 60})).json()
    assert task["state"] == "retry_scheduled"
    assert task["reason"]["code"] == "scheduled"
    assert task["next_run_at"].removesuffix("Z") in task["reason"]["parameters"]["next_run_at"]


async def test_a_payload_of_bytes_is_base64(site: Site) -> None:
    task = await site.queue.enqueue("draw", b"\x00\xff", content_type="image/png")
    shown = (await site.http.get(f"/api/v1/tasks/{task.id}")).json()
    assert (base64.b64decode(shown["payload"]), shown["content_type"]) == (b"\x00\xff", "image/png")


@pytest.mark.parametrize("stored", [b"NaN", b'"\\ud800"', b"{", b"[" * 300 + b"]" * 300])
async def test_a_payload_that_no_client_could_read_as_json_is_shown_as_bytes(quick_site: Site, stored: bytes) -> None:
    await quick_site.queue.enqueue("draw", stored, content_type=JSON)
    (shown,) = (await quick_site.http.get("/api/v1/tasks")).json()["items"]
    assert (base64.b64decode(shown["payload"]), shown["content_type"]) == (stored, "application/octet-stream")


async def test_pages_follow_one_another_to_the_end(site: Site) -> None:
    tasks = await site.queue.enqueue_many([("odd" if place % 2 else "even", place) for place in range(9)])
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query: dict[str, Any] = {"task_type": "even", "state": "queued", "limit": 2}
        page = (await site.http.get("/api/v1/tasks", params=query | ({"cursor": cursor} if cursor else {}))).json()
        seen += [task["id"] for task in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [str(task.id) for task in reversed(tasks) if task.task_type == "even"]


async def test_counts_name_every_state(site: Site) -> None:
    await site.queue.enqueue_many([("scan",), ("scan",)])
    await site.queue.cancel((await site.queue.enqueue("scan")).id)
    assert (await site.http.get("/api/v1/tasks/counts")).json() == {
        "queued": 2,
        "running": 0,
        "retry_scheduled": 0,
        "succeeded": 0,
        "dead": 0,
        "cancelled": 1,
    }


async def test_a_task_is_cancelled_once_and_retried(site: Site) -> None:
    path = f"/api/v1/tasks/{(await site.queue.enqueue('scan', unique_key='films')).id}"
    assert (await site.http.post(f"{path}/cancel")).json()["state"] == "cancelled"
    again = await site.http.post(f"{path}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (400, "task_finished")
    await site.queue.enqueue("scan", unique_key="films")
    refused = await site.http.post(f"{path}/retry")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "task_conflict")
    await site.queue.cancel((await site.queue.list(state="queued")).items[0].id)
    assert (await site.http.post(f"{path}/retry")).json()["state"] == "queued"


@pytest.mark.parametrize("task_id", ["0193a1b2-0000-7000-8000-00000000dead", "nonsense", "%00", "%FF"])
@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("POST", "/cancel"), ("POST", "/retry")])
async def test_an_unknown_task_is_404(quick_site: Site, task_id: str, method: str, path: str) -> None:
    answer = await quick_site.http.request(method, f"/api/v1/tasks/{task_id}{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "task_not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("{}", "task_type"),
        ("", "body"),
        ("[]", "body"),
        ("{", "1"),
        ('{"task_type": " "}', "task_type"),
        ('{"task_type": "a\\u0000"}', "task_type"),
        ('{"task_type": "\\ud800"}', "task_type"),
        ('{"task_type": 1}', "task_type"),
        ('{"task_type": "a", "payload": "\\ud800"}', "payload"),
        ('{"task_type": "a", "unique_key": "k", "payload": "\\ud800"}', "payload"),
        ('{"task_type": "a", "\\ud800": 1}', "body"),
        ('{"task_type": "a", "delay": NaN}', "delay"),
        ('{"task_type": "a", "delay": -1}', "delay"),
        ('{"task_type": "a", "delay": "1"}', "delay"),
        ('{"task_type": "a", "priority": 2147483648}', "priority"),
        ('{"task_type": "a", "priority": true}', "priority"),
        ('{"task_type": "a", "max_attempts": 0}', "max_attempts"),
        ('{"task_type": "a", "unique_key": ""}', "unique_key"),
        ('{"task_type": "a", "run": 1}', "run"),
    ],
)
async def test_a_bad_order_is_refused_with_the_fields_name(quick_site: Site, body: str, field: str) -> None:
    answer = await quick_site.http.post(
        "/api/v1/tasks", content=body.encode(), headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_input")
    assert answer.json()["error"]["message"].startswith(f"{field}: ")
    assert (await quick_site.queue.list()).items == ()


async def test_a_bad_question_is_refused_with_the_parameters_name(site: Site) -> None:
    for query in ("state=lost", "limit=0", "limit=1001", "limit=x", "cursor=x", "task_type=%00"):
        answer = await site.http.get(f"/api/v1/tasks?{query}")
        assert answer.status_code == 422, query
        assert answer.json()["error"]["message"].startswith(query.split("=", maxsplit=1)[0] + ": ")


async def test_a_payload_over_the_limit_is_413(quick_site: Site) -> None:
    answer = await quick_site.http.post("/api/v1/tasks", json={"task_type": "scan", "payload": "x" * (1 << 20)})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "payload_too_large")
    assert answer.json()["error"]["message"].startswith("payload: ")


def _registry_of(task_type: str) -> Registry:
    registry = Registry()

    @registry.task(task_type)
    async def done() -> None: ...

    return registry


async def test_bytes_and_tracebacks_are_shown_and_what_is_not_understood_breaks_no_list(quick_site: Site) -> None:
    registry, queue = Registry(), quick_site.queue

    @registry.task("raw")
    async def raw() -> bytes:
        return b"\xff\x00"

    @registry.task("fails", max_attempts=1)
    def fails() -> None:
        raise ExceptionGroup("several", [ValueError("caf\udce9"), LookupError("the second")])

    good, bad, odd = [await queue.enqueue(kind) for kind in ("raw", "fails", "odd")]
    claimed = await queue.work.claim("by-hand", {"odd": 1}, 1)
    await queue.work.settle([(claimed.tasks[0], Success(b"{broken"))])
    async with Worker(queue, registry):
        for task in (good, bad):
            await queue.wait(task.id, timeout=PATIENCE)
    answer = await quick_site.http.get("/api/v1/tasks")
    assert answer.status_code == 200
    shown = {item["id"]: item for item in answer.json()["items"]}
    assert base64.b64decode(shown[str(good.id)]["result"]) == b"\xff\x00"
    assert shown[str(good.id)]["result_content_type"] == "application/octet-stream"
    (error,) = shown[str(bad.id)]["errors"]
    assert "ValueError: caf\\udce9" in error["traceback"]
    assert "LookupError: the second" in error["traceback"]
    assert shown[str(odd.id)]["unreadable"] == ["result"]
    assert base64.b64decode(shown[str(odd.id)]["result"]) == b"{broken"

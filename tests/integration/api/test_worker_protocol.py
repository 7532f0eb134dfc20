"""What a server promises to external workers, rule by rule: `docs/worker-protocol.md`, section *The server*."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.protocol.external import LARGEST, MOST_FOLLOW_UPS, PROMISES, WORKERS
from kurabito.protocol.external.version import HEADER, SPOKEN
from kurabito.runtime import Queue, TaskState
from kurabito.runtime.tasks.intake import MAX_PAYLOAD

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site

ORDER = {"worker": "agent-1", "task_types": ["think"]}


async def claim(site: Site) -> dict[str, Any]:
    answer = await site.http.post("/api/v1/worker/claim", json=ORDER)
    (task,) = answer.json()["tasks"]
    return dict(task)


async def say(site: Site, task: dict[str, Any], word: str, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = await site.http.post(
        f"/api/v1/worker/tasks/{task['id']}/{word}", json={"lease_token": task["lease_token"], **body}
    )
    return answer.status_code, answer.json()


async def lose(site: Site) -> None:
    await site.queue.work.expire_worker("agent-1")
    await site.queue.work.recover()


async def types(queue: Queue) -> list[str]:
    return sorted(task.task_type for task in await queue.list())


def test_every_promise_has_a_test() -> None:
    promised = {rule.id for rule in WORKERS.rules.values() if rule.section == PROMISES}
    tested = {
        test.removeprefix("test_server_").partition("_")[0] for test in globals() if test.startswith("test_server_")
    }
    assert {f"SERVER-{number}" for number in tested} == promised
    assert LARGEST == MAX_PAYLOAD


@pytest.mark.parametrize("said", ["1.0", "1.1", "1.99", None])
async def test_server_1_takes_every_minor_and_says_its_version(quick_site: Site, said: str | None) -> None:
    answer = await quick_site.http.post("/api/v1/worker/claim", json=ORDER, headers={HEADER: said} if said else {})
    assert (answer.status_code, answer.headers[HEADER]) == (200, str(SPOKEN))


@pytest.mark.parametrize("said", ["2.0", "0.9", "1", "one.two", "", "1.-1"])
async def test_server_1_refuses_another_major_before_it_does_anything(quick_site: Site, said: str) -> None:
    await quick_site.queue.enqueue("think")
    answer = await quick_site.http.post("/api/v1/worker/claim", json=ORDER, headers={HEADER: said})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "worker_protocol_mismatch")
    assert repr(said) in answer.json()["error"]["message"]
    assert str(SPOKEN) in answer.json()["error"]["message"]
    assert answer.headers[HEADER] == str(SPOKEN)
    (task,) = await quick_site.queue.list()
    assert (task.state, await quick_site.queue.workers()) == (TaskState.QUEUED, [])


async def test_server_2_says_its_version_in_refusals_too(quick_site: Site) -> None:
    for path, body in (("claim", {"worker": "no types"}), ("tasks/none/snooze", {"lease_token": "a#b", "seconds": 1})):
        answer = await quick_site.http.post(f"/api/v1/worker/{path}", json=body)
        assert answer.status_code >= 400
        assert answer.headers[HEADER] == str(SPOKEN)
        assert set(answer.json()["error"]) == {"code", "message"}


async def test_server_3_gives_a_task_to_one_worker_at_a_time(quick_site: Site) -> None:
    await quick_site.queue.enqueue("think")
    first = await claim(quick_site)
    assert (await quick_site.http.post("/api/v1/worker/claim", json={**ORDER, "worker": "agent-2"})).json()[
        "tasks"
    ] == []
    await lose(quick_site)
    second = await claim(quick_site)
    assert (second["id"], second["attempt"]) == (first["id"], 1)
    assert second["lease_token"] != first["lease_token"]


@pytest.mark.parametrize(
    ("word", "body"),
    [
        ("heartbeat", {}),
        ("complete", {"follow_ups": [{"task_type": "later"}]}),
        ("fail", {"error": "late"}),
        ("snooze", {"seconds": 1}),
    ],
)
async def test_server_4_refuses_every_word_without_the_lease(quick_site: Site, word: str, body: dict[str, Any]) -> None:
    asked = await quick_site.queue.enqueue("think")
    task = await claim(quick_site)
    await lose(quick_site)
    await claim(quick_site)
    before = await quick_site.queue.get(asked.id)
    status, refusal = await say(quick_site, task, word, **body)
    assert (status, refusal["error"]["code"]) == (409, "lease_lost")
    assert await quick_site.queue.get(asked.id) == before
    assert await types(quick_site.queue) == ["think"]


async def test_server_5_stores_follow_ups_together_with_the_success(site: Site) -> None:
    await site.queue.enqueue("think")
    active = await site.queue.enqueue("later", unique_key="once")
    orders = [{"task_type": "later", "payload": {"n": 1}, "delay": 60.0}, {"task_type": "later", "unique_key": "once"}]
    status, done = await say(site, await claim(site), "complete", result=1, follow_ups=orders)
    assert (status, done["state"]) == (200, "succeeded")
    after = {task.id: task for task in await site.queue.list(task_type="later")}
    assert len(after) == 2
    del after[active.id]
    (made,) = after.values()
    assert (made.state, made.payload_as(dict)) == (TaskState.RETRY_SCHEDULED, {"n": 1})


@pytest.mark.parametrize(
    ("orders", "status", "field"),
    [
        ([{"task_type": "later"}, {"task_type": " "}], 422, "follow_ups.1.task_type: "),
        ([{"task_type": "later"}, {"task_type": "later", "payload": "x" * LARGEST}], 413, "follow_ups.1.payload: "),
        ([{"task_type": "later", "state": "dead"}], 422, "follow_ups.0.state: "),
        ([{"task_type": "later"}] * (MOST_FOLLOW_UPS + 1), 422, "follow_ups: "),
    ],
)
async def test_server_5_ends_nothing_when_one_follow_up_is_refused(
    quick_site: Site, orders: list[dict[str, Any]], status: int, field: str
) -> None:
    await quick_site.queue.enqueue("think")
    task = await claim(quick_site)
    refused, refusal = await say(quick_site, task, "complete", follow_ups=orders)
    assert refused == status
    assert refusal["error"]["message"].startswith(field)
    assert await types(quick_site.queue) == ["think"]
    assert (await say(quick_site, task, "complete", follow_ups=orders[:1] if status == 413 else []))[0] == 200


async def test_server_6_counts_no_attempt_for_a_snooze(quick_site: Site) -> None:
    await quick_site.queue.enqueue("think")
    task = await claim(quick_site)
    await say(quick_site, task, "heartbeat", done=3)
    status, snoozed = await say(quick_site, task, "snooze", seconds=90)
    assert (status, snoozed["state"], snoozed["attempts"], snoozed["last_error"]) == (200, "retry_scheduled", 0, None)
    wait = datetime.fromisoformat(snoozed["next_run_at"]) - datetime.now(UTC)
    assert timedelta(seconds=60) < wait <= timedelta(seconds=90)
    assert (await say(quick_site, task, "complete"))[0] == 409


async def test_server_6_gives_a_task_again_at_once_that_is_snoozed_for_0_seconds(quick_site: Site) -> None:
    await quick_site.queue.enqueue("think")
    task = await claim(quick_site)
    await say(quick_site, task, "heartbeat", done=3)
    await say(quick_site, task, "snooze", seconds=0)
    again = await claim(quick_site)
    assert (again["id"], again["attempt"], again["progress"]["done"]) == (task["id"], 1, 3)


@pytest.mark.parametrize("seconds", [-1, 1e12, "soon", None])
async def test_server_6_refuses_a_wait_that_cannot_be_kept(quick_site: Site, seconds: Any) -> None:
    await quick_site.queue.enqueue("think")
    task = await claim(quick_site)
    status, refusal = await say(quick_site, task, "snooze", seconds=seconds)
    assert (status, refusal["error"]["message"].partition(":")[0]) == (422, "seconds")
    assert (await say(quick_site, task, "snooze", seconds=0))[0] == 200


async def test_server_7_keeps_the_task_with_its_worker_when_a_word_is_refused(quick_site: Site) -> None:
    await quick_site.queue.enqueue("think")
    task = await claim(quick_site)
    assert (await say(quick_site, task, "complete", result="x" * LARGEST))[0] == 413
    assert (await say(quick_site, task, "complete", outcome=1))[0] == 422
    assert (await say(quick_site, task, "fail", error="too large to store", permanent=True))[0] == 200


async def test_the_interface_is_described_with_its_version(quick_site: Site) -> None:
    paths = (await quick_site.http.get("/openapi.json")).json()["paths"]
    for path, operations in paths.items():
        if path.startswith("/api/v1/worker/"):
            named = [parameter["name"] for parameter in operations["post"]["parameters"]]
            assert HEADER in named, path

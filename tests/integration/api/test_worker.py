"""External workers: claims, heartbeats and ends over HTTP."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.api.live import Live
from kurabito.api.tasks.claims import ClaimDesk, ClaimRequest
from kurabito.clock import ManualClock
from kurabito.errors import LeaseLost
from kurabito.runtime import TaskState
from kurabito.runtime.memory import MemoryQueue
from kurabito.runtime.model import Progress

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site
    from tests.support.waiting import Eventually

KEY = "a key for the tests"


async def claim(site: Site, *task_types: str, **order: Any) -> list[dict[str, Any]]:
    body = {"worker": "agent-1", "task_types": task_types or ["think"], **order}
    answer = await site.http.post("/api/v1/worker/claim", json=body)
    assert answer.status_code == 200, answer.text
    tasks: list[dict[str, Any]] = answer.json()["tasks"]
    return tasks


async def say(site: Site, task: dict[str, Any], word: str, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = await site.http.post(
        f"/api/v1/worker/tasks/{task['id']}/{word}", json={"lease_token": task["lease_token"], **body}
    )
    return answer.status_code, answer.json()


async def test_a_task_is_claimed_worked_on_and_completed(site: Site) -> None:
    asked = await site.queue.enqueue("think", {"about": "tea"}, max_attempts=3)
    await site.queue.enqueue("other")
    (task,) = await claim(site, max=5)
    assert (task["id"], task["payload"], task["attempt"], task["progress"]) == (
        str(asked.id),
        {"about": "tea"},
        1,
        None,
    )
    status, lease = await say(site, task, "heartbeat", done=1, total=2)
    assert status == 200
    assert datetime.fromisoformat(lease["lease_expires_at"]) >= datetime.fromisoformat(task["lease_expires_at"])
    assert (await site.queue.get(asked.id)).progress == Progress(1, 2)
    status, done = await say(site, task, "complete", result={"answer": 42})
    assert (status, done["state"], done["result"]) == (200, "succeeded", {"answer": 42})
    assert done["worker"] == "agent-1"


async def test_a_claim_waits_for_a_task_to_come(site: Site) -> None:
    waiting = asyncio.create_task(claim(site, wait=30))
    while not await site.queue.workers():
        await asyncio.sleep(0.005)
    asked = await site.queue.enqueue("think")
    assert not asked.no_worker
    assert [task["id"] for task in await waiting] == [str(asked.id)]


async def test_a_waiting_worker_is_listed_with_its_types(site: Site) -> None:
    assert await claim(site, "think", "draw", "think", max=3) == []
    (worker,) = (await site.http.get("/api/v1/system")).json()["workers"]
    assert (worker["name"], worker["task_types"], worker["concurrency"]) == ("agent-1", ["think", "draw"], 3)


async def test_a_failed_attempt_is_tried_again_later(site: Site) -> None:
    await site.queue.enqueue("think")
    (task,) = await claim(site)
    status, failed = await say(site, task, "fail", error="no idea\x00")
    assert (status, failed["state"], failed["attempts"], failed["last_error"]) == (
        200,
        "retry_scheduled",
        1,
        "no idea\N{REPLACEMENT CHARACTER}",
    )
    assert failed["next_run_at"] is not None


async def test_a_permanent_failure_is_the_end(site: Site) -> None:
    await site.queue.enqueue("think")
    (task,) = await claim(site)
    status, failed = await say(site, task, "fail", error="never", permanent=True)
    assert (status, failed["state"], failed["last_error"]) == (200, "dead", "never")


@pytest.mark.parametrize(
    ("word", "body"), [("heartbeat", {"done": 1}), ("complete", {"result": 1}), ("fail", {"error": "late"})]
)
async def test_a_worker_that_lost_its_task_changes_nothing(site: Site, word: str, body: dict[str, Any]) -> None:
    asked = await site.queue.enqueue("think")
    (old,) = await claim(site)
    await site.queue.work.expire_worker("agent-1")
    await site.queue.work.recover()
    (new,) = await claim(site)
    before = await site.queue.get(asked.id)
    status, refusal = await say(site, old, word, **body)
    assert (status, refusal["error"]["code"]) == (409, "lease_lost")
    assert await site.queue.get(asked.id) == before
    assert (await say(site, new, word, **body))[0] == 200


async def test_a_heartbeat_learns_that_the_task_was_cancelled(site: Site) -> None:
    asked = await site.queue.enqueue("think")
    (task,) = await claim(site)
    await site.queue.cancel(asked.id)
    status, refusal = await say(site, task, "heartbeat")
    assert (status, refusal["error"]["code"]) == (409, "lease_lost")


async def test_a_second_end_is_refused(site: Site) -> None:
    await site.queue.enqueue("think")
    (task,) = await claim(site)
    assert (await say(site, task, "complete"))[0] == 200
    assert (await say(site, task, "complete"))[0] == 409


@pytest.mark.parametrize("task_id", ["nonsense", "0197a2c4-0000-7000-8000-000000000000"])
async def test_nobody_holds_an_unknown_task(site: Site, task_id: str) -> None:
    status, refusal = await say(site, {"id": task_id, "lease_token": "agent-1#0"}, "heartbeat")
    assert (status, refusal["error"]["code"]) == (404, "task_not_found")


async def test_a_result_over_the_limit_is_refused_and_the_task_stays_the_workers(quick_site: Site) -> None:
    await quick_site.queue.enqueue("think")
    (task,) = await claim(quick_site)
    status, refusal = await say(quick_site, task, "complete", result="x" * (1 << 20))
    assert (status, refusal["error"]["code"]) == (413, "payload_too_large")
    assert (await say(quick_site, task, "complete", result="short"))[0] == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"worker": "a b"}, "worker"),
        ({"worker": "a#b"}, "worker"),
        ({"task_types": []}, "task_types"),
        ({"task_types": ["\x00"]}, "task_types.0"),
        ({"max": 0}, "max"),
        ({"max": 101}, "max"),
        ({"wait": 31}, "wait"),
        ({"wait": -1}, "wait"),
        ({"types": ["a"]}, "types"),
    ],
)
async def test_a_bad_claim_is_refused_with_the_fields_name(quick_site: Site, body: dict[str, Any], field: str) -> None:
    order = {"worker": "agent-1", "task_types": ["think"]}
    answer = await quick_site.http.post("/api/v1/worker/claim", json=order | body)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith(f"{field}: ")


async def test_a_task_is_not_lost_to_a_client_that_left_while_it_waited(site: Site, eventually: Eventually) -> None:
    body = json.dumps({"worker": "gone", "task_types": ["think"], "wait": 30}).encode()
    head = f"POST /api/v1/worker/claim HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {KEY}\r\nContent-Type: application/json\r\n"
    _, writer = await site.stream()
    writer.write(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await eventually(site.queue.workers)
    writer.close()
    await writer.wait_closed()
    asked = await site.queue.enqueue("think")
    (task,) = await claim(site, wait=30)
    assert (task["id"], task["attempt"]) == (str(asked.id), 1)
    assert (await site.queue.get(asked.id)).lost_leases == 0


async def test_waiting_claims_are_answered_at_once_when_the_server_stops(site: Site) -> None:
    waiting = asyncio.create_task(claim(site, wait=30))
    while not await site.queue.workers():
        await asyncio.sleep(0.005)
    site.live.end()
    assert await waiting == []


class Desk:
    """A desk whose time stands still."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.queue = MemoryQueue(clock=self.clock)
        self.live = Live(self.queue)
        self.desk = ClaimDesk(self.queue, self.live, lease=30.0, clock=self.clock)

    def waiting(self, wait: float) -> asyncio.Task[list[Any]]:
        wish = ClaimRequest("agent", ("think",), 10, wait)
        return asyncio.create_task(self.desk.claim(wish, lambda: False))


async def at_rest(task: asyncio.Task[Any], clock: ManualClock) -> None:
    """Until the task waits for time to pass."""
    while not clock._waiting and not task.done():
        await asyncio.sleep(0.001)


async def test_a_claim_gives_up_when_its_time_is_over() -> None:
    desk = Desk()
    waiting = desk.waiting(30.0)
    for _ in range(6):
        await at_rest(waiting, desk.clock)
        assert not waiting.done()
        desk.clock.advance(5.0)
        await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        assert await waiting == []


async def test_a_claim_is_over_at_once_when_the_server_stops() -> None:
    desk = Desk()
    waiting = desk.waiting(30.0)
    await at_rest(waiting, desk.clock)
    desk.live.end()
    async with asyncio.timeout(PATIENCE):
        assert await waiting == []


async def test_a_claim_is_over_at_once_when_its_client_leaves() -> None:
    desk, left = Desk(), asyncio.Event()
    wish = ClaimRequest("agent", ("think",), 10, 30.0)
    waiting = asyncio.create_task(desk.desk.claim(wish, left.is_set))
    await at_rest(waiting, desk.clock)
    left.set()
    wish.stir()
    async with asyncio.timeout(PATIENCE):
        assert await waiting == []


async def test_a_claim_gets_a_scheduled_task_when_it_is_due() -> None:
    desk = Desk()
    asked = await desk.queue.enqueue("think", delay=3.0)
    waiting = desk.waiting(30.0)
    await at_rest(waiting, desk.clock)
    desk.clock.advance(3.0)
    async with asyncio.timeout(PATIENCE):
        (claim,) = await waiting
    assert claim.id == asked.id


async def test_what_was_claimed_for_a_client_that_has_left_is_put_back() -> None:
    desk = Desk()
    asked = await desk.queue.enqueue("think")
    assert await desk.desk.claim(ClaimRequest("agent", ("think",), 1, 0.0), lambda: True) == []
    record = await desk.queue.get(asked.id)
    assert (record.state, record.attempts, record.lost_leases) == (TaskState.QUEUED, 0, 0)


async def test_a_claim_brings_at_most_one_task_that_may_be_what_kills_its_workers() -> None:
    desk = Desk()
    await desk.queue.enqueue_many([("think", place) for place in range(3)])
    for _ in range(2):
        assert len(await desk.waiting(0.0)) == 3
        await desk.queue.work.expire_worker("agent")
        await desk.queue.work.recover()
    assert len(await desk.waiting(0.0)) == 1
    counts = await desk.queue.counts_by_state()
    assert (counts[TaskState.RUNNING], counts[TaskState.RETRY_SCHEDULED]) == (1, 2)


async def test_a_worker_gets_no_second_task_that_may_kill_it_while_it_has_one() -> None:
    desk = Desk()
    tasks = await desk.queue.enqueue_many([("think", place) for place in range(2)])
    for _ in range(2):
        assert len(await desk.waiting(0.0)) == 2
        await desk.queue.work.expire_worker("agent")
        await desk.queue.work.recover()
    (first,) = await desk.waiting(0.0)
    desk.clock.advance(1.0)
    assert await desk.queue.work.promote() == 1
    harmless = await desk.queue.enqueue("think")
    assert [claim.id for claim in await desk.waiting(0.0)] == [harmless.id]
    assert (await desk.queue.get(tasks[1].id)).state is not TaskState.RUNNING
    await desk.desk.complete(str(first.id), first.owner, None, lambda _most: ())
    assert [claim.id for claim in await desk.waiting(0.0)] == [tasks[1].id]


async def test_a_heartbeat_keeps_the_worker_listed_and_its_lease() -> None:
    desk = Desk()
    asked = await desk.queue.enqueue("think")
    (claim,) = await desk.waiting(0.0)
    for _ in range(3):
        desk.clock.advance(20.0)
        await desk.desk.beat(str(asked.id), claim.owner, None)
    assert [worker.name for worker in await desk.queue.workers()] == ["agent"]
    desk.clock.advance(31.0)
    await desk.queue.work.recover()
    with pytest.raises(LeaseLost):
        await desk.desk.beat(str(asked.id), claim.owner, None)

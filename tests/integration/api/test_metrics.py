"""`/metrics`, as Prometheus reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from tests.support.waiting import PATIENCE

from kurabito.api.system.meters import QueueDepth
from kurabito.api.system.prometheus import Counter, Histogram
from kurabito.clock import ManualClock
from kurabito.runtime import Fixed, Registry, TaskState, Worker, open_queue
from kurabito.runtime.memory import MemoryQueue
from kurabito.runtime.outcomes import Released

if TYPE_CHECKING:
    from tests.integration.api.conftest import Site
    from tests.support.waiting import Eventually

SAMPLE = re.compile(r'[a-z_]+(\{[a-z_]+="(\\.|[^"\\])*"(,[a-z_]+="(\\.|[^"\\])*")*\})? [0-9.e+-]+')


async def scraped(site: Site) -> dict[str, float]:
    answer = await site.http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert all(line.startswith(("# HELP ", "# TYPE ")) or SAMPLE.fullmatch(line) for line in lines), lines
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}


async def test_tasks_are_counted_by_what_happened_to_them(site: Site, eventually: Eventually) -> None:
    registry = Registry()

    @registry.task("good")
    async def good() -> None: ...

    @registry.task("bad", max_attempts=2, retry=Fixed(0.0))
    async def bad() -> None:
        raise ValueError("no")

    async with Worker(site.queue, registry):
        for _ in range(3):
            await site.queue.enqueue("good")
        dead = await site.queue.wait((await site.queue.enqueue("bad")).id, timeout=PATIENCE)
        assert dead.state is TaskState.DEAD
        await eventually(lambda: _dead(site))
        metrics = await scraped(site)
    assert metrics['kurabito_task_duration_seconds_count{task_type="good"}'] == 3
    assert metrics['kurabito_task_duration_seconds_count{task_type="bad"}'] == 2
    assert metrics['kurabito_task_duration_seconds_bucket{task_type="good",le="+Inf"}'] == 3
    assert metrics['kurabito_task_failures_total{task_type="bad"}'] == 2
    assert metrics['kurabito_task_retries_total{task_type="bad"}'] == 1
    assert metrics['kurabito_tasks_dead_total{task_type="bad"}'] == 1
    assert metrics["kurabito_leases_recovered_total"] == 0


async def test_leases_that_were_recovered_are_counted_and_tasks_put_back_are_not(
    site: Site, eventually: Eventually
) -> None:
    back = await site.queue.enqueue("think")
    for _ in range(2):
        (claim,) = (await site.queue.work.claim("tidy", {"think": 1}, 1)).tasks
        await site.queue.work.settle([(claim, Released())])
    await site.queue.cancel(back.id)
    lost = await site.queue.enqueue("think")
    for worker in ("one", "two", "three"):
        await site.queue.work.claim(worker, {"think": 1}, 1)
        await site.queue.work.expire_worker(worker)
        await site.queue.work.recover()
    assert (await site.queue.get(lost.id)).state is TaskState.DEAD
    await eventually(lambda: _dead(site))
    assert (await scraped(site))["kurabito_leases_recovered_total"] == 3
    assert (await scraped(site))["kurabito_leases_recovered_total"] == 3


async def test_a_lease_is_counted_as_recovered_though_its_task_began_before_the_server_did(
    url: str, serve: Callable[..., AbstractAsyncContextManager[Site]], eventually: Eventually
) -> None:
    async with open_queue(url) as queue:
        await queue.enqueue("think")
        await queue.work.claim("killed with the server before", {"think": 1}, 1)
    async with serve(url) as site:
        await site.queue.work.expire_worker("killed with the server before")
        await site.queue.work.recover()
        await site.queue.work.claim("next", {"think": 1}, 1)

        async def counted() -> bool:
            return (await scraped(site))["kurabito_leases_recovered_total"] == 1

        await eventually(counted)


async def test_the_depth_of_the_queue_is_told_by_type_and_state(site: Site) -> None:
    await site.queue.enqueue_many([("think",), ("think",), ("draw",)])
    await site.queue.cancel((await site.queue.enqueue("draw")).id)
    metrics = await scraped(site)
    assert metrics['kurabito_queue_tasks{task_type="think",state="queued"}'] == 2
    assert metrics['kurabito_queue_tasks{task_type="draw",state="queued"}'] == 1
    assert metrics['kurabito_queue_tasks{task_type="draw",state="cancelled"}'] == 1
    assert metrics['kurabito_queue_oldest_seconds{task_type="think",state="queued"}'] >= 0
    assert 'kurabito_queue_oldest_seconds{task_type="draw",state="cancelled"}' not in metrics


async def test_the_queue_is_asked_for_its_depth_every_few_seconds_at_most() -> None:
    clock = ManualClock()
    queue = MemoryQueue(clock=clock)
    depth = QueueDepth(queue, clock)
    counts = []
    for seconds in (0.0, 4.9, 0.1):
        clock.advance(seconds)
        await queue.enqueue("think")
        counts.append([line for line in await depth.lines() if line.startswith("kurabito_queue_tasks")])
    assert counts == [[f'kurabito_queue_tasks{{task_type="think",state="queued"}} {count}'] for count in (1, 1, 3)]


async def test_requests_are_counted_by_the_template_of_their_route(quick_site: Site) -> None:
    task = await quick_site.queue.enqueue("think")
    await quick_site.http.get(f"/api/v1/tasks/{task.id}")
    await quick_site.http.get("/api/v1/tasks/nonsense")
    await quick_site.http.get("/nowhere/at/all")
    await quick_site.http.request("BREW", "/coffee")
    await quick_site.http.post("/api/v1/tasks", json={})
    metrics = await scraped(quick_site)
    name, route = "kurabito_http_requests_total", 'route="/api/v1/tasks/{task_id}"'
    assert metrics[f'{name}{{method="GET",{route},status="200"}}'] == 1
    assert metrics[f'{name}{{method="GET",{route},status="404"}}'] == 1
    assert metrics[f'{name}{{method="GET",route="none",status="404"}}'] == 1
    assert metrics[f'{name}{{method="OTHER",route="none",status="404"}}'] == 1
    assert metrics[f'{name}{{method="POST",route="/api/v1/tasks",status="422"}}'] == 1
    assert metrics[f'kurabito_http_request_duration_seconds_count{{method="GET",{route}}}'] == 2


async def test_the_process_tells_when_it_began_and_who_listens(quick_site: Site) -> None:
    with quick_site.live.listen():
        metrics = await scraped(quick_site)
    assert metrics["process_start_time_seconds"] == 1767323045
    assert metrics["kurabito_live_clients"] == 1


def test_labels_are_escaped() -> None:
    counter = Counter("c", "meaning", ["type"])
    counter.add('a"b\\c\nd')
    assert list(counter.lines())[-1] == 'c{type="a\\"b\\\\c\\nd"} 1'


def test_a_histogram_counts_upwards() -> None:
    histogram = Histogram("h", "meaning", ["type"], (0.1, 1))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        histogram.observe(seconds, "a")
    assert list(histogram.lines()) == [
        "# HELP h meaning",
        "# TYPE h histogram",
        'h_bucket{type="a",le="0.1"} 2',
        'h_bucket{type="a",le="1"} 3',
        'h_bucket{type="a",le="+Inf"} 4',
        'h_sum{type="a"} 7.65',
        'h_count{type="a"} 4',
    ]


def test_endlessly_many_types_are_counted_together() -> None:
    counter = Counter("c", "meaning", ["type"])
    for place in range(5000):
        counter.add(f"type {place}")
    lines = list(counter.lines())
    assert len(lines) < 2100
    assert 'c{type="other"} 3000' in lines


async def _dead(site: Site) -> bool:
    return "kurabito_tasks_dead_total{" in (await site.http.get("/metrics")).text

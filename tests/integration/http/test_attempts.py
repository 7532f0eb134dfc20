"""Another attempt, where it is worth it and where it is safe."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from kurabito.clock import SECOND, ManualClock, to_datetime
from kurabito.http import Limits, Outbound
from kurabito.http.errors import BadStatus, Unreachable

if TYPE_CHECKING:
    from tests.integration.http.conftest import Asked, Names, Site, Waiting

PATIENT = Limits(seconds=1e6, connect_seconds=1e6)


class Times:
    """Notes when each request came, by the test's clock."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._seen: list[int] = []

    async def __call__(self, _asked: Asked, writer: asyncio.StreamWriter) -> None:
        self._seen.append(self._clock.now())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def since(self, start: int) -> list[float]:
        return [(seen - start) / SECOND for seen in self._seen]


@pytest.mark.parametrize("status", ["429 Too Many Requests", "502 Bad Gateway", "503 Unavailable", "504 Timeout"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
async def test_a_host_that_is_busy_is_asked_again(
    outbound: Outbound, site: Site, waiting: Waiting, status: str, method: str
) -> None:
    site.says("/", status=status)
    site.says("/")
    assert (await waiting(outbound.request(method, site.url(), limits=PATIENT))).status == 200
    assert len(site.asked) == 2


async def test_the_waits_grow_and_the_attempts_are_counted(
    outbound: Outbound, site: Site, clock: ManualClock, waiting: Waiting
) -> None:
    site.says("/", status="503 Unavailable")
    start = clock.now()
    with pytest.raises(BadStatus, match=r"GET http://site\.test:\d+/ was answered with 503") as failed:
        await waiting(outbound.get(site.url(), limits=PATIENT))
    assert failed.value.answered == 503
    assert len(site.asked) == 3
    assert (clock.now() - start) / SECOND >= 1.0 + 2.0


@pytest.mark.parametrize("status", ["400 Bad", "401 No", "404 Not Found", "500 Error", "304 Not Modified"])
async def test_what_would_fail_again_is_not_tried_again(outbound: Outbound, site: Site, status: str) -> None:
    site.says("/", status=status)
    with pytest.raises(BadStatus) as failed:
        await outbound.get(site.url())
    assert failed.value.answered == int(status[:3])
    assert len(site.asked) == 1


async def test_a_request_that_might_do_it_twice_is_sent_once(outbound: Outbound, site: Site) -> None:
    site.says("/", status="503 Unavailable")
    with pytest.raises(BadStatus):
        await outbound.request("POST", site.url(), json={"a": 1})
    assert [(asked.method, asked.body) for asked in site.asked] == [("POST", b'{"a":1}')]


@pytest.mark.parametrize("as_date", [False, True])
async def test_a_host_is_not_asked_before_it_wants_to_be(
    outbound: Outbound, site: Site, clock: ManualClock, waiting: Waiting, as_date: bool
) -> None:
    start = clock.now()
    date = to_datetime(start + 30 * SECOND).strftime("%a, %d %b %Y %H:%M:%S GMT")
    times = Times(clock)
    site.says("/", status="429 Too Many Requests", retry_after=date if as_date else "30")
    site.does("/", times)
    await waiting(outbound.get(site.url(), limits=PATIENT))
    assert times.since(start)[0] >= 30.0


async def test_others_wait_too_when_a_host_asked_for_rest(
    outbound: Outbound, site: Site, clock: ManualClock, waiting: Waiting
) -> None:
    times = Times(clock)
    site.says("/busy", status="503 Unavailable", retry_after="40")
    site.does("/other", times)
    with pytest.raises(BadStatus):
        await outbound.get(site.url("/busy"), limits=Limits(attempts=1))
    start = clock.now()
    await waiting(outbound.get(site.url("/other"), limits=PATIENT))
    assert times.since(start)[0] >= 40.0


async def test_a_host_that_wants_a_long_rest_is_left_to_the_caller(outbound: Outbound, site: Site) -> None:
    site.says("/", status="429 Too Many Requests", retry_after="3600")
    with pytest.raises(BadStatus) as failed:
        await outbound.get(site.url())
    assert failed.value.retry_after == 3600.0
    assert len(site.asked) == 1


async def test_a_connection_that_is_refused_is_tried_again(
    outbound: Outbound, site: Site, names: Names, waiting: Waiting
) -> None:
    site.says("/", b"here")
    names.answers["site.test"] = [["127.0.0.3"], ["127.0.0.1"]]
    assert (await waiting(outbound.get(site.url(), limits=PATIENT))).content == b"here"
    assert len(names.asked) == 2


async def test_a_connection_that_is_always_refused_is_given_up(
    outbound: Outbound, site: Site, names: Names, waiting: Waiting
) -> None:
    names.answers["site.test"] = [["127.0.0.3"]]
    with pytest.raises(Unreachable, match=r"site\.test did not take a connection \(127\.0\.0\.3: Connection refused\)"):
        await waiting(outbound.get(site.url(), limits=PATIENT))
    assert len(names.asked) == 3


async def test_a_host_is_asked_two_things_at_once_and_at_its_pace(
    site: Site, names: Names, clock: ManualClock, waiting: Waiting
) -> None:
    times = Times(clock)
    site.does("/", times)
    async with Outbound(private_hosts=["site.test"], resolver=names, clock=clock) as outbound:
        outbound.pace("site.test", 5.0)
        start = clock.now()

        async def several() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(4):
                    group.create_task(outbound.get(site.url(), limits=PATIENT))

        await waiting(several())
    seen = times.since(start)
    assert all(moment >= 5.0 * number for number, moment in enumerate(seen))
    assert len(seen) == 4


async def test_no_more_than_two_requests_are_open_at_one_host(outbound: Outbound, site: Site) -> None:
    two, go_on = asyncio.Event(), asyncio.Event()
    now = most = 0

    async def slow(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        if now == 2:
            two.set()
        await go_on.wait()
        now -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    site.does("/", slow)
    asking = [asyncio.create_task(outbound.get(site.url())) for _ in range(6)]
    await two.wait()
    go_on.set()
    await asyncio.gather(*asking)
    assert (most, len(site.asked)) == (2, 6)

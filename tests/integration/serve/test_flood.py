"""A flood of connections and requests costs neither the keeper nor the machine: memory, descriptors and log stay bounded."""

from __future__ import annotations

import http.client
import re
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands

Until = Callable[[Callable[[], object]], None]

DESCRIPTORS = 256
MANY = 1200
KEY = "a key that is long enough for everybody"
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Filler: " + b"x" * 8000
MOST_LOG = 100_000
MOST_GROWTH = 64 << 20


@pytest.fixture(autouse=True)
def descriptors_of_our_own() -> Iterator[None]:
    """The flood needs one of ours for each of its connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def flood(url: str, count: int, begin: bytes, source: Callable[[int], str] = lambda _: "127.0.0.1") -> Iterator[None]:
    """So many connections with the beginning of something, which are held open."""
    place = urlsplit(url)
    with ExitStack() as held:
        for number in range(count):
            line = held.enter_context(socket.socket())
            line.settimeout(30)
            line.bind((source(number), 0))
            line.connect((place.hostname, place.port))
            try:
                line.send(begin)
            except ConnectionError:
                # It was closed to make room; another one follows.
                pass
        yield


def answered(url: str, path: str = "/api/v1/tasks/counts", source: str = "127.0.0.2", **headers: str) -> int:
    """The status that a request gets."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=30, source_address=(source, 0))
    try:
        connection.request("GET", path, headers={"X-Api-Key": KEY, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def memory_of(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) << 10


def descriptors_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


@pytest.mark.parametrize("addresses", [1, 200])
def test_half_sent_requests_lock_nobody_out(commands: Commands, addresses: int) -> None:
    commands.descriptors = DESCRIPTORS
    # Longer than the test, so that it is not time which makes room.
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY, KURABITO_HEADER_SECONDS="600") as served:
        pid = served.process.pid
        assert answered(served.url) == 200
        before = memory_of(pid)
        with flood(served.url, MANY, HALF, lambda number: f"127.0.1.{number % addresses + 1}"):
            assert answered(served.url) == 200
            assert answered(served.url, source="127.0.1.1") == 200
            assert descriptors_of(pid) < DESCRIPTORS
            assert memory_of(pid) - before < MOST_GROWTH
        assert answered(served.url) == 200
        assert served.log.stat().st_size < MOST_LOG
        assert "Traceback" not in served.log.read_text()


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 15000\r\n\r\npassword=" + b"x" * 14_000,
        # Answers that nobody reads.
        b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100,
    ],
    ids=["silent", "slow body", "unread"],
)
def test_other_ways_to_hold_a_connection_lock_nobody_out_either(commands: Commands, begin: bytes) -> None:
    commands.descriptors = DESCRIPTORS
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY, KURABITO_HEADER_SECONDS="600") as served:
        pid = served.process.pid
        assert answered(served.url) == 200
        before = memory_of(pid)
        with flood(served.url, 400, begin):
            assert answered(served.url) == 200
            assert descriptors_of(pid) < DESCRIPTORS
            assert memory_of(pid) - before < MOST_GROWTH
        assert served.log.stat().st_size < MOST_LOG
        assert "Traceback" not in served.log.read_text()


def test_half_sent_requests_end_after_a_while(commands: Commands, until: Until) -> None:
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY, KURABITO_HEADER_SECONDS="0.2") as served:
        assert answered(served.url) == 200
        before = descriptors_of(served.process.pid)
        with flood(served.url, 200, HALF):
            until(lambda: descriptors_of(served.process.pid) <= before)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET /%s HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: wrong\r\n\r\n", 401),
        ("GET /%s HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", 401),
        ("%s\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ],
    ids=["wrong key", "foreign host", "upgrade", "nonsense", "two lengths"],
)
def test_refused_requests_do_not_fill_the_log(commands: Commands, request_: str, status: int) -> None:
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY) as served:
        place = urlsplit(served.url)
        statuses = set()
        begun = served.log.stat().st_size
        for number in range(300):
            with socket.create_connection((place.hostname, place.port), timeout=30) as line:
                line.sendall((request_ % f"{number}{'x' * 2000}").encode())
                statuses.add(int(line.makefile("rb").readline().split()[1]))
        assert status in statuses
        assert statuses <= {status, 429}
        assert served.log.stat().st_size - begun < MOST_LOG
        assert answered(served.url) == 200


def test_a_client_that_leaves_in_the_middle_of_a_body_is_no_failure_of_ours(commands: Commands, until: Until) -> None:
    begin = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npassword=x"
    with commands.serving("--no-dataplane", KURABITO_API_KEY=KEY) as served:
        assert answered(served.url) == 200
        before = descriptors_of(served.process.pid)
        with flood(served.url, 100, begin):
            pass
        until(lambda: descriptors_of(served.process.pid) <= before)
        assert answered(served.url) == 200
        assert "Traceback" not in served.log.read_text()
        assert served.log.stat().st_size < MOST_LOG


def test_a_downloader_service_is_guarded_in_the_same_way(commands: Commands, tmp_path: Path) -> None:
    commands.descriptors = DESCRIPTORS
    arguments = ["downloader", "--client", "embedded", "--core", "http://127.0.0.1:9", "--port", "0"]
    environment = {"KURABITO_DOWNLOAD_ROOT": str(tmp_path / "downloads"), "KURABITO_HEADER_SECONDS": "600"}
    with commands.started(*arguments, **environment) as (process, log):
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1].rstrip(".")
        assert answered(url, "/health") == 200
        before = memory_of(process.pid)
        with flood(url, MANY, HALF):
            assert answered(url, "/health") == 200
            assert descriptors_of(process.pid) < DESCRIPTORS
            assert memory_of(process.pid) - before < MOST_GROWTH
        assert log.stat().st_size < MOST_LOG
        assert "Traceback" not in log.read_text()

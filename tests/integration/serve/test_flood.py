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
from tests.support.waiting import PATIENCE, Until

if TYPE_CHECKING:
    from tests.integration.serve.conftest import Commands, Served

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


@pytest.fixture(scope="module")
def served(shared_commands: Commands) -> Iterator[Served]:
    """A `kurabito serve` with few descriptors. It waits for heads longer than the tests run: time is not what makes room."""
    shared_commands.descriptors = DESCRIPTORS
    options = {"KURABITO_API_KEY": KEY, "KURABITO_HEADER_SECONDS": "600"}
    with shared_commands.serving("--no-dataplane", **options) as served:
        assert answered(served.url) == 200
        yield served


@contextmanager
def bounded(pid: int, log: Path) -> Iterator[None]:
    """What happens costs little memory and few lines, descriptors go round, and nothing fails."""
    memory, begun = memory_of(pid), log.stat().st_size
    yield
    assert descriptors_of(pid) < DESCRIPTORS
    assert memory_of(pid) - memory < MOST_GROWTH
    assert log.stat().st_size - begun < MOST_LOG
    assert "Traceback" not in log.read_text()


@contextmanager
def flood(
    url: str, count: int, begin: bytes, source: Callable[[int], str] = lambda _: "127.0.0.1"
) -> Iterator[list[socket.socket]]:
    """So many connections with the beginning of something, which are held open."""
    place = urlsplit(url)
    lines = []
    with ExitStack() as held:
        for number in range(count):
            line = held.enter_context(socket.socket())
            lines.append(line)
            line.settimeout(PATIENCE)
            line.bind((source(number), 0))
            line.connect((place.hostname, place.port))
            try:
                line.send(begin)
            except ConnectionError:
                # It was closed to make room; another one follows.
                pass
        yield lines


def answered(url: str, path: str = "/api/v1/tasks/counts", source: str = "127.0.0.2") -> int:
    """The status that a request gets."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(
        str(place.hostname), place.port, timeout=PATIENCE, source_address=(source, 0)
    )
    try:
        connection.request("GET", path, headers={"X-Api-Key": KEY})
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
def test_half_sent_requests_leave_room_for_the_keeper(served: Served, addresses: int) -> None:
    with (
        bounded(served.process.pid, served.log),
        flood(served.url, MANY, HALF, lambda number: f"127.0.1.{number % addresses + 1}"),
        bounded(served.process.pid, served.log),
    ):
        assert answered(served.url) == 200
        assert answered(served.url, source="127.0.1.1") == 200
    assert answered(served.url) == 200


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: 15000\r\n\r\npassword=" + b"x" * 14_000,
        # Answers that are not read, half a megabyte on each connection.
        b"GET /static/kurabito.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10,
    ],
    ids=["silent", "slow body", "unread"],
)
def test_other_ways_to_hold_a_connection_leave_room_for_the_keeper_too(served: Served, begin: bytes) -> None:
    with bounded(served.process.pid, served.log), flood(served.url, 400, begin):
        assert answered(served.url) == 200
        assert descriptors_of(served.process.pid) < DESCRIPTORS


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
def test_refused_requests_do_not_fill_the_log(served: Served, request_: str, status: int) -> None:
    place = urlsplit(served.url)
    statuses = set()
    with bounded(served.process.pid, served.log):
        for number in range(300):
            with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as line:
                line.sendall((request_ % f"{number}{'x' * 2000}").encode())
                statuses.add(int(line.makefile("rb").readline().split()[1]))
    assert status in statuses
    assert statuses <= {status, 429}
    assert answered(served.url) == 200


def test_a_client_that_leaves_in_the_middle_of_a_body_is_no_failure_of_ours(served: Served, until: Until) -> None:
    begin = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npassword=x"
    with bounded(served.process.pid, served.log):
        with flood(served.url, 30, begin):
            assert answered(served.url) == 200
        # Each of them was refused by the time that all are gone.
        until(lambda: '"why": "BodyCutShort"' in served.log.read_text())
        assert answered(served.url) == 200


def test_half_sent_requests_end_after_a_while(commands: Commands) -> None:
    with (
        commands.serving("--no-dataplane", KURABITO_HEADER_SECONDS="0.2") as served,
        flood(served.url, 100, HALF) as lines,
    ):
        for line in lines:
            with line.makefile("rb") as heard:
                assert heard.read().startswith(b"HTTP/1.1 408 ")


def test_a_downloader_service_is_guarded_in_the_same_way(commands: Commands, tmp_path: Path) -> None:
    commands.descriptors = DESCRIPTORS
    arguments = ["downloader", "--client", "embedded", "--core", "http://127.0.0.1:9", "--port", "0"]
    environment = {"KURABITO_DOWNLOAD_ROOT": str(tmp_path / "downloads"), "KURABITO_HEADER_SECONDS": "600"}
    with commands.started(*arguments, **environment) as (process, log):
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        assert answered(url, "/health") == 200
        with bounded(process.pid, log), flood(url, MANY, HALF), bounded(process.pid, log):
            assert answered(url, "/health") == 200

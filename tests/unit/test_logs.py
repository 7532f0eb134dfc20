"""Logs: quiet as a library, structured when configured, and without secrets."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kurabito import logs


@pytest.fixture(autouse=True)
def _leave_logging_as_it_was() -> Iterator[None]:
    names = ("kurabito", "uvicorn", "asyncio")
    before = {name: (logging.getLogger(name).level, logging.getLogger(name).propagate) for name in names}
    yield
    for name, (level, propagate) in before.items():
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(level)
        logger.propagate = propagate


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_program_that_configures_nothing_sees_no_noise() -> None:
    program = """
from kurabito.logs import get_logger
log = get_logger("kurabito.runtime.worker.worker")
log.debug("claimed", count=3)
log.info("worker started")
log.warning("lease lost", task_id="t1", token="s3cret")
"""
    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert outcome.stdout == ""
    assert outcome.stderr == "lease lost task_id='t1' token='***'\n"


def test_json_lines_carry_the_event_and_its_values() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream, level="debug")
    logs.get_logger("kurabito.somewhere").bind(worker="w1").debug("task started", attempt=1)
    line = json.loads(stream.getvalue())
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "task started",
        "attempt": 1,
        "worker": "w1",
        "level": "debug",
        "logger": "kurabito.somewhere",
    }


def test_a_terminal_gets_lines_for_people() -> None:
    stream = Terminal()
    logs.configure(stream=stream)
    logs.get_logger("kurabito.somewhere").info("task started", attempt=1)
    assert "task started" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


def test_lines_below_the_level_are_dropped() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream, level="warning")
    log = logs.get_logger("kurabito.somewhere")
    log.debug("no")
    log.info("no")
    assert stream.getvalue() == ""


def test_configuring_twice_does_not_say_everything_twice() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream)
    logs.configure(stream=stream)
    logs.get_logger("kurabito.somewhere").info("once")
    assert stream.getvalue().count("once") == 1


def test_the_web_servers_lines_have_the_same_shape() -> None:
    stream = io.StringIO()
    logs.configure(stream=stream, format="json")
    logging.getLogger("uvicorn.error").warning("Started process [%d]", 7, extra={"color_message": "x"})
    line = json.loads(stream.getvalue())
    assert (line["event"], line["logger"]) == ("Started process [7]", "uvicorn.error")
    assert "color_message" not in line


@pytest.mark.parametrize("format", ["human", "json"])
def test_secrets_do_not_reach_the_log(format: logs.Format) -> None:  # noqa: A002 - the parameter's own name
    stream = io.StringIO()
    logs.configure(stream=stream, format=format)
    log = logs.get_logger("kurabito.somewhere")
    log.info(
        "opened postgresql://me:hunter2@db/x",
        api_key="hunter2",
        Authorization="Bearer hunter2",
        headers={"X-Api-Key": "hunter2", "Cookie": "hunter2"},
        urls=["https://api.example/3/tv?api_key=hunter2&page=2"],
        error=ValueError("cannot reach postgresql://me:hunter2@db/x"),
    )
    try:
        raise ValueError("http://me:hunter2@proxy")
    except ValueError:
        log.exception("failed")
    assert "hunter2" not in stream.getvalue()
    assert "page=2" in stream.getvalue()
    assert "Traceback" in stream.getvalue()


def test_keys_that_are_no_secrets_stay_readable() -> None:
    assert logs.mask({"unique_key": "welcome:a@b", "key": None}) == {"unique_key": "welcome:a@b", "key": None}


def test_of_many_lines_alike_some_are_written_and_the_next_says_how_many_were_not() -> None:
    now = 0.0
    flood = logs.Flood(most=3, seconds=60, clock=lambda: now)
    assert [flood.admits("refused") for _ in range(10)] == [0, 0, 0, *[None] * 7]
    assert flood.admits("another kind") == 0
    now = 61.0
    assert [flood.admits("refused") for _ in range(2)] == [7, 0]


@pytest.mark.parametrize("name", ["asyncio", "uvicorn.error"])
def test_what_others_write_in_our_process_is_bounded(name: str) -> None:
    stream = io.StringIO()
    logs.configure(stream=stream, format="json")
    for number in range(1000):
        logging.getLogger(name).error("socket.accept() out of system resource %d", number)
    # Another test's worker may still be telling of its trouble in this process.
    assert sum("out of system resource" in line for line in stream.getvalue().splitlines()) == 30


@pytest.mark.parametrize(
    "name",
    "key apikey api_key jackett_apikey passkey rsskey torrent_pass authkey auth token access_token pass pwd password "
    "client_secret X-Amz-Signature sig sid".split(),
)
def test_secrets_in_queries_are_hidden_whatever_sites_call_them(name: str) -> None:
    assert (
        logs.mask_text(f"https://a.example/rss?page=2&{name}=hunter2&q=x")
        == f"https://a.example/rss?page=2&{name}=***&q=x"
    )


@pytest.mark.parametrize("name", ["keyword", "passed", "author", "q", "monkeys", "design"])
def test_other_parts_of_a_query_stay(name: str) -> None:
    assert logs.mask_text(f"https://a.example/?{name}=kept") == f"https://a.example/?{name}=kept"


def test_a_password_with_an_at_sign_in_it_is_hidden_as_a_whole() -> None:
    assert logs.mask_text("http://me:hunt@er2@nas:3128/x?q=a@b:c") == "http://me:***@nas:3128/x?q=a@b:c"

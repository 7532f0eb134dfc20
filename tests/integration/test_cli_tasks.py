"""`kurabito tasks` on a real file."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pty
import select
import signal
import sqlite3
import struct
import subprocess
import termios
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.support.commands import KURABITO, Command
from tests.support.waiting import PATIENCE
from typer.testing import CliRunner

from kurabito.cli.commands import app
from kurabito.errors import KurabitoError
from kurabito.runtime import NewTask, PermanentError, Queue, Registry, TaskContext, TaskRecord, Worker, open_queue

T = TypeVar("T")


@dataclass
class Said:
    code: int
    out: str
    err: str


def kurabito(*arguments: str, stdin: str | None = None) -> Said:
    """Run the command line in this process, which is quicker; `main` is covered by its own tests."""
    result = CliRunner(env={"NO_COLOR": "1"}).invoke(app, list(arguments), input=stdin)
    if isinstance(result.exception, KurabitoError):
        return Said(1, result.stdout, str(result.exception))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.db'}"


def within(url: str, work: Callable[[Queue], Awaitable[T]]) -> T:
    async def run() -> T:
        async with open_queue(url) as queue:
            return await work(queue)

    return asyncio.run(run())


def enqueue(url: str, *tasks: NewTask) -> list[str]:
    async def work(queue: Queue) -> list[str]:
        # One by one, so that their order is known.
        return [str((await queue.enqueue_many([task]))[0].id) for task in tasks]

    return within(url, work)


def run_all(url: str, registry: Registry) -> None:
    async def work(queue: Queue) -> None:
        tasks = await queue.list()
        async with Worker(queue, registry):
            for task in tasks:
                await queue.wait(task.id, timeout=PATIENCE)

    within(url, work)


def task(url: str, task_id: str) -> TaskRecord:
    return within(url, lambda queue: queue.get(task_id))


# Lists.


def test_list_shows_tasks_newest_first_and_which_have_no_worker(url: str) -> None:
    first, second = enqueue(url, NewTask("greet"), NewTask("crawl", delay=3600))
    said = kurabito("tasks", "list", "--queue", url)
    rows = said.out.splitlines()
    assert rows[0].split() == ["id", "type", "state", "attempts", "progress", "updated", "error"]
    assert rows[1].split()[:3] == [second, "crawl", "retry_scheduled"]
    assert rows[2].split()[:5] == [first, "greet", "queued", "(no", "worker)"]


def test_list_can_be_narrowed_and_paged(url: str) -> None:
    ids = enqueue(url, *[NewTask("greet" if number % 2 else "crawl") for number in range(6)])
    found: list[str] = []
    cursor: list[str] = []
    while True:
        page = json.loads(kurabito("tasks", "list", "--queue", url, "--limit", "4", "--json", *cursor).out)
        found += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = ["--cursor", page["next_cursor"]]
    assert found == ids[::-1]
    everything = json.loads(kurabito("tasks", "list", "--queue", url, "--limit", "4", "--json", "--all").out)
    assert [item["id"] for item in everything["items"]] == ids[::-1]
    assert everything["next_cursor"] is None
    narrowed = json.loads(kurabito("tasks", "list", "--queue", url, "--type", "greet", "--json").out)
    assert [item["task_type"] for item in narrowed["items"]] == ["greet"] * 3
    assert "No tasks." in kurabito("tasks", "list", "--queue", url, "--state", "dead").out
    assert "--cursor" in kurabito("tasks", "list", "--queue", url, "--limit", "4").out


def test_list_takes_the_queue_from_the_environment(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    enqueue(url, NewTask("greet"))
    monkeypatch.setenv("KURABITO_DATABASE", url)
    assert "greet" in kurabito("tasks", "list").out


def test_json_has_everything(url: str) -> None:
    (task_id,) = enqueue(url, NewTask("greet", {"to": ["a", 1]}, priority=3, unique_key="k", max_attempts=2))
    (item,) = json.loads(kurabito("tasks", "list", "--queue", url, "--json").out)["items"]
    known = {"id": task_id, "task_type": "greet", "state": "queued", "priority": 3, "unique_key": "k", "attempts": 0}
    assert known.items() <= item.items()
    assert (item["payload"], item["content_type"]) == ({"to": ["a", 1]}, "application/json")
    assert (item["max_attempts"], item["no_worker"], item["progress"], item["errors"]) == (2, True, None, [])


def test_a_payload_of_bytes_is_base64_in_json_and_readable_otherwise(url: str) -> None:
    (task_id,) = enqueue(url, NewTask("raw", b"\xff\x00"))
    shown = json.loads(kurabito("tasks", "show", task_id, "--queue", url, "--json").out)
    assert (shown["payload"], shown["content_type"]) == ("/wA=", "application/octet-stream")
    assert "2 bytes" in kurabito("tasks", "show", task_id, "--queue", url).out


def test_a_payload_that_claims_to_be_json_is_shown_all_the_same(url: str) -> None:
    (task_id,) = enqueue(url, NewTask("raw", b"{broken", content_type="application/json"))
    assert "{broken" in kurabito("tasks", "show", task_id, "--queue", url).out


# One task.


def test_show_tells_payload_history_and_errors(url: str) -> None:
    registry = Registry()

    @registry.task("crawl")
    async def crawl(payload: Any, ctx: TaskContext) -> None:
        await asyncio.sleep(0)
        raise PermanentError("the site said\nno")

    (task_id,) = enqueue(url, NewTask("crawl", {"site": "例え"}))
    run_all(url, registry)
    said = kurabito("tasks", "show", task_id, "--queue", url)
    for part in (task_id, "state        dead", '"site": "例え"', "Enqueued", "Started", "Dead", "the site said"):
        assert part in said.out
    told = json.loads(kurabito("tasks", "show", task_id, "--queue", url, "--json").out)
    assert [event["event"] for event in told["history"]] == ["Enqueued", "Started", "Failed", "Dead"]
    assert told["errors"][0]["error"] == "PermanentError: the site said\nno"


def test_what_a_handler_wrote_cannot_take_over_the_terminal(url: str) -> None:
    registry = Registry()

    @registry.task("evil")
    def evil() -> None:
        raise PermanentError("\x1b]0;owned\x07 [bold]markup[/bold] \x9b2J")

    (task_id,) = enqueue(url, NewTask("evil", "\x1b[2J"))
    run_all(url, registry)
    for command in (["list"], ["show", task_id]):
        out = kurabito("tasks", *command, "--queue", url).out
        assert not {char for char in out if not char.isprintable()} - {"\n"}
        assert "[bold]markup[/bold]" in out


def test_a_result_is_shown(url: str) -> None:
    registry = Registry()

    @registry.task("add")
    def add(numbers: list[int]) -> dict[str, int]:
        return {"sum": sum(numbers)}

    (task_id,) = enqueue(url, NewTask("add", [1, 2]))
    run_all(url, registry)
    assert '"sum": 3' in kurabito("tasks", "show", task_id, "--queue", url).out


def test_cancel_and_retry_move_what_can_be_moved_and_say_what_cannot(url: str) -> None:
    first, second = enqueue(url, NewTask("greet"), NewTask("greet"))
    assert kurabito("tasks", "cancel", first, "--queue", url).out == f"{first} cancelled\n"
    again = kurabito("tasks", "cancel", first, "not-an-id", second, "--queue", url)
    assert again.code == 1
    assert again.out == f"{second} cancelled\n"
    assert again.err.count("error: ") == 2
    assert first in again.err
    assert "not-an-id" in again.err
    assert kurabito("tasks", "retry", first, "--queue", url).out == f"{first} queued\n"
    refused = kurabito("tasks", "retry", first, "--queue", url)
    assert (refused.code, refused.out) == (1, "")
    assert first in refused.err
    assert task(url, first).state == "queued"


def test_show_of_an_unknown_task_is_a_clear_error(url: str) -> None:
    enqueue(url, NewTask("greet"))
    said = kurabito("tasks", "show", "0197e3c1-7c2b-7f6e-9d55-0d0c5a8f3b11", "--queue", url)
    assert said.code == 1
    assert "0197e3c1-7c2b-7f6e-9d55-0d0c5a8f3b11" in said.err


# Purge.


def test_purge_asks_deletes_what_is_finished_and_says_how_many(url: str) -> None:
    first, second = enqueue(url, NewTask("greet"), NewTask("greet"))
    kurabito("tasks", "cancel", first, "--queue", url)
    refused = kurabito("tasks", "purge", "--older-than", "0s", "--queue", url, stdin="n\n")
    assert refused.code == 1
    assert "Delete every task that finished more than 0s ago?" in refused.out
    assert task(url, first).state == "cancelled"
    assert kurabito("tasks", "purge", "--older-than", "0s", "--queue", url, stdin="").code == 1
    assert "0 tasks deleted." in kurabito("tasks", "purge", "--older-than", "24h", "--yes", "--queue", url).out
    assert "1 task deleted." in kurabito("tasks", "purge", "--older-than", "0s", "--queue", url, stdin="y\n").out
    assert [item["id"] for item in json.loads(kurabito("tasks", "list", "--queue", url, "--json").out)["items"]] == [
        second
    ]


@pytest.mark.parametrize("text", ["24", "1y", "-1h", "", "h", "1h30m", "nan h", "1e9d"])
def test_what_is_no_duration_is_bad_usage(url: str, text: str) -> None:
    said = kurabito("tasks", "purge", "--older-than", text, "--yes", "--queue", url)
    assert said.code == 2
    assert "--older-than" in said.err


# Which queue.


@pytest.mark.parametrize(
    "command", [["list"], ["show", "x"], ["cancel", "x"], ["purge", "--older-than", "1h", "-y"], ["watch"]]
)
def test_a_file_that_does_not_exist_is_an_error_and_is_not_created(tmp_path: Path, command: list[str]) -> None:
    said = kurabito("tasks", *command, "--queue", f"sqlite:///{tmp_path / 'misspelt.db'}")
    assert said.code == 1
    assert "there is no database at" in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.close()
    before = path.read_bytes()
    said = kurabito("tasks", "list", "--queue", f"sqlite:///{path}")
    assert (said.code, "of another program" in said.err) == (1, True)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["notes.db"]


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    said = kurabito("tasks", "list", "--queue", f"sqlite:///{path}")
    assert (said.code, "is not a SQLite database" in said.err) == (1, True)


@pytest.mark.parametrize(("url", "says"), [("memory://", "memory://"), ("mysql://x", "sqlite:///")])
def test_a_url_that_cannot_be_watched_from_outside_is_refused(url: str, says: str) -> None:
    said = kurabito("tasks", "list", "--queue", url)
    assert said.code == 1
    assert says in said.err


# Watch.


def read_until(fd: int, wanted: str, seconds: float = 30.0) -> str:
    """What comes from a descriptor until `wanted` is in it."""
    seen, limit = "", time.monotonic() + seconds
    while wanted not in seen:
        ready, _, _ = select.select([fd], [], [], max(0.0, limit - time.monotonic()))
        assert ready, f"{wanted!r} did not come; there was:\n{seen}"
        seen += os.read(fd, 65_536).decode(errors="replace")
    return seen


def test_watch_prints_events_into_a_pipe_and_ends_cleanly_with_ctrl_c(url: str) -> None:
    enqueue(url, NewTask("before"))
    watching = Command[bytes](
        [*KURABITO, "tasks", "watch", "--queue", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert watching.stdout is not None
        task_id = _poke_until_seen(url, watching.stdout.fileno())
        kurabito("tasks", "cancel", task_id, "--queue", url)
        assert task_id in read_until(watching.stdout.fileno(), "Cancelled")
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=PATIENCE)
        assert (watching.returncode, err) == (0, b"")
    finally:
        watching.kill()
        watching.communicate()


def _poke_until_seen(url: str, fd: int) -> str:
    """Enqueue tasks until the watcher, which takes a while to start, tells of one; gives the first it told of."""
    for number in range(200):
        enqueue(url, NewTask("poke", unique_key=f"poke {number}"))
        if select.select([fd], [], [], 0.2)[0]:
            return read_until(fd, "\n").split("Enqueued")[1].split()[0]
    raise AssertionError("the watcher saw nothing")


def test_watch_as_json_ends_quietly_when_its_reader_does(url: str) -> None:
    enqueue(url, NewTask("before"))
    command = [*KURABITO, "tasks", "watch", "--json", "--queue", url]
    watching = Command[bytes](command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert watching.stdout is not None
        for number in range(200):
            enqueue(url, NewTask("poke", unique_key=f"poke {number}"))
            if select.select([watching.stdout], [], [], 0.2)[0]:
                break
        event = json.loads(watching.stdout.readline())
        assert (event["event"], event["task_type"]) == ("Enqueued", "poke")
        watching.stdout.close()
        for number in range(200, 400):
            if watching.poll() is not None:
                break
            enqueue(url, NewTask("poke", unique_key=f"poke {number}"))
            time.sleep(0.05)
        assert watching.stderr is not None
        assert (watching.wait(10), watching.stderr.read()) == (0, b"")
    finally:
        watching.kill()
        watching.wait()
        assert watching.stderr is not None
        watching.stderr.close()


def test_watch_draws_a_live_table_in_a_terminal(url: str) -> None:
    (waiting,) = enqueue(url, NewTask("waits"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 160, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "24"}
    watching = subprocess.Popen(
        [*KURABITO, "tasks", "watch", "--queue", url], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    try:
        assert "queued 1" in read_until(ours, waiting)
        within(url, lambda queue: _half_done(queue, ours))
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 0
    finally:
        watching.kill()
        watching.wait()
        os.close(ours)


async def _half_done(queue: Queue, terminal: int) -> None:
    """Run a task that reports its half, and see it on the terminal, before the tasks that do not run."""
    registry, go_on = Registry(), asyncio.Event()

    @registry.task("runs")
    async def runs(ctx: TaskContext) -> None:
        await ctx.report(10, 20)
        await go_on.wait()

    task = await queue.enqueue("runs")
    async with Worker(queue, registry):
        seen = await asyncio.to_thread(read_until, terminal, "10/20")
        while "queued 1" not in seen:
            # The counts on top are asked for apart from the rows, so a picture may be drawn with older ones first.
            seen += await asyncio.to_thread(read_until, terminal, "10/20")
        picture = seen[seen.rindex("queued 1") :]
        if "waits" not in picture:
            # A terminal is read as it comes: the rest of the picture is still on its way.
            picture += await asyncio.to_thread(read_until, terminal, "waits")
        assert "running 1" in picture
        assert picture.index("runs") < picture.index("waits")
        assert "━" in picture
        go_on.set()
        await queue.wait(task.id, timeout=PATIENCE)
        await asyncio.to_thread(read_until, terminal, "succeeded 1")


def test_results_of_bytes_and_tracebacks_are_shown(url: str) -> None:
    registry = Registry()

    @registry.task("raw")
    async def raw() -> bytes:
        return b"\xff\x00"

    @registry.task("fails", max_attempts=1)
    async def fails() -> None:
        raise ExceptionGroup("several", [ValueError("caf\udce9"), LookupError("the second")])

    good, bad = enqueue(url, NewTask("raw"), NewTask("fails"))
    run_all(url, registry)
    assert kurabito("tasks", "list", "--queue", url).code == 0
    assert "2 bytes: b'\\xff\\x00'" in kurabito("tasks", "show", good, "--queue", url).out
    assert json.loads(kurabito("tasks", "show", good, "--queue", url, "--json").out)["result"] == "/wA="
    said = kurabito("tasks", "show", bad, "--queue", url).out
    assert "ValueError: caf\\udce9" in said
    assert "LookupError: the second" in said
    assert "in fails" in said

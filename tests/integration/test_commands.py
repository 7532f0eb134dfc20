"""What the tests start is forked from a process that has the modules, and cannot be told from what loads them."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import KURABITO, Command, run
from tests.support.waiting import PATIENCE

FACTS = Path(__file__).parents[1] / "support" / "what_is_true.py"
SLEEPS = "import time; print(1, flush=True); time.sleep(1000)"
WAYS: list[type[subprocess.Popen[str]]] = [subprocess.Popen, Command]


def loaded(process: subprocess.Popen[str]) -> bool:
    """Whether the process was forked from the one with the modules."""
    return "loaded.py" in Path(f"/proc/{process.pid}/cmdline").read_text()


def facts(start: type[subprocess.Popen[str]], *arguments: str, **options: Any) -> tuple[dict[str, Any], int, str]:
    """What a process says about itself, how it ended, and what it said besides."""
    command = [sys.executable, str(FACTS), *arguments]
    # Libraries change the environment behind Python's back: readline writes the size of the terminal into it.
    options = {"env": dict(os.environ)} | options
    options |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(command, text=True, **options) as process:
        out, err = process.communicate("typed", timeout=PATIENCE)
    said = json.loads(out)
    assert said["parent"] == os.getpid()
    return said, process.returncode, err.splitlines()[-1]


def difference(some: dict[str, Any], others: dict[str, Any]) -> dict[str, Any]:
    """What is not the same in both."""
    return {name: (some[name], others[name]) for name in some if some[name] != others[name]}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"process_group": 0},
        {"start_new_session": True},
        {"env": {**os.environ, "KURABITO_STATE": "/nowhere", "TMPDIR": "/var/tmp"}},
    ],
    ids=["plain", "group", "session", "environment"],
)
def test_it_is_told_what_a_process_is_told(options: dict[str, Any], tmp_path: Path) -> None:
    anew, forked = [facts(start, "read", "x y", cwd=tmp_path, **options) for start in WAYS]
    assert difference(forked[0], anew[0]) == {}
    assert forked[1:] == anew[1:]
    assert (forked[0]["input"], forked[1], forked[2]) == ("typed", 7, "said")


@pytest.mark.parametrize("ending", ["raise", "interrupt", "abort"])
def test_it_ends_as_any_process_does(ending: str) -> None:
    anew, forked = [facts(start, ending) for start in WAYS]
    assert forked == anew


def test_the_folder_and_the_umask_are_those_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = os.umask(0o027)
    try:
        anew, forked = [facts(start)[0] for start in WAYS]
    finally:
        os.umask(before)
    assert forked == anew
    assert (forked["folder"], forked["umask"]) == (str(tmp_path), 0o027)


def test_it_writes_to_a_terminal_line_by_line() -> None:
    said = []
    for start in WAYS:
        ours, theirs = pty.openpty()
        with start(
            [sys.executable, str(FACTS)],
            env=dict(os.environ),
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            os.close(theirs)
            with os.fdopen(ours) as terminal:
                said.append(json.loads(terminal.readline()))
                process.wait(PATIENCE)
    assert said[0] == said[1]
    assert [stream[-1] for stream in said[0]["streams"]] == [True, True, False]


def test_the_limits_are_those_of_now() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    try:
        anew, forked = [facts(start)[0] for start in WAYS]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert forked == anew
    assert forked["limits"][resource.RLIMIT_NOFILE] == [soft - 1, hard]


def test_what_a_test_left_running_when_it_failed_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "sleeps.py"
    program.write_text(SLEEPS)
    with (
        pytest.raises(AssertionError),
        Command[str]([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process,
    ):
        raise AssertionError
    assert process.returncode == -signal.SIGKILL


@pytest.fixture
def sleeping(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has been forked, and sleeps."""
    program = tmp_path / "sleeps.py"
    program.write_text(SLEEPS)
    with Command[str]([sys.executable, str(program)], stdout=subprocess.PIPE, process_group=0, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert loaded(process)
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_signal_ends_it(sleeping: subprocess.Popen[str], number: signal.Signals) -> None:
    os.killpg(sleeping.pid, number)
    assert sleeping.wait(PATIENCE) == -number


def test_its_group_is_there_at_once(tmp_path: Path) -> None:
    program = tmp_path / "sleeps.py"
    program.write_text(SLEEPS)
    with Command[str]([sys.executable, str(program)], stdout=subprocess.DEVNULL, process_group=0, text=True) as process:
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait(PATIENCE) == -signal.SIGKILL


def test_it_is_not_waited_for_by_another(sleeping: subprocess.Popen[str]) -> None:
    assert sleeping.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        sleeping.wait(0.01)
    sleeping.kill()
    assert os.waitpid(sleeping.pid, 0)[1] == signal.SIGKILL


def test_what_differs_before_a_program_runs_is_started_anew(tmp_path: Path) -> None:
    program = tmp_path / "sleeps.py"
    program.write_text(SLEEPS)
    command = [sys.executable, str(program)]

    def is_loaded(*prefix: str, **options: Any) -> bool:
        with Command([*prefix, *command], stdout=subprocess.PIPE, text=True, **options) as process:
            assert process.stdout is not None
            process.stdout.readline()
            found = loaded(process)
            process.kill()
        return found

    assert is_loaded()
    assert not is_loaded(env={**os.environ, "TZ": "Asia/Tokyo"})
    assert not is_loaded("env")
    assert not is_loaded(preexec_fn=int)


def test_a_command_says_and_returns_the_same() -> None:
    for arguments in (["--version"], ["nonsense"], ["db", "check", "--help"]):
        command = [*KURABITO, *arguments]
        anew = subprocess.run(command, capture_output=True, text=True, check=False)
        forked = run(command, timeout=PATIENCE)
        assert (forked.returncode, forked.stdout, forked.stderr) == (anew.returncode, anew.stdout, anew.stderr)


def test_a_folder_that_is_not_there_is_told_as_ever(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run([*KURABITO, "--version"], timeout=PATIENCE, cwd=tmp_path / "missing")

"""The tests themselves, where Ctrl-C is ignored: in a script's background, under many CI systems."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

CHILD = """
import signal
import subprocess
import sys


def test_a_child_ends_with_ctrl_c() -> None:
    waits = "import sys, time; print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", waits], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == -signal.SIGINT
"""


def test_programs_that_tests_start_answer_to_ctrl_c_where_it_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "test_child.py").write_text(CHILD)
    (tmp_path / "conftest.py").write_text((Path(__file__).parents[1] / "conftest.py").read_text())
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", ignoring, *tests],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**_without_pytest(), "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def _without_pytest() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}

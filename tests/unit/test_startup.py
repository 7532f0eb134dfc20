"""Processes that run until they are stopped look for no garbage while they load, and do so again afterwards.

Their threads take turns quickly then.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import asyncio, gc, sys
from kurabito.cli.commands import app

async def serve(settings, *, on_listening, **_):
    print("loading", gc.isenabled())
    on_listening(there)
    print("listening", gc.isenabled(), gc.get_freeze_count() > 10_000, round(sys.getswitchinterval() * 1000))

async def run(settings, *, once):
    print("running", gc.isenabled(), gc.get_freeze_count() > 10_000, round(sys.getswitchinterval() * 1000))

import kurabito.app.serve, kurabito.dataplane.main
there = kurabito.app.serve.Listening("http://127.0.0.1", "http://127.0.0.1/login")
kurabito.app.serve.serve = serve
kurabito.dataplane.main.run = run
app(sys.argv[1:], standalone_mode=False)
"""


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_what_serves_looks_for_garbage_once_it_listens(command: str, tmp_path: Path) -> None:
    printed = _run(command, tmp_path)
    assert "loading False" in printed
    assert "listening True True 1\n" in printed


def test_a_data_plane_looks_for_garbage_once_it_is_loaded(tmp_path: Path) -> None:
    assert "running True True 1\n" in _run("dataplane", tmp_path)


def _run(command: str, state: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, command],
        env={**os.environ, "KURABITO_STATE": str(state)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout

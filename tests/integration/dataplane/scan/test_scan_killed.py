"""Real data planes, killed at random moments of a scan; the next one finishes it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.dataplane.scan.conftest import Shelf

FILES = 3000
FOLDERS = 60
KILLS = 8
MANY_KILLS = 100


def plane(shelf: Shelf, url: str) -> subprocess.Popen[bytes]:
    """`kurabito dataplane --once`."""
    environment = {**os.environ, "KURABITO_STATE": str(shelf.state), "KURABITO_DATABASE": url}
    return subprocess.Popen([sys.executable, "-m", "kurabito.cli", "dataplane", "--once"], env=environment)


def begun(shelf: Shelf, process: subprocess.Popen[bytes]) -> bool:
    """Whether the process has taken the job; waits until it did, or ended."""
    while process.poll() is None:
        if shelf.ask("SELECT 1 FROM jobs WHERE status = 'running'"):
            return True
    return False


def change_something(folder: Path, chance: random.Random, round_: int) -> None:
    files = sorted(folder.rglob("*.mkv"))
    for path in chance.sample(files, 40):
        match chance.randrange(4):
            case 0:
                path.unlink()
            case 1:
                path.rename(path.with_name(f"moved {round_} {path.name}"))
            case 2:
                path.write_bytes(b"y" * chance.randrange(2000))
            case _:
                path.with_name(f"new {round_} {path.name}").write_bytes(b"z" * chance.randrange(2000))


def run(shelf: Shelf, url: str, kills: int) -> int:
    """Scan, kill and change again and again; how many planes died at work."""
    chance = random.Random(20)
    for number in range(FILES):
        shelf.write(f"show {number % FOLDERS:02}/{number:04}.mkv", b"x" * chance.randrange(1, 2000))
    killed = 0
    for round_ in range(kills):
        job = shelf.begin()
        process = plane(shelf, url)
        if begun(shelf, process):
            try:
                process.wait(timeout=chance.uniform(0, 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                shelf.again(job)
                assert plane(shelf, url).wait(timeout=60) == 0
        assert shelf.ask("SELECT status FROM jobs WHERE id = :id", id=job) == [("completed",)]
        assert shelf.known() == shelf.on_disk()
        assert shelf.ask("SELECT * FROM scan_findings") == []
        assert shelf.session("status, files_seen, directories_seen") == ("succeeded", len(shelf.on_disk()), FOLDERS)
        change_something(shelf.folder, chance, round_)
    return killed


def test_a_killed_data_plane_loses_nothing_and_the_next_finishes(shelf: Shelf, url: str) -> None:
    assert run(shelf, url, KILLS) >= KILLS // 2


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_many_killed_data_planes_lose_nothing(shelf: Shelf, url: str) -> None:
    assert run(shelf, url, MANY_KILLS) >= MANY_KILLS // 2

"""`kurabito dedupe --delete` that is killed between any two touches of the disk loses nothing, and can be run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.programs import spoken_to

from kurabito.protocol.deletion import TRASH_FOLDER

PROGRAM = Path(__file__).with_name("dedupe_program.py")
CONTENTS = {"a/1": b"red", "b/1": b"red", "1": b"red", "a/2": b"green", "deep/er/2": b"green", "b/3": b"blue"}


@pytest.fixture(scope="module")
def program() -> Iterator[subprocess.Popen[str]]:
    with spoken_to(PROGRAM) as process:
        yield process


def dedupe(program: subprocess.Popen[str], folder: Path, kill_at: int = 0) -> str:
    assert program.stdin is not None
    assert program.stdout is not None
    order = {"paths": [str(folder)], "state": str(folder.parent / "state"), "kill_at": kill_at}
    program.stdin.write(json.dumps(order) + "\n")
    program.stdin.flush()
    return program.stdout.readline().strip()


def in_place(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    names = {str(path.relative_to(folder)): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if TRASH_FOLDER not in name}


def everything(folder: Path) -> Counter[bytes]:
    """Each content with the number of files that hold it, in the trash too."""
    inodes = {path.stat().st_ino: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return Counter(inodes.values())


def test_killed_between_any_two_touches(program: subprocess.Popen[str], tmp_path: Path) -> None:
    moment = 0
    while True:
        moment += 1
        folder = tmp_path / str(moment) / "tree"
        for age, (name, content) in enumerate(CONTENTS.items(), start=1):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            os.utime(path, ns=(age, age))
        ended = dedupe(program, folder, moment)
        if ended == "done":
            break
        assert ended == "killed"
        assert everything(folder) == Counter(CONTENTS.values())
        assert {"a/1": b"red", "a/2": b"green", "b/3": b"blue"}.items() <= in_place(folder).items()
        assert dedupe(program, folder) == "done"
        assert in_place(folder) == {"a/1": b"red", "a/2": b"green", "b/3": b"blue"}
        assert everything(folder) == Counter(CONTENTS.values())
        shutil.rmtree(folder.parent)
    assert moment > 10

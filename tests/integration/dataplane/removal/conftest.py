"""Mounts that only the test sees, and that are gone with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf


class Mounts:
    """A mount namespace of its own. What is mounted there is seen below `path`, without being mounted for anybody else."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._processes: list[Path] = []
        """What is mounted by a process of its own."""

    def path(self, path: Path) -> Path:
        """How this process comes to a path of the namespace."""
        return Path(f"/proc/{self._process.pid}/root") / path.relative_to("/")

    def run(self, command: str) -> None:
        """Run a command in the namespace; skips the test where the machine does not let it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command} 2>&1 && echo OK || echo FAILED\n")
        self._process.stdin.flush()
        said = []
        while (line := self._process.stdout.readline().strip()) not in ("OK", "FAILED", ""):
            said.append(line)
        if line != "OK":
            pytest.skip(f"this machine does not let a test mount: {command}: {' '.join(said)}")

    def bind(self, source: Path, target: Path) -> None:
        self.run(f"mount --bind '{source}' '{target}'")

    def overlay(self, target: Path, *, lower: Path, upper: Path) -> None:
        work = upper.with_name(f"{upper.name} work")
        work.mkdir(exist_ok=True)
        self.run(f"mount -t overlay overlay -o 'lowerdir={lower},upperdir={upper},workdir={work}' '{target}'")

    def mergerfs(self, target: Path, *disks: Path) -> None:
        listed = ":".join(map(str, disks))
        self.run(f"mergerfs -o minfreespace=0,category.create=mfs '{listed}' '{target}'")
        # Its own process would keep the namespace, and itself, for ever.
        self._processes.append(target)

    def close(self) -> None:
        for target in self._processes:
            self.run(f"umount '{target}'")

    def loop(self, image: Path, target: Path) -> None:
        self.run(f"mount -o loop '{image}' '{target}'")


@pytest.fixture
def mounts() -> Iterator[Mounts]:
    """As root a mount namespace is enough; other users get one with a user namespace, if the machine lets them."""
    command = ["unshare", "-m", "--propagation", "private"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    tried = subprocess.run([*command, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"this machine does not let a test mount: {tried.stderr.strip()}")
    with subprocess.Popen(
        [*command, "sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        mounts = Mounts(process)
        yield mounts
        mounts.close()
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def mounted_shelf(shelf: Shelf, mounts: Mounts) -> Shelf:
    """The libraries as the namespace has them."""
    shelf.folder = mounts.path(shelf.folder)
    for number in (1, 2):
        shelf.run(
            "UPDATE library_roots SET root_path = :path WHERE id = :id", path=str(shelf.path("", number)), id=number
        )
    return shelf

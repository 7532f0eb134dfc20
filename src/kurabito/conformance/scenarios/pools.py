"""A pool over a disk: one file that is seen through two mounts looks like two."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kurabito.conformance import trees
from kurabito.conformance.errors import NotApplicable
from kurabito.conformance.scenarios.removals import delete, step_between
from kurabito.conformance.stage import ScenarioStage

ONE_FILE: Final = "film.mkv"


def remove_from_pool(stage: ScenarioStage) -> None:
    """Have a plan removed that keeps a file on a disk, and removes the same file in the pool above it."""
    stage.needs("delete.trash")
    disk = stage.library(1)
    trees.write(disk, ONE_FILE.encode(), b"one file" * 9)
    with _pool_over(disk, stage.folder) as pool:
        stage.library(2, folder=pool)
        for kind, number in (("scan", 1), ("scan", 2), ("hash", 1), ("hash", 2)):
            stage.job(f"{kind} {number}", kind, number)
            stage.let_reference_work()
        keep, go = (stage.rows("library_files", "library_id = :id", id=number)[0] for number in (1, 2))
        if keep["device"] == go["device"]:
            raise NotApplicable("the pool shows files under the device of the disk")
        stage.insert("deletion_policy", id=1, allow_delete=1, updated_at=stage.now())
        plan = stage.plan("trash", [step_between(go, keep)])
        plane = stage.start_plane()
        delete(stage, "pool", {"plan": plan})
        stage.wait_for_job("pool")
        stage.recording.seen["is on the disk"] = (disk / ONE_FILE).exists()
        stage.reach("pool")
        plane.kill()


@contextmanager
def _pool_over(disk: Path, folder: Path) -> Iterator[Path]:
    """A mount of overlayfs whose upper layer is the disk; raises NotApplicable where none can be mounted."""
    pool, lower, work = (folder / name for name in ("pool", "lower", "work"))
    for place in (pool, lower, work):
        place.mkdir()
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    layers = f"lowerdir={lower},upperdir={disk},workdir={work}"
    if mount is None or unmount is None or _fails([mount, "-t", "overlay", "overlay", "-o", layers, str(pool)]):
        raise NotApplicable("no pool can be mounted here: that takes root, and a kernel with overlayfs")
    try:
        yield pool
    finally:
        _fails([unmount, "--lazy", str(pool)])


def _fails(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode != 0  # noqa: S603 - the words are ours

"""A file that is seen twice, through a pool and through its disk, is no copy of itself and is never removed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.waiting import PATIENCE

from kurabito.dataplane.deletion.job import delete
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.removal import aliases
from kurabito.library.deletion.plans import DeletionPlan, DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.protocol.deletion import TRASH_FOLDER, DeleteMode
from kurabito.protocol.enums import JobKind

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf
    from tests.integration.dataplane.removal.conftest import Mounts

DISK, POOL = 1, 2
pytestmark = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def mount_pool(mounts: Mounts, shelf: Shelf, tmp_path: Path, disk_is: str) -> None:
    """Lay a pool over the disk: with overlayfs, where it is the upper or the lower layer, or with mergerfs beside another."""
    other = tmp_path / "other"
    other.mkdir()
    disk, pool = tmp_path / "library1", tmp_path / "library2"
    match disk_is:
        case "upper":
            mounts.overlay(pool, lower=other, upper=disk)
        case "lower":
            mounts.overlay(pool, lower=disk, upper=other)
        case _:
            mounts.mergerfs(pool, disk, other)


def removed_by_a_plan(shelf: Shelf, mode: DeleteMode = DeleteMode.TRASH) -> list[tuple[str, str | None]]:
    """Make a plan, apply it, and tell what became of its steps."""
    plans = DeletionPlans(shelf.database, allowed=True)

    async def apply() -> DeletionPlan:
        made = await plans.make(KeepRules(), mode=mode)
        return await plans.apply(made.id, dry_run=False, confirm=True)

    applied = asyncio.run(apply())
    assert Runner(shelf.plane, JobWork({JobKind.DELETE: delete}), name="plane", heartbeat=60.0).work()
    steps = asyncio.run(plans.steps(applied.id, limit=100)).items
    return [(str(step.state), step.error_code) for step in steps]


@pytest.mark.parametrize("mode", [DeleteMode.TRASH, DeleteMode.HARDLINK])
@pytest.mark.parametrize("first", [DISK, POOL])
@pytest.mark.parametrize("disk_is", ["upper", "lower", "merged"])
def test_a_plan_never_removes_what_a_pool_shows_again(
    mounted_shelf: Shelf, mounts: Mounts, tmp_path: Path, disk_is: str, first: int, mode: DeleteMode
) -> None:
    shelf = mounted_shelf
    for name in ("one", "deep/er/two"):
        (tmp_path / "library1" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "library1" / name).write_text(f"the only {name}")
    mount_pool(mounts, shelf, tmp_path, disk_is)
    for name in ("one", "deep/er/two"):
        for library in (first, DISK + POOL - first):
            shelf.know(name, library)
    outcomes = removed_by_a_plan(shelf, mode)
    code = "SAME_FILE" if mode is DeleteMode.TRASH else "OTHER_FILE_SYSTEM"
    assert outcomes == [("refused", code)] * 2
    for library in (DISK, POOL):
        for name in ("one", "deep/er/two"):
            assert shelf.path(name, library).read_text() == f"the only {name}"
        trash = shelf.path(TRASH_FOLDER, library)
        assert not trash.exists() or list(trash.iterdir()) == []


@pytest.mark.parametrize("disk_is", ["lower", "merged"])
def test_a_real_copy_behind_a_pool_is_removed(
    mounted_shelf: Shelf, mounts: Mounts, tmp_path: Path, disk_is: str
) -> None:
    shelf = mounted_shelf
    (tmp_path / "library1" / "kept").write_text("twice")
    mount_pool(mounts, shelf, tmp_path, disk_is)
    # The pool's other layer has a file of its own.
    (tmp_path / "other" / "copy").write_text("twice")
    shelf.know("kept", DISK)
    shelf.know("copy", POOL)
    assert removed_by_a_plan(shelf) == [("done", None)]
    assert shelf.path("kept", DISK).read_text() == "twice"
    assert not shelf.path("copy", POOL).exists()


def test_a_bind_mount_is_no_copy(mounted_shelf: Shelf, mounts: Mounts, tmp_path: Path) -> None:
    shelf = mounted_shelf
    (tmp_path / "library1" / "one").write_text("the only one")
    mounts.bind(tmp_path / "library1", tmp_path / "library2")
    for library in (DISK, POOL):
        shelf.know("one", library)
    # Whatever a database of another machine calls the device: it is one file.
    shelf.run("UPDATE library_files SET device = library_id")
    assert removed_by_a_plan(shelf) == [("refused", "SAME_FILE")]
    assert shelf.path("one", DISK).read_text() == "the only one"


def test_a_pool_is_known_by_the_trash_that_is_seen_through_it(
    mounted_shelf: Shelf, mounts: Mounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file system tells neither names nor times, the trash is looked for, also above the other library."""
    shelf = mounted_shelf
    (tmp_path / "library1" / "films").mkdir()
    (tmp_path / "library1" / "films" / "one").write_text("the only one")
    mount_pool(mounts, shelf, tmp_path, "upper")
    shelf.run("UPDATE library_roots SET root_path = :path WHERE id = 2", path=str(shelf.path("films", POOL)))
    monkeypatch.setattr(aliases, "refuse_twins", lambda _: None)
    monkeypatch.setattr(aliases, "refuse_touched", lambda *_: None)
    shelf.know("films/one", POOL)
    shelf.run("UPDATE library_files SET relative_path = 'one'")
    shelf.know("films/one", DISK)
    assert removed_by_a_plan(shelf) == [("refused", "SAME_FILE")]
    assert shelf.path("films/one", DISK).read_text() == "the only one"


def test_what_nothing_else_told_is_put_back(
    mounted_shelf: Shelf, mounts: Mounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = mounted_shelf
    (tmp_path / "library1" / "one").write_text("the only one")
    mount_pool(mounts, shelf, tmp_path, "upper")
    for name in ("refuse_twins", "refuse_touched", "refuse_seen_elsewhere"):
        monkeypatch.setattr(aliases, name, lambda *_: None)
    shelf.know("one", POOL)
    shelf.know("one", DISK)
    ((state, code),) = removed_by_a_plan(shelf)
    # This pool remembers names that are gone; then the time of the file tells.
    assert (state, code) in (("refused", "KEPT_MISSING"), ("refused", "KEPT_CHANGED"))
    assert shelf.path("one", DISK).read_text() == "the only one"
    assert list(shelf.path(TRASH_FOLDER, DISK).iterdir()) == []


@pytest.mark.parametrize("disk_is", ["upper", "lower", "merged"])
@pytest.mark.parametrize("first", [DISK, POOL])
def test_dedupe_never_removes_what_a_pool_shows_again(
    mounted_shelf: Shelf, mounts: Mounts, tmp_path: Path, disk_is: str, first: int
) -> None:
    shelf = mounted_shelf
    (tmp_path / "library1" / "in").mkdir()
    (tmp_path / "library1" / "in" / "one").write_bytes(os.urandom(100_000))
    content = (tmp_path / "library1" / "in" / "one").read_bytes()
    mount_pool(mounts, shelf, tmp_path, disk_is)
    paths = [str(shelf.path("", library)) for library in (first, DISK + POOL - first)]
    command = [sys.executable, "-m", "kurabito.cli", "dedupe", "--delete", "--yes", "--state", str(tmp_path / "state")]
    run = subprocess.run([*command, *paths], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 3, run.stderr
    assert "seen through another mount" in run.stderr
    for library in (DISK, POOL):
        assert shelf.path("in/one", library).read_bytes() == content
        # No empty trash stays behind either.
        assert not shelf.path(TRASH_FOLDER, library).exists()

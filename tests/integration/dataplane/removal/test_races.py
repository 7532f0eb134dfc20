"""Whatever another program does between any two touches of the disk: no content is lost, and no file of theirs replaced."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.waiting import PATIENCE

from kurabito.library.deletion.plans import DeletionPlan, DeletionPlans
from kurabito.library.deletion.rules import KeepRules
from kurabito.library.deletion.trash import Trash
from kurabito.protocol.deletion import TRASH_FOLDER, DeleteMode

if TYPE_CHECKING:
    from tests.integration.conftest import Shelf

PROGRAM = Path(__file__).with_name("touch_program.py")
MOVES = ["os.rename", "os.link"]


def run_with(acts: list[dict[str, Any]], **order: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), json.dumps({**order, "acts": acts})]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def contents(folder: Path) -> set[str]:
    """Everything that some name leads to."""
    return {path.read_text() for path in folder.rglob("*") if path.is_file() and path.suffix != ".json"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two equal files; the first one is the older, and is kept."""
    folder = tmp_path / "tree"
    folder.mkdir()
    for age, name in enumerate(("kept", "copy"), start=1):
        (folder / name).write_text("twice")
        os.utime(folder / name, ns=(age, age))
    return folder


def dedupe(tree: Path, *acts: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    return run_with(list(acts), dedupe=["--delete", "--yes", "--state", str(tree.parent / "state"), str(tree)])


def test_dedupe_leaves_a_copy_whose_kept_one_goes_in_the_last_moment(tree: Path) -> None:
    run = dedupe(tree, {"before": ["os.rename"], "name": "copy", "do": [["unlink", str(tree / "kept")]]})
    assert run.returncode == 3, run.stderr
    assert "copy stays" in run.stderr
    assert (tree / "copy").read_text() == "twice"
    assert not (tree / TRASH_FOLDER).exists()


def test_dedupe_replaces_nothing_when_it_puts_a_file_back(tree: Path) -> None:
    run = dedupe(
        tree,
        {"before": ["os.rename"], "name": "copy", "do": [["write", str(tree / "copy"), "laid there first"]]},
        {"before": MOVES, "name": "copy", "do": [["write", str(tree / "copy"), "laid there then"]]},
    )
    assert run.returncode == 3, run.stderr
    assert (tree / "copy").read_text() == "laid there then"
    assert contents(tree) == {"twice", "laid there first", "laid there then"}
    assert "it lies in" in run.stderr


def test_dedupe_leaves_a_copy_whose_kept_one_is_moved_away_with_its_folder(tree: Path) -> None:
    (tree / "in").mkdir()
    (tree / "kept").rename(tree / "in" / "kept")
    away = tree.parent / "away"
    run = dedupe(tree, {"before": ["os.rename"], "name": "copy", "do": [["move", str(tree / "in"), str(away)]]})
    assert run.returncode == 3, run.stderr
    assert (tree / "copy").read_text() == "twice"


def test_dedupe_never_keeps_what_lies_in_a_trash(tree: Path) -> None:
    trash = tree / TRASH_FOLDER / "earlier"
    trash.mkdir(parents=True)
    (tree / "kept").rename(trash / "kept")
    run = run_with(
        [], dedupe=["--delete", "--yes", "--state", str(tree.parent / "state"), str(trash), str(tree / "copy")]
    )
    assert run.returncode == 0, run.stderr
    assert "Nothing to remove" in run.stdout
    assert (tree / "copy").read_text() == "twice"


@pytest.fixture
def pair(shelf: Shelf) -> Shelf:
    """A library with two equal files."""
    shelf.put("kept", b"twice", mtime=1)
    shelf.put("copy", b"twice", mtime=2)
    return shelf


def order(shelf: Shelf, mode: DeleteMode = DeleteMode.TRASH) -> DeletionPlan:
    plans = DeletionPlans(shelf.database, allowed=True)

    async def apply() -> DeletionPlan:
        made = await plans.make(KeepRules(), mode=mode)
        return await plans.apply(made.id, dry_run=False, confirm=True)

    return asyncio.run(apply())


def outcome(shelf: Shelf) -> tuple[str, str, str | None]:
    found: tuple[str, str, str | None] = shelf.all("SELECT action, state, error_code FROM deletion_log")[-1]
    return found


def do_jobs(shelf: Shelf, url: str, *acts: dict[str, Any]) -> None:
    run = run_with(list(acts), jobs=url)
    assert run.returncode == 0, run.stderr


only_sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


@only_sqlite
def test_a_plan_leaves_a_copy_whose_kept_one_goes_in_the_last_moment(pair: Shelf, url: str) -> None:
    order(pair)
    kept = str(pair.path("kept"))
    do_jobs(pair, url, {"before": ["os.rename"], "name": "copy", "do": [["unlink", kept]]})
    assert outcome(pair) == ("trash", "refused", "KEPT_MISSING")
    assert pair.path("copy").read_text() == "twice"
    assert list(pair.path(TRASH_FOLDER).iterdir()) == []


@only_sqlite
def test_a_plan_that_cannot_put_a_file_back_keeps_it_in_the_trash(pair: Shelf, url: str) -> None:
    order(pair)
    kept, copy = str(pair.path("kept")), str(pair.path("copy"))
    do_jobs(
        pair,
        url,
        {"before": ["os.rename"], "name": "copy", "do": [["unlink", kept]]},
        {"before": ["os.link"], "name": "copy", "do": [["write", copy, "laid there"]]},
    )
    assert outcome(pair) == ("trash", "done", None)
    assert pair.path("copy").read_text() == "laid there"
    (entry,) = asyncio.run(Trash(pair.database, days=30, may_purge=True).entries()).items
    assert (pair.path(TRASH_FOLDER) / entry.id).read_text() == "twice"
    assert json.loads((pair.path(TRASH_FOLDER) / f"{entry.id}.json").read_text())["path"] == "copy"


@only_sqlite
def test_a_link_replaces_only_what_was_compared(pair: Shelf, url: str) -> None:
    order(pair, DeleteMode.HARDLINK)
    copy = str(pair.path("copy"))
    do_jobs(pair, url, {"before": ["os.rename"], "name": "copy", "do": [["write", copy, "laid there"]]})
    assert outcome(pair) == ("hardlink", "refused", "FILE_CHANGED")
    assert pair.path("copy").read_text() == "laid there"
    assert pair.path("kept").read_text() == "twice"
    assert list(pair.path(TRASH_FOLDER).iterdir()) == []


@only_sqlite
def test_a_purge_brings_back_what_it_removed_when_the_other_copy_goes_in_that_moment(pair: Shelf, url: str) -> None:
    order(pair)
    do_jobs(pair, url)
    pair.run("UPDATE trash_entries SET trashed_at = 0")
    trash = Trash(pair.database, days=0, may_purge=True)
    (entry,) = asyncio.run(trash.entries()).items
    assert asyncio.run(trash.purge()).entries == 1
    do_jobs(pair, url, {"before": ["os.remove"], "name": entry.id, "do": [["unlink", str(pair.path("kept"))]]})
    assert outcome(pair)[:2] == ("purge", "refused")
    file = pair.path(TRASH_FOLDER) / entry.id
    assert file.read_text() == "twice"
    assert file.stat().st_mtime == 2
    assert [one.id for one in asyncio.run(trash.entries()).items] == [entry.id]
    # And it can be put back.
    asyncio.run(trash.restore(entry.id))
    do_jobs(pair, url)
    assert pair.path("copy").read_text() == "twice"

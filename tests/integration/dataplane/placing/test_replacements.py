"""A file takes the place of another: the new one is there first, the old one is in the trash with its way back."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from blake3 import blake3

from kurabito.dataplane.removal import syscalls

if TYPE_CHECKING:
    from tests.integration.dataplane.placing.conftest import Desk

TARGET = "Show/Show - S01E01.mkv"
OTHER = "Show/Show - S01E01 [1080p].mkv"
TRASH = ".kurabito-trash"


def trashed(desk: Desk) -> dict[str, bytes]:
    """What lies in the trash of the library, by the names that the database has; with their sidecars, and nothing else."""
    entries = desk.shelf.all(
        "SELECT id, relative_path, trash_path, content_hash FROM trash_entries WHERE left_at IS NULL"
    )
    folder = desk.shelf.path(TRASH)
    names = {name for entry, *_ in entries for name in (entry, f"{entry}.json")}
    assert ({path.name for path in folder.iterdir()} if folder.exists() else set()) == names
    for _, path, trash_path, digest in entries:
        content = desk.shelf.path(trash_path).read_bytes()
        about = json.loads(desk.shelf.path(f"{trash_path}.json").read_text())
        assert (about["path"], about["content_hash"]) == (path, bytes(digest).hex())
        assert blake3(content).digest() == bytes(digest)
    return {path: desk.shelf.path(trash_path).read_bytes() for _, path, trash_path, _ in entries}


def had(desk: Desk) -> Path:
    """The file that the library has."""
    desk.shelf.put(TARGET, b"first version")
    return desk.shelf.path(TARGET)


def without_swaps(one: tuple[int, str], other: tuple[int, str]) -> None:
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


@pytest.mark.parametrize(
    ("mode", "target", "has_swaps"),
    [("link", TARGET, True), ("copy", TARGET, False), ("copy", OTHER, True)],
    ids=["linked", "where names cannot be swapped", "under another name"],
)
def test_the_new_file_is_there_and_the_old_one_in_the_trash(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, mode: str, target: str, has_swaps: bool
) -> None:
    if not has_swaps:
        monkeypatch.setattr(syscalls, "swap", without_swaps)
    old = had(desk)
    placement = desk.ask(desk.download("v2.mkv", b"second version"), target, mode, replaces=old)
    desk.work()
    assert desk.outcome(placement) == ("completed", mode, None)
    assert desk.shelf.path(target).read_bytes() == b"second version"
    assert trashed(desk) == {TARGET: b"first version"}
    assert set(desk.known()) == {target}
    assert {name for name in desk.names() if not name.startswith(TRASH)} == {target}


def test_a_replacement_can_be_undone(desk: Desk) -> None:
    old = had(desk)
    desk.ask(desk.download("v2.mkv", b"second version"), TARGET, "link", replaces=old)
    desk.work()
    ((trash_path,),) = desk.shelf.all("SELECT trash_path FROM trash_entries")
    back = desk.ask(desk.shelf.path(trash_path), TARGET, "move", within=True, replaces=desk.shelf.path(TARGET))
    desk.work()
    assert desk.outcome(back) == ("completed", "move", None)
    assert desk.shelf.path(TARGET).read_bytes() == b"first version"
    assert trashed(desk) == {TARGET: b"second version"}
    assert desk.shelf.all("SELECT left_as FROM trash_entries WHERE left_at IS NOT NULL") == [("restored",)]


def test_a_file_that_changed_meanwhile_is_not_replaced(desk: Desk) -> None:
    old = had(desk)
    placement = desk.ask(desk.download("v2.mkv", b"second version"), TARGET, "link", replaces=old)
    old.write_bytes(b"edited by its keeper")
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "TARGET_EXISTS")
    assert old.read_bytes() == b"edited by its keeper"
    assert trashed(desk) == {}


def test_a_file_that_is_laid_there_in_the_last_moment_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    old = had(desk)
    placement = desk.ask(desk.download("v2.mkv", b"second version"), TARGET, "link", replaces=old)
    swap = syscalls.swap

    def late(*names: Any) -> None:
        monkeypatch.setattr(syscalls, "swap", swap)
        old.unlink()
        old.write_bytes(b"laid there by another program")
        swap(*names)

    monkeypatch.setattr(syscalls, "swap", late)
    desk.work()
    assert desk.outcome(placement)[::2] == ("failed", "FILE_CHANGED")
    assert old.read_bytes() == b"laid there by another program"


def test_a_file_that_is_gone_leaves_its_name_to_the_new_one(desk: Desk) -> None:
    old = had(desk)
    placement = desk.ask(desk.download("v2.mkv", b"second version"), TARGET, "link", replaces=old)
    old.unlink()
    desk.shelf.put("another.mkv", b"so that the disk is mounted")
    desk.work()
    assert desk.outcome(placement) == ("completed", "link", None)
    assert desk.shelf.path(TARGET).read_bytes() == b"second version"
    assert trashed(desk) == {}


def test_a_full_disk_leaves_the_old_file_in_its_place(desk: Desk, small_disk: Path) -> None:
    old = small_disk / TARGET
    old.parent.mkdir()
    old.write_bytes(b"first version")
    (small_disk / "filling").write_bytes(bytes(900_000))
    placement = desk.ask(desk.download("v2.mkv", bytes(500_000)), TARGET, "copy", replaces=old)
    desk.work()
    assert desk.outcome(placement)[::2] == ("pending", "DISK_FULL")
    assert old.read_bytes() == b"first version"
    assert trashed(desk) == {}
    (small_disk / "filling").unlink()
    desk.shelf.clock.advance(3600)
    desk.work()
    assert desk.outcome(placement) == ("completed", "copy", None)
    assert trashed(desk) == {TARGET: b"first version"}


@pytest.mark.parametrize("target", [TARGET, OTHER], ids=["same name", "another name"])
def test_a_crash_between_two_names_of_the_old_file_is_settled(desk: Desk, target: str) -> None:
    old = had(desk)
    placement = desk.ask(desk.download("v2.mkv", b"second version"), target, "link", replaces=old)
    ((trash_id,),) = desk.shelf.all("SELECT trash_id FROM placements WHERE id = :id", id=placement)
    desk.shelf.path(TRASH).mkdir()
    # Where files are moved by a link, the name in the trash comes before the other one goes.
    os.link(old, desk.shelf.path(f"{TRASH}/{trash_id}"))
    desk.work()
    assert desk.outcome(placement) == ("completed", "link", None)
    assert desk.shelf.path(target).read_bytes() == b"second version"
    assert trashed(desk) == {TARGET: b"first version"}

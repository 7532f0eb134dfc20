"""What is in the way of a placement has a code, loses nothing, and is no longer in the way once it is gone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kurabito.clock import SECOND
from kurabito.db import leases
from kurabito.protocol.leased.placements import PLACEMENTS

if TYPE_CHECKING:
    from tests.integration.dataplane.placing.conftest import Desk

TARGET = "Show/Show - S01E01.mkv"
HOUR = 3600


def goes_on(desk: Desk, placement: int) -> None:
    """Once the cause is gone the placement is done, not before its time."""
    before = desk.row(placement)
    assert (before["status"], before["tries"]) == ("pending", 1)
    desk.work()
    assert desk.row(placement) == before
    desk.shelf.clock.advance(HOUR)
    desk.work()
    assert desk.outcome(placement)[0] == "completed"
    assert desk.row(placement)["error_code"] is None


def test_a_full_disk(desk: Desk, small_disk: Path) -> None:
    (small_disk / "filling").write_bytes(bytes(900_000))
    placement = desk.ask(desk.download("a.mkv", bytes(500_000)), TARGET, "link", "copy")
    desk.work()
    row = desk.row(placement)
    assert row["error_code"] == "DISK_FULL"
    assert row["error_facts"]["needed_bytes"] == 500_000
    assert desk.names() == {"filling"}
    (small_disk / "filling").unlink()
    goes_on(desk, placement)


def test_a_disk_that_fills_up_during_the_copy(desk: Desk, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kurabito.dataplane.placing.modes.PlacementModes._refuse_without_room", lambda *_: None)
    placement = desk.ask(desk.download("a.mkv", bytes(2_000_000)), TARGET, "copy")
    desk.work()
    assert desk.row(placement)["error_code"] == "DISK_FULL"
    assert desk.names() == set()
    subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
    goes_on(desk, placement)


def test_the_reserve_stays_free(desk: Desk, small_disk: Path) -> None:
    placement = desk.ask(desk.download("a.mkv", bytes(500_000)), TARGET, "copy", reserve=900_000)
    desk.work()
    assert desk.row(placement)["error_code"] == "DISK_FULL"
    assert desk.row(placement)["error_facts"]["left_bytes"] < 500_000
    assert desk.names() == set()


def test_a_disk_that_can_only_be_read(desk: Desk, small_disk: Path) -> None:
    (small_disk / "Show").mkdir()
    placement = desk.ask(desk.download("a.mkv"), TARGET, "copy")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    desk.work()
    assert desk.row(placement)["error_code"] == "READ_ONLY"
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    goes_on(desk, placement)


def test_a_disk_that_is_not_mounted(desk: Desk) -> None:
    """Its folder is there and empty, and nothing is put into it."""
    desk.shelf.put("known.mkv")
    folder = desk.shelf.path("")
    folder.rename(folder.with_name("on the disk"))
    folder.mkdir()
    placement = desk.ask(desk.download("a.mkv"), TARGET, "link")
    desk.work()
    assert desk.row(placement)["error_code"] == "ROOT_EMPTY"
    assert list(folder.iterdir()) == []
    folder.rmdir()
    folder.with_name("on the disk").rename(folder)
    goes_on(desk, placement)


def test_folders_that_are_not_there(desk: Desk) -> None:
    """Neither the library's nor that of the downloads: another machine may have them."""
    source = desk.download("a.mkv")
    placement = desk.ask(source, TARGET, "link")
    for folder in (desk.shelf.path(""), desk.downloads):
        folder.rename(folder.with_name("elsewhere"))
        desk.work()
        row = desk.row(placement)
        assert (row["status"], row["error_code"]) == ("pending", "ROOT_UNAVAILABLE")
        assert row["error_facts"]["folder"] == str(folder)
        folder.with_name("elsewhere").rename(folder)
        desk.shelf.clock.advance(HOUR)
    desk.work()
    assert desk.outcome(placement)[0] == "completed"


def test_a_folder_that_may_not_be_written(desk: Desk) -> None:
    folder = desk.shelf.path("Show")
    folder.mkdir()
    closing, opening = (
        (["chattr", "+i"], ["chattr", "-i"]) if os.geteuid() == 0 else (["chmod", "555"], ["chmod", "755"])
    )
    if shutil.which(closing[0]) is None:
        pytest.skip("there is no chattr here; tools/provision.sh installs it")
    if subprocess.run([*closing, str(folder)], check=False, capture_output=True).returncode:
        pytest.skip("a folder cannot be closed to this user")
    placement = desk.ask(desk.download("a.mkv"), TARGET, "link", "copy")
    try:
        desk.work()
    finally:
        subprocess.run([*opening, str(folder)], check=True)
    assert desk.row(placement)["error_code"] == "NOT_PERMITTED"
    assert desk.names() == set()
    goes_on(desk, placement)


def test_a_name_that_is_too_long(desk: Desk) -> None:
    placement = desk.ask(desk.download("a.mkv"), f"Show/{'x' * 300}.mkv", "link", "copy")
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "NAME_TOO_LONG")


@pytest.mark.parametrize("kind", ["replace", "rename"])
class TestWhatLeavesAPlace:
    """The same causes, where a file that the library has is replaced or renamed."""

    def ask(self, desk: Desk, kind: str, target: str = TARGET) -> tuple[int, Path]:
        """The placement, and the file that is there until it is done."""
        there = desk.shelf.path(TARGET if kind == "replace" else "old/name.mkv")
        there.parent.mkdir(exist_ok=True)
        there.write_bytes(b"first version")
        if kind == "rename":
            return desk.ask(there, target, "rename", within=True), there
        return desk.ask(desk.download("v2.mkv", b"second version"), target, "copy", replaces=there), there

    def test_a_disk_that_can_only_be_read(self, desk: Desk, small_disk: Path, kind: str) -> None:
        placement, there = self.ask(desk, kind)
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        desk.work()
        assert desk.row(placement)["error_code"] == "READ_ONLY"
        assert there.read_bytes() == b"first version"
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
        goes_on(desk, placement)

    def test_a_disk_that_is_not_mounted(self, desk: Desk, kind: str) -> None:
        desk.shelf.put("known.mkv")
        placement, there = self.ask(desk, kind)
        folder = desk.shelf.path("")
        folder.rename(folder.with_name("on the disk"))
        folder.mkdir()
        desk.work()
        assert desk.row(placement)["error_code"] == "ROOT_EMPTY"
        assert list(folder.iterdir()) == []
        folder.rmdir()
        folder.with_name("on the disk").rename(folder)
        assert there.read_bytes() == b"first version"
        goes_on(desk, placement)

    def test_a_name_that_is_too_long(self, desk: Desk, kind: str) -> None:
        placement, there = self.ask(desk, kind, f"Show/{'x' * 300}.mkv")
        desk.work()
        assert desk.outcome(placement)[::2] == ("failed", "NAME_TOO_LONG")
        assert there.read_bytes() == b"first version"

    def test_a_name_that_another_file_got_meanwhile(self, desk: Desk, kind: str) -> None:
        placement, there = self.ask(desk, kind, "Show/another.mkv")
        desk.shelf.put("Show/another.mkv", b"laid there by another program")
        desk.work()
        assert desk.outcome(placement)[::2] == ("failed", "TARGET_EXISTS")
        assert there.read_bytes() == b"first version"
        assert desk.shelf.path("Show/another.mkv").read_bytes() == b"laid there by another program"


def test_a_library_that_is_being_removed(desk: Desk) -> None:
    desk.shelf.run("UPDATE library_roots SET removing_since = :now WHERE id = 1")
    placement = desk.ask(desk.download("a.mkv"), TARGET, "link")
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "LIBRARY_REMOVED")


def test_the_waits_grow_and_differ(desk: Desk) -> None:
    desk.shelf.path("").rename(desk.shelf.path("").with_name("elsewhere"))
    placement = desk.ask(desk.download("a.mkv"), TARGET, "link")
    waits = []
    for _ in range(10):
        desk.work()
        waits.append(desk.row(placement)["retry_after"] - desk.shelf.clock.now())
        desk.shelf.clock.advance(HOUR)
    assert all(15 * SECOND << number <= wait for number, wait in enumerate(waits[:6]))
    assert 15 * 60 * SECOND <= waits[-1] <= 20 * 60 * SECOND


def test_a_data_plane_that_lost_its_lease_changes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    placement = desk.ask(desk.download("a.mkv"), TARGET, "copy")
    desk.shelf.path("Show").mkdir()
    fsync = os.fsync

    def cancelled(fd: int) -> None:
        desk.shelf.run("UPDATE placements SET status = 'cancelled' WHERE id = :id", id=placement)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", cancelled)
    desk.work()
    assert desk.outcome(placement)[0] == "cancelled"
    assert desk.names() == set()
    assert desk.known() == {}


def test_a_placement_that_costs_three_data_planes_is_given_up(desk: Desk) -> None:
    placement = desk.ask(desk.download("a.mkv"), TARGET, "copy")
    seen = []
    for number in range(3):
        desk.shelf.plane.write_blocking(
            lambda conn, owner=f"plane#{number}": leases.claim(conn, PLACEMENTS, owner, lease=SECOND, limit=1)  # type: ignore[misc]
        )
        desk.shelf.clock.advance(HOUR)
        desk.shelf.plane.write_blocking(lambda conn: leases.recover(conn, PLACEMENTS))
        seen.append(desk.outcome(placement)[0::2])
    assert seen == [("pending", "LEASE_EXPIRED"), ("pending", "LEASE_EXPIRED"), ("failed", "WORKER_LOST")]


def test_facts_are_json_for_the_page(desk: Desk) -> None:
    placement = desk.ask(desk.download("a.mkv"), "../蔵.mkv", "link")
    desk.work()
    ((text,),) = desk.shelf.all("SELECT error_facts FROM placements WHERE id = :id", id=placement)
    assert "蔵" in text
    assert json.loads(text)["path"].endswith("../蔵.mkv")

"""Files come into their place by each mode, never over another file, and are known to the library at once."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from blake3 import blake3

from kurabito.dataplane.placing import copies, link_batch, staged_file
from kurabito.dataplane.placing.placement_row import LeasedPlacement, MoreRow, MoreWanted

if TYPE_CHECKING:
    from tests.integration.dataplane.placing.conftest import Desk

TARGET = "Show (2020)/Season 01/Show - S01E01.mkv"


def test_a_linked_file_is_one_file_with_two_names(desk: Desk) -> None:
    source = desk.download("[Group] Show - 01.mkv")
    placement = desk.ask(source, TARGET, "link", "copy")
    desk.work()
    assert desk.outcome(placement) == ("completed", "link", None)
    target = desk.shelf.path(TARGET)
    assert source.samefile(target)
    assert desk.names() == {TARGET}
    # It was not read, so nothing is known of its content.
    assert desk.known() == {TARGET: (11, 0, None)}


def test_many_files_are_linked_together_and_what_is_not_plain_comes_in_its_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def noted(fd: int) -> None:
        synced.append(fd)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", noted)
    names = [f"Show/Season 01/Show - S01E{number:02}.mkv" for number in range(1, 31)]
    sources = [desk.download(f"{number}.mkv", b"%d" % number) for number in range(1, 31)]
    placements = [desk.ask(source, name, "link", "copy") for source, name in zip(sources, names, strict=True)]
    desk.shelf.put(names[9], b"of another release")
    sources[19].write_bytes(b"changed meanwhile")
    sources[24].unlink()
    desk.work()
    outcomes = [desk.outcome(placement) for placement in placements]
    refused = {9: "TARGET_EXISTS", 19: "FILE_CHANGED", 24: "FILE_MISSING"}
    assert {
        place: outcome[::2] for place, outcome in enumerate(outcomes) if outcome != ("completed", "link", None)
    } == {place: ("failed", code) for place, code in refused.items()}
    placed = [name for place, name in enumerate(names) if place not in refused]
    assert set(desk.known()) == {*placed, names[9]}
    assert all(desk.shelf.path(name).samefile(sources[names.index(name)]) for name in placed)
    assert len(synced) < len(placed)


def test_one_batch_of_links_follows_another(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_batch, "_MOST", 5)
    names = [f"Show {number % 3}/{number}.mkv" for number in range(23)]
    placements = [desk.ask(desk.download(f"{number}.mkv"), name, "link") for number, name in enumerate(names)]
    # The library had this one once, and knows that it is gone.
    desk.shelf.put(names[9], b"long ago")
    desk.shelf.path(names[9]).unlink()
    desk.shelf.run("UPDATE library_files SET is_missing = 1")
    desk.work()
    assert {desk.outcome(placement) for placement in placements} == {("completed", "link", None)}
    assert desk.names() == set(names)
    assert desk.known() == dict.fromkeys(names, (11, 0, None))


def test_files_that_have_their_names_already_are_done_together(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed: list[int] = []
    claim_more = LeasedPlacement.claim_more

    def noted(row: LeasedPlacement, wanted: MoreWanted) -> list[MoreRow]:
        found = claim_more(row, wanted)
        claimed.append(len(found))
        return found

    monkeypatch.setattr(LeasedPlacement, "claim_more", noted)
    sources = [desk.download(f"{number}.mkv") for number in range(20)]
    for source in sources:
        desk.shelf.path(source.name).hardlink_to(source)
    placements = [desk.ask(source, source.name, "link") for source in sources]
    desk.work()
    assert {desk.outcome(placement) for placement in placements} == {("completed", "link", None)}
    # The first is placed alone, and so is the one that is claimed while it is settled.
    assert claimed == [18, 0]
    assert set(desk.known()) == {source.name for source in sources}


def test_folders_made_for_many_files_are_on_the_disk_and_each_is_synced_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    fsync = os.fsync

    def noted(fd: int) -> None:
        synced.append(Path(f"/proc/self/fd/{fd}").readlink())
        fsync(fd)

    monkeypatch.setattr(os, "fsync", noted)
    # The first file is placed alone, and so is the one that is claimed while it is settled.
    for name in ("first.mkv", "second.mkv"):
        desk.ask(desk.download(name), name, "link")
    for show in range(3):
        for episode in range(2):
            source = desk.download(f"{show} {episode}.mkv")
            desk.ask(source, f"Show {show}/Season 01/{episode}.mkv", "link")
    desk.work()
    library = desk.shelf.path("", 1)
    made = [folder for show in range(3) for folder in (library / f"Show {show}", library / f"Show {show}/Season 01")]
    ours = sorted(folder for folder in synced if folder.is_relative_to(library))
    assert ours == sorted([library] * 3 + made)


@pytest.mark.parametrize("is_named", [False, True], ids=["without a name", "under a hidden name"])
def test_a_copy_is_a_file_of_its_own_with_its_hash(desk: Desk, monkeypatch: pytest.MonkeyPatch, is_named: bool) -> None:
    if is_named:
        monkeypatch.setattr(staged_file, "_UNNAMED", 0)
    monkeypatch.setattr(copies, "_CHUNK", 1 << 20)
    content = os.urandom(3_000_000)
    source = desk.download("big.mkv", content)
    os.utime(source, ns=(5, 1_600_000_000_123_456_789))
    placement = desk.ask(source, TARGET, "copy")
    desk.work()
    target = desk.shelf.path(TARGET)
    assert desk.outcome(placement) == ("completed", "copy", None)
    assert target.read_bytes() == content
    assert target.stat().st_mtime_ns == 1_600_000_000_123_456_789
    assert not source.samefile(target)
    assert desk.known() == {TARGET: (len(content), 0, blake3(content).digest())}
    assert bytes(desk.row(placement)["content_hash"]) == blake3(content).digest()
    assert desk.names() == {TARGET}


def test_a_library_that_hashes_otherwise_keeps_no_hash_of_a_copy(desk: Desk) -> None:
    desk.shelf.run("UPDATE library_roots SET algorithm = 'sha256', hash_policy = 'all' WHERE id = 1")
    desk.ask(desk.download("a.mkv"), TARGET, "copy")
    desk.work()
    assert desk.known() == {TARGET: (11, 1, None)}


def test_a_move_leaves_nothing_behind(desk: Desk) -> None:
    source = desk.download("a.mkv")
    inode = source.stat().st_ino
    placement = desk.ask(source, TARGET, "move")
    desk.work()
    assert desk.outcome(placement) == ("completed", "move", None)
    assert desk.shelf.path(TARGET).stat().st_ino == inode
    assert not source.exists()


def test_a_move_to_another_disk_is_a_copy_whose_source_goes_afterwards(desk: Desk, small_disk: Path) -> None:
    content = os.urandom(10_000)
    source = desk.download("a.mkv", content)
    placement = desk.ask(source, TARGET, "move")
    desk.work()
    assert desk.outcome(placement) == ("completed", "move", None)
    assert (small_disk / TARGET).read_bytes() == content
    assert not source.exists()


def test_a_rename_keeps_what_is_known_of_the_file(desk: Desk) -> None:
    file = desk.shelf.put("Show/old name.mkv", b"known")
    desk.shelf.put(TARGET, b"what had the new name before")
    desk.shelf.path(TARGET).unlink()
    desk.shelf.run("UPDATE library_files SET is_missing = 1 WHERE relative_path = :path", path=TARGET)
    placement = desk.ask(desk.shelf.path("Show/old name.mkv"), TARGET, "rename", within=True)
    desk.work()
    assert desk.outcome(placement) == ("completed", "rename", None)
    assert desk.names() == {TARGET}
    found = desk.shelf.all("SELECT id, relative_path, content_hash IS NOT NULL FROM library_files WHERE library_id = 1")
    assert [(one, path, bool(hashed)) for one, path, hashed in found] == [(file, TARGET, True)]


def test_a_file_is_written(desk: Desk) -> None:
    placement = desk.ask(None, "Show/tvshow.nfo", "write", content=b"<tvshow/>")
    desk.work()
    assert desk.outcome(placement) == ("completed", "write", None)
    assert desk.shelf.path("Show/tvshow.nfo").read_bytes() == b"<tvshow/>"


def test_a_link_to_another_disk_is_a_copy_where_that_is_allowed(desk: Desk, small_disk: Path) -> None:
    source = desk.download("a.mkv")
    either, only = desk.ask(source, "either.mkv", "link", "reflink", "copy"), desk.ask(source, "only.mkv", "link")
    desk.work()
    assert desk.outcome(either) == ("completed", "copy", None)
    assert desk.outcome(only) == ("failed", None, "OTHER_FILE_SYSTEM")
    assert desk.names() == {"either.mkv"}


def test_where_there_are_no_links_a_copy_appears_whole_all_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(staged_file, "_UNNAMED", 0)
    monkeypatch.setattr(os, "link", refused)
    source = desk.download("a.mkv")
    either, only = desk.ask(source, TARGET, "link", "copy"), desk.ask(source, "only.mkv", "link")
    desk.work()
    assert desk.outcome(either) == ("completed", "copy", None)
    assert desk.outcome(only) == ("failed", None, "LINK_UNSUPPORTED")
    assert desk.names() == {TARGET}


@pytest.mark.parametrize("mode", ["link", "copy", "move", "rename"])
def test_another_file_is_never_replaced(desk: Desk, mode: str) -> None:
    desk.shelf.put(TARGET, b"of another")
    within = mode == "rename"
    source = desk.shelf.path("old.mkv") if within else desk.download("a.mkv")
    source.write_bytes(b"ours, .....")
    placement = desk.ask(source, TARGET, mode, within=within)
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "TARGET_EXISTS")
    assert desk.row(placement)["error_facts"]["path"].endswith(TARGET)
    assert desk.shelf.path(TARGET).read_bytes() == b"of another"
    assert source.read_bytes() == b"ours, ....."


@pytest.mark.parametrize(("mode", "stays"), [("link", True), ("copy", True), ("move", False)])
def test_a_file_of_equal_content_is_what_was_wanted(desk: Desk, mode: str, stays: bool) -> None:
    desk.shelf.put(TARGET, b"the same")
    source = desk.download("a.mkv", b"the same")
    placement = desk.ask(source, TARGET, mode)
    desk.work()
    assert desk.outcome(placement) == ("completed", "found", None)
    assert source.exists() is stays
    assert desk.shelf.path(TARGET).read_bytes() == b"the same"


def test_a_file_that_appears_in_the_last_moment_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def too_late(*names: Any, **options: Any) -> None:
        desk.shelf.path(TARGET).write_bytes(b"a moment earlier")
        link(*names, **options)

    monkeypatch.setattr(os, "link", too_late)
    placement = desk.ask(desk.download("a.mkv"), TARGET, "copy")
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "TARGET_EXISTS")
    assert desk.shelf.path(TARGET).read_bytes() == b"a moment earlier"
    assert desk.names() == {TARGET}


@pytest.mark.parametrize("what", ["a link to a file", "a folder that is a link", "a folder"])
def test_a_link_at_the_target_is_neither_followed_nor_replaced(desk: Desk, tmp_path: Path, what: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"not ours")
    match what:
        case "a link to a file":
            desk.shelf.path("Show.mkv").symlink_to(outside / "file")
            target = "Show.mkv"
        case "a folder that is a link":
            desk.shelf.path("Show").symlink_to(outside)
            target = "Show/Show.mkv"
        case _:
            desk.shelf.path("Show.mkv").mkdir()
            target = "Show.mkv"
    placement = desk.ask(desk.download("a.mkv"), target, "link", "copy")
    desk.work()
    assert desk.outcome(placement)[0] == "failed"
    assert desk.outcome(placement)[2] in ("TARGET_EXISTS", "PATH_ESCAPES")
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_bytes() == b"not ours"


@pytest.mark.parametrize("target", ["../out.mkv", "/etc/out.mkv", "a//b.mkv", "a/../../b.mkv", "", "."])
def test_a_target_never_leaves_its_library(desk: Desk, target: str) -> None:
    placement = desk.ask(desk.download("a.mkv"), target, "link", "copy")
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "PATH_ESCAPES")
    assert desk.names() == set()


def test_a_source_that_is_a_link_is_not_taken(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"episode one")
    source = desk.download("a.mkv")
    placement = desk.ask(source, TARGET, "copy")
    source.unlink()
    source.symlink_to(tmp_path / "secret")
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "FILE_MISSING")


def test_a_source_that_changed_since_the_decision_is_not_taken(desk: Desk) -> None:
    source = desk.download("a.mkv")
    placement = desk.ask(source, TARGET, "link")
    source.write_bytes(b"something else")
    desk.work()
    assert desk.outcome(placement) == ("failed", None, "FILE_CHANGED")
    assert desk.names() == set()


def test_what_a_killed_placement_left_is_taken_away_and_nothing_else(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staged_file, "_UNNAMED", 0)
    source = desk.download("a.mkv")
    done, running, mine = (desk.ask(source, f"Show/{name}.mkv", "copy") for name in ("done", "running", "mine"))
    desk.shelf.run("UPDATE placements SET status = 'cancelled' WHERE id = :id", id=done)
    desk.shelf.run(
        "UPDATE placements SET status = 'running', worker_id = 'other#1', lease_expires_at = :now + 1000000 WHERE id = :id",
        id=running,
    )
    folder = desk.shelf.path("Show")
    folder.mkdir()
    token = "0123456789abcdef"
    for number in (done, running, mine):
        (folder / f".kurabito-{number}-{token}.part").write_bytes(b"half")
    (folder / ".kurabito-x.part").write_bytes(b"the keeper's own")
    desk.work()
    assert desk.outcome(mine) == ("completed", "copy", None)
    left = {path.name for path in folder.iterdir() if path.name.startswith(".")}
    assert left == {f".kurabito-{running}-{token}.part", ".kurabito-x.part"}

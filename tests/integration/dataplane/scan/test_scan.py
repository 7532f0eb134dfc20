"""What a scan stores about a real folder, on both databases."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.scan.scanner import Scanner

if TYPE_CHECKING:
    from tests.integration.dataplane.scan.conftest import Shelf

DONE = ("completed", None, None)


def test_a_first_scan_knows_every_file(shelf: Shelf) -> None:
    for number in range(30):
        shelf.write(f"show {number % 7}/episode {number}.mkv", b"x" * number)
    assert shelf.scan() == DONE
    assert shelf.known() == shelf.on_disk()
    assert shelf.counts() == {"added": 30, "changed": 0, "moved": 0, "removed": 0, "error": 0}
    status, total, files, folders, size = shelf.session("status, total_paths, files_seen, directories_seen, bytes_seen")
    assert (status, total, files, folders, size) == ("succeeded", 37, 30, 7, sum(range(30)))


def test_an_unchanged_library_is_left_alone(shelf: Shelf) -> None:
    for number in range(10):
        shelf.write(f"{number}.mkv", b"x" * number)
    shelf.scan()
    before = shelf.files("id, updated_at")
    assert shelf.scan() == DONE
    assert shelf.files("id, updated_at") == before
    assert shelf.counts() == {"added": 0, "changed": 0, "moved": 0, "removed": 0, "error": 0}


def test_a_changed_file_loses_its_hash_and_keeps_its_row(shelf: Shelf) -> None:
    shelf.write("a.mkv", b"12")
    shelf.write("b.mkv", b"12")
    shelf.scan()
    shelf.hash_everything()
    before = shelf.files("id")
    shelf.write("a.mkv", b"34")
    os.utime(shelf.folder / "a.mkv", ns=(1, 1))
    shelf.scan()
    assert shelf.files("id") == before
    assert shelf.files("content_hash, hash_algorithm, needs_hash") == {
        "a.mkv": (None, None, 1),
        "b.mkv": (b"h" * 32, "blake3", 0),
    }
    assert shelf.counts()["changed"] == 1


def test_a_file_whose_inode_is_not_on_record_is_taken_for_another(shelf: Shelf) -> None:
    """Databases of other programs that were taken over may lack it."""
    for name in ("a.mkv", "b.mkv"):
        shelf.write(name, b"12")
    shelf.scan()
    shelf.hash_everything()
    shelf.change("UPDATE library_files SET inode = NULL, device = NULL WHERE relative_path = 'a.mkv'")
    shelf.scan()
    assert shelf.known() == shelf.on_disk()
    assert shelf.files("content_hash, needs_hash") == {"a.mkv": (None, 1), "b.mkv": (b"h" * 32, 0)}
    assert shelf.counts()["changed"] == 1


def test_what_is_gone_is_missing_and_what_returns_is_not(shelf: Shelf) -> None:
    for name in ("a.mkv", "b.mkv", "c/d.mkv", "z.mkv"):
        shelf.write(name, b"12")
    shelf.scan()
    shelf.hash_everything()
    before = shelf.files("id, content_hash")
    (shelf.folder / "c").rename(shelf.folder.parent / "away")
    (shelf.folder / "z.mkv").rename(shelf.folder.parent / "z.mkv")
    assert shelf.scan() == DONE
    assert shelf.missing() == {"c/d.mkv", "z.mkv"}
    assert shelf.counts()["removed"] == 2
    (shelf.folder.parent / "away").rename(shelf.folder / "c")
    (shelf.folder.parent / "z.mkv").rename(shelf.folder / "z.mkv")
    shelf.scan()
    assert shelf.files("id, content_hash") == before
    assert shelf.missing() == set()
    assert shelf.counts()["added"] == 2


def test_a_missing_path_that_holds_another_file_now_has_no_hash(shelf: Shelf) -> None:
    for name in ("a.mkv", "b.mkv"):
        shelf.write(name, b"12")
    shelf.scan()
    shelf.hash_everything()
    (shelf.folder / "a.mkv").unlink()
    shelf.scan()
    shelf.write("a.mkv", b"34")
    os.utime(shelf.folder / "a.mkv", ns=(1, 1))
    shelf.scan()
    assert shelf.files("content_hash, needs_hash")["a.mkv"] == (None, 1)
    assert shelf.known() == shelf.on_disk()


def test_a_moved_file_keeps_its_row_and_its_hash(shelf: Shelf) -> None:
    for name in ("a/1.mkv", "a/2.mkv", "b/3.mkv"):
        shelf.write(name, b"12")
    shelf.scan()
    shelf.hash_everything()
    before = shelf.files("id, content_hash")
    (shelf.folder / "a").rename(shelf.folder / "z")
    (shelf.folder / "b" / "3.mkv").rename(shelf.folder / "0.mkv")
    shelf.scan()
    assert shelf.files("id, content_hash") == {
        "z/1.mkv": before["a/1.mkv"],
        "z/2.mkv": before["a/2.mkv"],
        "0.mkv": before["b/3.mkv"],
    }
    assert shelf.missing() == set()
    assert shelf.counts() == {"added": 0, "changed": 0, "moved": 3, "removed": 0, "error": 0}
    assert shelf.ask("SELECT file_count FROM duplicate_groups") == [(3,)]


def test_a_file_that_moves_to_where_one_was_missing_keeps_its_row(shelf: Shelf) -> None:
    shelf.write("a.mkv", b"12")
    shelf.write("b.mkv", b"345")
    shelf.scan()
    (shelf.folder / "a.mkv").unlink()
    shelf.scan()
    before = shelf.files("id")
    (shelf.folder / "b.mkv").rename(shelf.folder / "a.mkv")
    shelf.scan()
    assert shelf.files("id") == {"a.mkv": before["b.mkv"]}
    assert shelf.missing() == set()


def test_each_hard_link_that_moves_is_paired_with_one_that_came(shelf: Shelf) -> None:
    shelf.write("a.mkv", b"12")
    os.link(shelf.folder / "a.mkv", shelf.folder / "b.mkv")
    shelf.write("other.mkv", b"345")
    shelf.scan()
    ids = set(shelf.files("id").values())
    for name in ("a", "b"):
        (shelf.folder / f"{name}.mkv").rename(shelf.folder / f"{name} (1).mkv")
    os.link(shelf.folder / "a (1).mkv", shelf.folder / "c.mkv")
    shelf.scan()
    after = shelf.files("id")
    assert set(after) == {"a (1).mkv", "b (1).mkv", "c.mkv", "other.mkv"}
    assert ids < set(after.values())
    assert shelf.counts()["moved"] == 2
    assert shelf.counts()["added"] == 1


def test_a_copy_that_takes_the_place_of_a_file_is_no_move(shelf: Shelf) -> None:
    shelf.write("a.mkv", b"12")
    shelf.write("other.mkv", b"345")
    shelf.scan()
    shutil.copy2(shelf.folder / "a.mkv", shelf.folder / "copy.mkv")
    (shelf.folder / "a.mkv").unlink()
    shelf.scan()
    assert shelf.missing() == {"a.mkv"}
    assert shelf.counts()["moved"] == 0


def test_more_that_is_gone_than_fits_into_a_page_is_all_missing(shelf: Shelf) -> None:
    for number in range(100):
        shelf.write(f"{number:03}.mkv", b"x" * number)
    shelf.scan()
    for number in range(99):
        (shelf.folder / f"{number:03}.mkv").unlink()
    shelf.write("050.mkv", b"y")
    assert shelf.scan() == DONE
    assert set(shelf.files()) == {"050.mkv", "099.mkv"}
    assert len(shelf.missing()) == 98


def test_progress_goes_by_what_the_last_scan_counted(shelf: Shelf) -> None:
    def scan_and_listen() -> list[tuple[int, float]]:
        reports = []

        def listening(job: LeasedJob) -> None:
            job.report = lambda processed, progress: reports.append((processed, progress))  # type: ignore[method-assign]
            Scanner(shelf.state, chunk=4)(job)

        shelf.scan(listening)
        return reports

    for number in range(11):
        shelf.write(f"folder/{number:02}.mkv")
    assert scan_and_listen() == [(0, 0.0), (5, 0.0), (9, 0.0), (12, 0.0), (12, 0.0)]
    shelf.write("folder/zz.mkv")
    assert scan_and_listen() == [(0, 0.0), (5, 5 / 12), (9, 9 / 12), (13, 13 / 12), (13, 13 / 12)]
    assert shelf.ask("SELECT total_paths FROM scan_sessions ORDER BY id") == [(12,), (13,)]


def test_nothing_is_left_of_what_was_noted(shelf: Shelf) -> None:
    for number in range(10):
        shelf.write(f"{number}.mkv", b"x" * number)
    shelf.scan()
    for number in range(5):
        (shelf.folder / f"{number}.mkv").unlink()
        shelf.write(f"new {number}.mkv")
    shelf.scan()
    assert shelf.ask("SELECT * FROM scan_findings") == []

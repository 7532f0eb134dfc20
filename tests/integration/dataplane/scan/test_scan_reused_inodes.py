"""A file that looks like a known one need not be that one; and others put files away and back while a scan goes on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kurabito.dataplane.jobs import LeasedJob
from kurabito.dataplane.scan import known_files
from kurabito.dataplane.scan.scanner import Scanner

if TYPE_CHECKING:
    from tests.integration.dataplane.scan.conftest import Shelf

DONE = ("completed", None, None)
LONG_AGO = 1_000_000


def known(shelf: Shelf) -> None:
    """Two equal files that were hashed long ago."""
    for name in ("a.mkv", "other.mkv"):
        shelf.write(name, b"12")
        os.utime(shelf.folder / name, ns=(1, 1))
    shelf.scan()
    shelf.hash_everything()
    shelf.change("UPDATE library_files SET hashed_at = :then, created_at = :then", then=LONG_AGO)


def give_inode_of(shelf: Shelf, path: str, to: str) -> None:
    """As if the file system had given the inode of a file that is gone to the next one that was made."""
    os.utime(shelf.folder / path, ns=(1, 1))
    inode = (shelf.folder / path).stat().st_ino
    shelf.change("UPDATE library_files SET inode = :inode WHERE relative_path = :path", inode=inode, path=to)


def test_a_new_file_with_the_inode_of_a_known_one_does_not_inherit_its_hash(shelf: Shelf) -> None:
    known(shelf)
    (shelf.folder / "a.mkv").unlink()
    shelf.write("new.mkv", b"34")
    give_inode_of(shelf, "new.mkv", to="a.mkv")
    before = shelf.files("id")
    assert shelf.scan() == DONE
    assert shelf.files("content_hash, needs_hash")["new.mkv"] == (None, 1)
    assert shelf.files("id")["new.mkv"] not in before.values()
    assert shelf.missing() == {"a.mkv"}
    assert shelf.counts() == {"added": 1, "changed": 0, "moved": 0, "removed": 1, "error": 0}


def test_a_new_file_where_one_was_missing_does_not_inherit_its_hash_either(shelf: Shelf) -> None:
    known(shelf)
    (shelf.folder / "a.mkv").unlink()
    shelf.scan()
    shelf.write("a.mkv", b"34")
    give_inode_of(shelf, "a.mkv", to="a.mkv")
    assert shelf.scan() == DONE
    assert shelf.files("content_hash, needs_hash")["a.mkv"] == (None, 1)


def test_a_moved_file_that_was_made_just_before_it_was_known_is_hashed_again(shelf: Shelf) -> None:
    known(shelf)
    born = round((shelf.folder / "a.mkv").stat().st_ctime * 1_000_000)
    shelf.change("UPDATE library_files SET hashed_at = :born", born=born)
    row = shelf.files("id")["a.mkv"]
    (shelf.folder / "a.mkv").rename(shelf.folder / "b.mkv")
    assert shelf.scan() == DONE
    assert shelf.files("id, content_hash, needs_hash")["b.mkv"] == (row, None, 1)
    assert shelf.counts()["moved"] == 1


def test_where_no_file_says_when_it_was_made_a_moved_one_is_hashed_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.mkv", "other.mkv", "back.mkv"):
        shelf.write(name, b"12")
    shelf.scan()
    shelf.hash_everything()
    rows = shelf.files("id")
    (shelf.folder / "back.mkv").rename(shelf.folder.parent / "back.mkv")
    shelf.scan()
    (shelf.folder / "a.mkv").rename(shelf.folder / "b.mkv")
    (shelf.folder.parent / "back.mkv").rename(shelf.folder / "back.mkv")
    monkeypatch.setattr("kurabito.dataplane.files.births.statx", lambda *_, **__: None)
    assert shelf.scan() == DONE
    after = shelf.files("id, content_hash, needs_hash")
    assert after["b.mkv"] == (rows["a.mkv"], None, 1)
    # At its own path it is the same one, as far as anybody can tell.
    assert after["back.mkv"] == (rows["back.mkv"], b"h" * 32, 0)


def test_a_file_that_was_put_away_after_the_scan_saw_it_does_not_come_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(shelf)
    look_up = known_files.known_files

    def putting_away(*asked: Any) -> Any:
        monkeypatch.undo()
        (shelf.folder / "a.mkv").unlink()
        shelf.change("UPDATE library_files SET is_missing = 1 WHERE relative_path = 'a.mkv'")
        return look_up(*asked)

    monkeypatch.setattr(known_files, "known_files", putting_away)
    # So that what is known is looked at file by file.
    shelf.write("new.mkv", b"5")
    assert shelf.scan() == DONE
    assert shelf.missing() == {"a.mkv"}
    assert set(shelf.files()) == {"other.mkv", "new.mkv"}


def test_a_file_that_was_put_back_before_the_scan_wrote_is_not_added_twice(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(shelf)
    shelf.change(
        "UPDATE library_files SET is_missing = 1, hashed_at = :later WHERE relative_path = 'a.mkv'", later=1 << 60
    )
    look_up = known_files.known_files

    def putting_back(*asked: Any) -> Any:
        found = look_up(*asked)
        shelf.change("UPDATE library_files SET is_missing = 0 WHERE relative_path = 'a.mkv'")
        return found

    monkeypatch.setattr(known_files, "known_files", putting_back)
    assert shelf.scan() == DONE
    assert shelf.files("content_hash")["a.mkv"] == b"h" * 32


def test_a_file_that_was_put_back_after_the_scan_came_by_is_not_missing(shelf: Shelf) -> None:
    known(shelf)
    (shelf.folder / "a.mkv").unlink()

    class Meanwhile(Scanner):
        """Somebody has a file put back as soon as the scan has begun."""

        def __call__(self, job: LeasedJob) -> None:
            write = job.write

            def writing(fn: Any, *, durable: bool = True) -> Any:
                answer = write(fn, durable=durable)
                job.write = write  # type: ignore[method-assign]
                shelf.clock.advance(1)
                shelf.change("UPDATE library_files SET updated_at = :now WHERE relative_path = 'a.mkv'")
                return answer

            job.write = writing  # type: ignore[method-assign]
            super().__call__(job)

    assert shelf.scan(Meanwhile(Path(shelf.state))) == DONE
    assert shelf.missing() == set()
    # The next scan decides.
    shelf.scan()
    assert shelf.missing() == {"a.mkv"}

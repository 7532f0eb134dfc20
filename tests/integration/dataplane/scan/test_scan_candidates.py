"""Which files a scan has hashed: those that share their size with another, in any library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kurabito.dataplane.scan import finish

if TYPE_CHECKING:
    from tests.integration.dataplane.scan.conftest import Shelf


def test_only_files_that_share_a_size_are_hashed(shelf: Shelf) -> None:
    shelf.write("unique.mkv", b"1")
    # Far enough apart not to be seen in one stretch.
    for number in range(10):
        shelf.write(f"b{number}.mkv", b"x" * (10 + number))
    shelf.write("a.mkv", b"12")
    shelf.write("z.mkv", b"34")
    shelf.scan()
    wanted = shelf.files("needs_hash")
    assert {path for path, needs in wanted.items() if needs} == {"a.mkv", "z.mkv"}


def test_sizes_that_are_too_many_to_remember_are_found_in_the_database(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finish, "_MOST_SIZES", 3)
    for number in range(1, 15):
        shelf.write(f"{number:02}.mkv", b"x" * number)
    shelf.write("90.mkv", b"y" * 2)
    shelf.write("91.mkv", b"z" * 14)
    assert shelf.scan() == ("completed", None, None)
    assert set(shelf.files(condition="needs_hash = 1")) == {"02.mkv", "14.mkv", "90.mkv", "91.mkv"}


def test_neighbours_of_one_size_are_hashed(shelf: Shelf) -> None:
    for name in "abc":
        shelf.write(f"{name}.mkv", b"12")
    shelf.scan()
    assert set(shelf.files("needs_hash").values()) == {1}


def test_empty_files_are_never_hashed(shelf: Shelf) -> None:
    for name in ("a.mkv", "b.mkv", "c.mkv"):
        shelf.write(name, b"")
    shelf.scan()
    assert set(shelf.files("needs_hash").values()) == {0}
    shelf.change("UPDATE library_roots SET hash_policy = 'all', updated_at = :now")
    shelf.scan()
    assert set(shelf.files("needs_hash").values()) == {0}


def test_a_second_file_of_a_size_in_another_library_makes_both_candidates(shelf: Shelf, other: Shelf) -> None:
    shelf.write("a.mkv", b"12")
    shelf.scan()
    assert shelf.files("needs_hash") == {"a.mkv": 0}
    other.write("b.mkv", b"34")
    other.scan()
    assert shelf.files("needs_hash") == {"a.mkv": 1}
    assert other.files("needs_hash") == {"b.mkv": 1}


def test_a_file_that_is_the_last_of_its_size_has_no_hash(shelf: Shelf, other: Shelf) -> None:
    for name in ("a.mkv", "b.mkv"):
        shelf.write(name, b"12")
    other.write("c.mkv", b"34")
    shelf.scan()
    other.scan()
    shelf.hash_everything()
    (shelf.folder / "b.mkv").unlink()
    shelf.scan()
    assert shelf.files("needs_hash, content_hash")["a.mkv"] == (0, b"h" * 32)
    (other.folder / "c.mkv").unlink()
    other.write("d.mkv", b"5678")
    other.scan()
    assert shelf.files("needs_hash, content_hash") == {"a.mkv": (0, None)}


def test_a_library_may_ask_for_everything_to_be_hashed(shelf: Shelf, other: Shelf) -> None:
    for number, library in enumerate((shelf, other), 1):
        library.write("a.mkv", b"x" * number)
        library.scan()
    shelf.clock.advance(1)
    shelf.change("UPDATE library_roots SET hash_policy = 'all', updated_at = :now WHERE id = :id", id=shelf.id)
    # Nothing changed on the disk.
    shelf.scan()
    assert shelf.files("needs_hash") == {"a.mkv": 1}
    assert other.files("needs_hash") == {"a.mkv": 0}
    shelf.hash_everything()
    shelf.write("b.mkv", b"another")
    shelf.scan()
    assert shelf.files("needs_hash, content_hash") == {"a.mkv": (0, b"h" * 32), "b.mkv": (1, None)}


def test_what_a_failed_scan_left_is_set_right_by_the_next_of_any_library(shelf: Shelf, other: Shelf) -> None:
    shelf.write("a.mkv", b"12")
    shelf.scan()
    other.write("c.mkv", b"1")
    other.scan()
    shelf.change("UPDATE library_files SET needs_hash = 1 WHERE library_id = :id", id=shelf.id)
    shelf.change("UPDATE scan_sessions SET status = 'failed' WHERE library_id = :id", id=other.id)
    other.scan()
    assert shelf.files("needs_hash") == {"a.mkv": 0}

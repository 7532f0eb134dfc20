"""Walking real folders, hostile ones too."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.files.paths import Root, check_relative
from kurabito.dataplane.files.walk import Walk, signed


def paths_of(folder: Path, **options: object) -> list[str]:
    with Root(folder) as root:
        walk = Walk(root.fd, **options)  # type: ignore[arg-type]
        found = [entry[0] for batch in walk.batches() for entry in batch]
        assert walk.problems == []
    return found


def make(folder: Path, *names: str | bytes) -> None:
    for name in names:
        path = os.path.join(os.fsencode(folder), os.fsencode(name))  # noqa: PTH118 - names that are no text
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(b"x")


def test_files_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["b/c.mkv", "b.mkv", "b/a/z.mkv", "a/1.mkv", "b-side.mkv", "z.mkv", "b/a.mkv", "B.mkv", "日本/話.mkv"]
    make(tmp_path, *names)
    assert paths_of(tmp_path) == sorted(names)


def test_odd_names_are_kept(tmp_path: Path) -> None:
    make(tmp_path, b"caf\xe9.mkv", "new\nline.mkv", "~$HOME.mkv", "\uefe9.mkv", "x" * 255, b"\xff\xfe/inner.mkv")
    found = paths_of(tmp_path)
    assert len(found) == 6
    assert found == sorted(found)
    with Root(tmp_path) as root:
        for path in found:
            os.close(root.open_file(path))


def test_nothing_but_files_below_the_root_is_seen(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    make(outside, "secret.mkv")
    inside = tmp_path / "inside"
    make(inside, "real.mkv", "folder/also.mkv")
    (inside / "link.mkv").symlink_to(outside / "secret.mkv")
    (inside / "linked").symlink_to(outside)
    (inside / "folder" / "loop").symlink_to(inside)
    os.mkfifo(inside / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(inside / "socket"))
    assert paths_of(inside) == ["folder/also.mkv", "real.mkv"]


def test_a_walk_goes_on_after_any_path(tmp_path: Path) -> None:
    make(tmp_path, "a/1.mkv", "a/b/2.mkv", "a/b.mkv", "a0.mkv", "c/3.mkv", "d.mkv")
    everything = paths_of(tmp_path)
    for place, path in enumerate(everything):
        assert paths_of(tmp_path, after=path) == everything[place + 1 :]
    assert paths_of(tmp_path, after="a/b/1") == everything[everything.index("a/b/2.mkv") :]


def test_ignored_paths_are_passed_over_with_what_is_below_them(tmp_path: Path) -> None:
    make(tmp_path, "@eaDir/thumb.jpg", "show/1.mkv", "show/@eaDir/2.jpg")
    assert paths_of(tmp_path, keep=lambda _, names: [name for name in names if name != "@eaDir/"]) == ["show/1.mkv"]


def test_a_closed_folder_is_not_entered_by_whatever_path(tmp_path: Path) -> None:
    make(tmp_path, "ours/1.mkv", "theirs/2.mkv")
    found = (tmp_path / "ours").stat()
    assert paths_of(tmp_path, closed=frozenset({(found.st_dev, found.st_ino)})) == ["theirs/2.mkv"]


def test_folders_are_counted_once_however_often_a_walk_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "a/1.mkv", "a/b/2.mkv", "c/3.mkv", "c/d/e/4.mkv", "f.mkv")
    (tmp_path / "z").mkdir()
    everything = paths_of(tmp_path)
    for path in everything:
        with Root(tmp_path) as root:
            first, rest = Walk(root.fd), Walk(root.fd, after=path)
            for batch in first.batches():
                if batch[-1][0] >= path:
                    break
            for _ in rest.batches():
                pass
            assert first.folders + rest.folders == 6


def test_numbers_that_no_database_holds_are_made_to_fit(tmp_path: Path) -> None:
    make(tmp_path, "future.mkv")
    os.utime(tmp_path / "future.mkv", ns=(0, 13_000_000_000 * 10**9))
    with Root(tmp_path) as root:
        ((entry,),) = Walk(root.fd).batches()
    assert entry[2] == signed(13_000_000_000 * 10**9)
    assert signed((1 << 64) - 1) == -1


def test_a_folder_that_cannot_be_read_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    make(tmp_path, "a/1.mkv", "b/2.mkv", "c/3.mkv")
    with Root(tmp_path) as root:
        walk = Walk(root.fd)
        found = []
        for batch in walk.batches():
            found += [entry[0] for entry in batch]
            # It becomes something else while we walk; a mode of 000 would not stop root.
            if not (tmp_path / "b").is_symlink():
                (tmp_path / "b" / "2.mkv").unlink()
                (tmp_path / "b").rmdir()
                (tmp_path / "b").symlink_to(tmp_path / "a")
    assert found == ["a/1.mkv", "c/3.mkv"]
    assert [path for path, _ in walk.problems] == ["b/"]


def test_what_vanishes_while_walking_is_simply_not_there(tmp_path: Path) -> None:
    make(tmp_path, "a/1.mkv", "b/2.mkv", "c.mkv")
    with Root(tmp_path) as root:
        walk = Walk(root.fd)
        batches = walk.batches()
        assert next(batches)[0][0] == "a/1.mkv"
        (tmp_path / "b" / "2.mkv").unlink()
        (tmp_path / "b").rmdir()
        (tmp_path / "c.mkv").unlink()
        assert list(batches) == []
    assert walk.problems == []


def test_a_vanished_root_says_what_to_look_at(tmp_path: Path) -> None:
    with pytest.raises(RootUnavailable, match="share mounted"), Root(tmp_path / "gone"):
        pass


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "a/./b", "a/", "a\0b", "x" * 5000])
def test_a_path_that_does_not_stay_below_is_refused(path: str) -> None:
    with pytest.raises(PathEscapes):
        check_relative(path)


def test_a_file_in_the_trash_is_not_opened_as_one_of_the_library(tmp_path: Path) -> None:
    make(tmp_path, ".kurabito-trash/1", "a/.kurabito-trash/2", "a/b/.kurabito-trash")
    with Root(tmp_path) as root:
        for path in (".kurabito-trash/1", "a/.kurabito-trash/2"):
            with pytest.raises(PathEscapes):
                root.open_file(path)
        # Only a folder of that name is the trash.
        os.close(root.open_file("a/b/.kurabito-trash"))


def test_a_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "outside/secret.mkv", "inside/folder/real.mkv")
    (tmp_path / "inside" / "way").symlink_to(tmp_path / "outside")
    (tmp_path / "inside" / "file.mkv").symlink_to(tmp_path / "outside" / "secret.mkv")
    with Root(tmp_path / "inside") as root:
        os.close(root.open_file("folder/real.mkv"))
        for path in ("way/secret.mkv", "file.mkv"):
            with pytest.raises(OSError, match=r"Too many levels|Not a directory"):
                root.open_file(path)
        # Laid after the folder was opened once.
        os.close(root.open_file("folder/real.mkv"))

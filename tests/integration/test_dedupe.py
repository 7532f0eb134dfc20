"""`kurabito dedupe` as a user meets it: real files, a real process."""

from __future__ import annotations

import json
import os
import pty
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from tests.support.waiting import PATIENCE

BIG = os.urandom(200_000)


class Run:
    """One run of the command."""

    def __init__(self, outcome: subprocess.CompletedProcess[bytes]) -> None:
        self.code = outcome.returncode
        self.out = outcome.stdout.decode()
        self.err = outcome.stderr.decode()

    @property
    def groups(self) -> list[dict[str, Any]]:
        groups: list[dict[str, Any]] = json.loads(self.out)
        return groups

    @property
    def names(self) -> list[list[str]]:
        return [[Path(path).name for path in group["files"]] for group in self.groups]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    return tree


def dedupe(state: Path, *arguments: str | bytes | Path, **options: Any) -> Run:
    command = [sys.executable, "-m", "kurabito.cli", "dedupe", "--state", state, *arguments]
    return Run(subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False, **options))


def put(folder: Path, **files: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def test_equal_files_are_groups_with_key_and_size(tree: Path, state: Path) -> None:
    put(tree, a=b"small", b=b"small", c=b"other", d=BIG, e=BIG, f=os.urandom(len(BIG)), g=b"", h=b"")
    run = dedupe(state, "--json", tree)
    assert run.code == 0
    assert run.groups == [
        {
            "group_key": f"blake3:{blake3(BIG).hexdigest()}",
            "size_bytes": len(BIG),
            "files": [str(tree / "d"), str(tree / "e")],
        },
        {
            "group_key": f"blake3:{blake3(b'small').hexdigest()}",
            "size_bytes": 5,
            "files": [str(tree / "a"), str(tree / "b")],
        },
    ]


def test_the_text_tells_what_could_be_freed(tree: Path, state: Path) -> None:
    put(tree, a=b"small", b=b"small", c=BIG, d=BIG, e=BIG)
    lines = dedupe(state, tree).out.splitlines()
    assert lines[0] == "3 files of 195.3 KiB, 390.6 KiB too many"
    assert lines[1] == f"    {tree / 'c'}"
    assert "2 duplicate groups in 5 files" in lines[-1]


def test_equal_edges_are_not_enough(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG[:90_000] + b"x" * 20_000 + BIG[110_000:])
    assert dedupe(state, "--json", tree).groups == []


def test_names_of_one_file_are_no_duplicates_unless_asked_for(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=b"twice", c=b"twice", d=b"small")
    for name in "abd":
        (tree / f"{name}2").hardlink_to(tree / name)
    assert dedupe(state, "--json", tree).names == [["b", "b2", "c"]]
    assert dedupe(state, "--json", "--all", tree).names == [["b", "b2", "c"], ["a", "a2"], ["d", "d2"]]


def test_one_file_under_two_names_is_not_even_read(tree: Path, state: Path) -> None:
    with (tree / "a").open("wb") as file:
        # To read a terabyte of nothing would take longer than the test may.
        file.truncate(1 << 40)
    (tree / "a2").hardlink_to(tree / "a")
    assert dedupe(state, "--json", tree).groups == []


def test_the_second_run_reads_only_what_changed(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG, c=b"tiny", d=b"tiny")
    first = dedupe(state, "--json", tree)
    # Content that is swapped behind the times of the files is not seen: it was not read.
    for name in "ab":
        seen = (tree / name).stat()
        (tree / name).write_bytes(os.urandom(len(BIG)))
        os.utime(tree / name, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert dedupe(state, "--json", tree).out == first.out
    os.utime(tree / "a", ns=(1, 1))
    assert dedupe(state, "--json", tree).names == [["c", "d"]]


def test_another_file_of_the_same_size_and_time_is_read(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG)
    dedupe(state, tree)
    seen = (tree / "a").stat()
    put(tree, new=os.urandom(len(BIG)))
    os.utime(tree / "new", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    (tree / "new").rename(tree / "a")
    assert dedupe(state, "--json", tree).groups == []


def test_a_new_file_finds_an_old_one_that_had_no_equal(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=os.urandom(len(BIG)), c=b"small")
    assert dedupe(state, "--json", tree).groups == []
    put(tree / "in", a=BIG, c=b"small")
    assert dedupe(state, "--json", tree).names == [["a", "a"], ["c", "c"]]


def test_a_memory_that_was_not_written_well_is_not_believed(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG, c=BIG[::-1], d=BIG[::-1])
    dedupe(state, tree)
    with sqlite3.connect(state / "dedupe.db") as memory:
        [(contents,)] = memory.execute("SELECT contents FROM folders").fetchall()
        memory.execute("UPDATE folders SET contents = ?", (contents[:32] * 4,))
    assert sorted(dedupe(state, "--json", tree).names) == [["a", "b"], ["c", "d"]]


def test_to_look_at_some_files_of_a_folder_forgets_nothing_of_the_others(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG, c=b"tiny", d=b"tiny")
    first = dedupe(state, "--json", tree)
    put(tree, e=b"tiny")
    assert dedupe(state, "--json", tree / "c", tree / "e").names == [["c", "e"]]
    for name in "ab":
        seen = (tree / name).stat()
        (tree / name).write_bytes(os.urandom(len(BIG)))
        os.utime(tree / name, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    # They are still taken for what they were, because nobody read them.
    assert dedupe(state, "--json", tree).groups[0] == first.groups[0]
    assert dedupe(state, "--json", tree).names == [["a", "b"], ["c", "d", "e"]]


def test_nothing_is_written_when_nothing_changed(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG, c=b"alone")
    dedupe(state, tree)
    written = (state / "dedupe.db").stat().st_mtime_ns
    dedupe(state, tree)
    assert (state / "dedupe.db").stat().st_mtime_ns == written
    (tree / "c").unlink()
    dedupe(state, tree)
    assert (state / "dedupe.db").stat().st_mtime_ns > written


def test_every_folder_is_looked_into_however_they_lie(tree: Path, state: Path) -> None:
    expected = []
    for number in range(40):
        for folder in (tree / "wide" / str(number), tree / "deep" / "/".join("x" * number)):
            put(folder, one=b"same")
            expected.append(str(folder / "one"))
    put(tree / "wide" / "7" / "in" / "it", one=b"same")
    put(tree / "wide" / ".kurabito-trash" / "in", one=b"same")
    (tree / "wide" / "link").symlink_to(tree / "deep")
    expected.append(str(tree / "wide" / "7" / "in" / "it" / "one"))
    [group] = dedupe(state, "--json", tree).groups
    assert group["files"] == sorted(expected)
    assert dedupe(state, "--json", tree).groups == [group]
    # The same from inside of it, and what was given before is not counted twice.
    assert len(dedupe(state, "--json", tree / "wide" / "7", tree).groups[0]["files"]) == len(expected)


def test_what_is_known_of_a_folder_serves_the_folders_in_it(tree: Path, state: Path) -> None:
    put(tree / "in", a=BIG, b=BIG)
    dedupe(state, tree)
    seen = (tree / "in" / "a").stat()
    (tree / "in" / "a").write_bytes(os.urandom(len(BIG)))
    os.utime(tree / "in" / "a", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert dedupe(state, "--json", tree / "in").names == [["a", "b"]]


def test_a_file_that_is_gone_is_forgotten(tree: Path, state: Path) -> None:
    put(tree, a=b"same", b=b"same", c=b"same")
    dedupe(state, tree)
    (tree / "a").unlink()
    assert dedupe(state, "--json", tree).names == [["b", "c"]]
    (tree / "b").unlink()
    assert dedupe(state, "--json", tree).names == []


def test_a_file_is_counted_once_however_the_paths_overlap(tree: Path, state: Path) -> None:
    put(tree / "in", a=b"same", b=b"same")
    for paths in (
        (tree, tree / "in"),
        (tree / "in", tree),
        (tree / "in" / "a", tree),
        (tree, tree / "in" / "a"),
        (tree / "in" / "a", tree / "in" / "b", tree / "in" / "a"),
    ):
        assert dedupe(state, "--json", *paths).names == [["a", "b"]], paths
    (tree / "way").symlink_to(tree / "in")
    assert dedupe(state, "--json", tree / "way", tree).names == [["a", "b"]]


def test_several_paths_are_searched_together(tree: Path, state: Path) -> None:
    put(tree / "one", a=BIG)
    put(tree / "two", b=BIG)
    assert dedupe(state, "--json", tree / "one").names == []
    assert dedupe(state, "--json", tree / "one", tree / "two").names == [["a", "b"]]


def test_hostile_names_survive(tree: Path, state: Path) -> None:
    folder = os.fsencode(tree)
    names = [b"new\nline", b"caf\xe9", b"\x1b[31mred", "\uefe9".encode(), b"x" * 255]
    for name in names:
        with open(folder + b"/" + name, "wb") as file:  # noqa: PTH123
            file.write(b"same")
    (tree / "link").symlink_to(tree / "nowhere")
    os.mkfifo(tree / "pipe")
    [group] = dedupe(state, "--json", tree).groups
    assert sorted(os.fsencode(path) for path in group["files"]) == sorted(folder + b"/" + name for name in names)
    text = dedupe(state, tree).out
    assert "new\\nline" in text
    assert "caf\\xe9" in text
    assert "\x1b" not in text
    assert dedupe(state, "--json", folder + b"/caf\xe9", folder + b"/new\nline").groups[0]["files"] == [
        os.fsdecode(folder + b"/caf\xe9"),
        os.fsdecode(folder + b"/new\nline"),
    ]


def test_what_cannot_be_read_is_named_and_the_rest_is_done(tree: Path, state: Path) -> None:
    put(tree, a=b"same", b=b"same")
    put(tree / "deep", c=b"same")
    # A folder whose path is longer than the system takes cannot be looked into, not even by root.
    deep = os.open(tree / "deep", os.O_RDONLY)
    for _ in range(20):
        os.mkdir(b"y" * 250, dir_fd=deep)
        inner = os.open(b"y" * 250, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    for name in (b"1", b"2"):
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=deep))
        fd = os.open(name, os.O_WRONLY, dir_fd=deep)
        os.write(fd, b"same")
        os.close(fd)
    os.close(deep)
    run = dedupe(state, "--json", tree)
    assert run.names == [["a", "b", "c"]]
    assert run.code == 3
    assert run.err.count("not looked at: ") == 2


def test_a_path_that_is_not_there_is_an_error(tree: Path, state: Path) -> None:
    run = dedupe(state, tree, tree / "missing")
    assert run.code == 1
    assert run.err.startswith("error: path: ")
    assert "missing" in run.err
    assert not state.exists()


def test_a_damaged_memory_says_what_to_do(tree: Path, state: Path) -> None:
    put(state, **{"dedupe.db": b"this is no database, but long enough to be looked at" * 20})
    run = dedupe(state, tree)
    assert run.code == 1
    assert "remove it" in run.err


def test_both_ways_to_start_give_the_same(tree: Path, state: Path) -> None:
    put(tree, a=b"same", b=b"same")
    plain = dedupe(state, "--json", tree)
    parsed = dedupe(state, "--json", f"--state={state}", tree)
    assert parsed.out == plain.out
    assert dedupe(state, "--jsno", tree).code == 2
    assert dedupe(state, "--json", "--delete", tree).code == 2


def test_a_plain_run_loads_nothing_heavy(tree: Path, state: Path) -> None:
    put(tree, a=b"same", b=b"same")
    heavy = {"typer", "rich", "pydantic", "fastapi", "structlog", "asyncio", "kurabito.db", "kurabito.settings"}
    program = (
        "import os, sys\n"
        "os._exit = lambda code: print(*sys.modules, sep='\\n', file=sys.stderr)\n"
        f"sys.argv[1:] = ['dedupe', '--state', {str(state)!r}, {str(tree)!r}]\n"
        "from kurabito.cli.collection import duplicates\n"
        "duplicates.run_if_plain(sys.argv[2:])\n"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "kurabito.dataplane.search.search" in loaded.stderr.split()
    assert heavy & set(loaded.stderr.split()) == set()


def test_deleting_keeps_a_copy_of_the_first_path_and_moves_the_others_away(tree: Path, state: Path) -> None:
    put(tree / "shelf", a=BIG)
    os.utime(tree / "shelf" / "a", (4e9, 4e9))
    put(tree / "downloads", a=BIG, b=BIG, single=b"alone")
    put(tree / "downloads" / "in", c=BIG)
    run = dedupe(state, "--delete", "--yes", tree / "shelf", tree / "downloads")
    assert run.code == 0, run.err
    assert f"keep    {tree / 'shelf' / 'a'}" in run.out
    assert (tree / "shelf" / "a").read_bytes() == BIG
    assert [path.name for path in (tree / "downloads").iterdir() if path.is_file()] == ["single"]
    [trash] = (tree / "downloads" / ".kurabito-trash").iterdir()
    assert str(trash) in run.out
    assert {str(path.relative_to(trash)) for path in trash.rglob("*") if path.is_file()} == {"a", "b", "in/c"}
    # What is in the trash is no duplicate of anything.
    assert dedupe(state, "--json", tree).groups == []


def test_of_one_path_the_oldest_copy_stays_with_its_other_names(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG, c=BIG)
    os.utime(tree / "b", ns=(1, 1))
    (tree / "b2").hardlink_to(tree / "b")
    assert dedupe(state, "--delete", "--yes", tree).code == 0
    assert sorted(path.name for path in tree.iterdir() if path.is_file()) == ["b", "b2"]


def test_nothing_is_deleted_where_nobody_can_be_asked(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG)
    run = dedupe(state, "--delete", tree, stdin=subprocess.DEVNULL)
    assert run.code == 1
    assert "--yes" in run.err
    assert "remove  " in run.out
    assert sorted(path.name for path in tree.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(("answer", "left"), [(b"n\n", 2), (b"\n", 2), (b"y\n", 1)])
def test_a_person_is_asked_first(tree: Path, state: Path, answer: bytes, left: int) -> None:
    put(tree, a=BIG, b=BIG)
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    run = dedupe(state, "--delete", tree, stdin=theirs)
    os.close(theirs)
    os.close(ours)
    assert run.code == 0, run.err
    assert "into the trash? [y/N]" in run.out
    assert len([path for path in tree.iterdir() if path.is_file()]) == left


def test_a_copy_that_is_none_any_more_stays(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG)
    dedupe(state, tree)
    # Changed behind the times of the file: what is remembered still calls it a copy.
    seen = (tree / "b").stat()
    (tree / "b").write_bytes(BIG[:-1] + b"?")
    os.utime(tree / "b", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    run = dedupe(state, "--delete", "--yes", tree)
    assert run.code == 3
    assert "its content is not that of the copy" in run.err
    assert (tree / "a").exists()
    assert (tree / "b").exists()


def test_a_copy_whose_name_is_as_long_as_can_be_is_moved_away_too(tree: Path, state: Path) -> None:
    long = "蔵" * 85
    put(tree / "first", kept=BIG)
    put(tree / "second", **{long: BIG})
    run = dedupe(state, "--delete", "--yes", tree / "first", tree / "second")
    assert (run.code, run.err) == (0, "")
    assert sorted(path.name for path in tree.rglob("*") if path.is_file()) == ["kept", long]


def test_what_stayed_is_not_said_to_be_in_the_trash(tree: Path, state: Path) -> None:
    put(tree, one=BIG, other=BIG)
    (tree / ".kurabito-trash").write_bytes(b"no folder")
    run = dedupe(state, "--delete", "--yes", tree)
    assert run.code == 3
    assert run.out.splitlines()[-1] == "Nothing was removed."


def test_progress_is_shown_on_a_terminal_only(tree: Path, state: Path) -> None:
    put(tree, a=BIG, b=BIG)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kurabito.cli", "dedupe", "--state", str(state), str(tree)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, timeout=PATIENCE, check=True)
    os.close(theirs)
    assert b"files" in os.read(ours, 10_000)
    os.close(ours)
    assert dedupe(state, tree).err == ""

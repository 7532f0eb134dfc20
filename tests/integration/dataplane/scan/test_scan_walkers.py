"""Several processes walk one library, and nobody can tell from what they find."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kurabito.dataplane.files.ignore import Ignored
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.files.walk import Entry
from kurabito.dataplane.readers.pool import spawned
from kurabito.dataplane.scan.chunks import Chunk, decode_files, encode_files, gathered
from kurabito.dataplane.scan.shards import ScanTarget, Shard, ShardLimits
from kurabito.dataplane.scan.walk_process import WalkQuestion
from kurabito.dataplane.scan.walk_process import __name__ as program
from kurabito.dataplane.scan.walkers import SharedWalk, Walkers

NAMES = ("a", "b", "b.mkv", "b0", "c.part", "é", "\udcff")
SMALL = ShardLimits(shards=3, names=2, files=2)
walkers = Walkers(1, few=0)

path = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


def nothing() -> None:
    pass


def plant(folder: Path, paths: set[str]) -> None:
    """Make these files, or folders where others lie below them."""
    for each in sorted(paths):
        target = folder / each
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if each.endswith("b"):
                target.mkdir(exist_ok=True)
            elif not target.exists():
                target.write_bytes(b"x" * len(each))
        except (FileExistsError, NotADirectoryError):
            # There is a file where a folder should be.
            pass


def plain(root: Root, after: str = "") -> tuple[list[Entry], int]:
    """The files behind a path as one walk sees them, and how many folders it enters."""
    walk = ScanTarget(root, Ignored()).everything(after)
    return [entry for batch in walk.batches() for entry in batch], walk.folders


def files_of(found: list[Chunk]) -> list[Entry]:
    return [entry for chunk in found for entry in chunk.files]


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    paths=st.sets(path, max_size=25),
    limits=st.builds(ShardLimits, st.integers(1, 6), st.integers(1, 4), st.integers(1, 6)),
    piece=st.integers(1, 3),
    length=st.integers(1, 5),
    few=st.integers(0, 6),
    encodes=st.booleans(),
    place=st.floats(0, 1, exclude_max=True),
)
def test_shards_of_any_tree_joined_are_what_one_walk_finds(
    tmp_path: Path, paths: set[str], limits: ShardLimits, piece: int, length: int, few: int, encodes: bool, place: float
) -> None:
    folder = tmp_path / "tree"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    plant(folder, paths)
    walkers.few = few
    with Root(folder) as root:
        everything, folders = plain(root)
        after = everything[int(len(everything) * place)][0] if everything and place > 0.3 else ""
        expected, folders = plain(root, after)
        target = ScanTarget(root, Ignored(), encodes=encodes, piece=piece, limits=limits)
        found = list(gathered(SharedWalk(target, walkers, nothing).chunks(after), lambda: length))
        assert files_of(found) == expected
        assert sum(chunk.folders for chunk in found) == folders
        assert [chunk.count for chunk in found] == [len(chunk.files) for chunk in found]
        assert sum(chunk.bytes for chunk in found) == sum(entry[1] for entry in expected)
        assert found[-1].count == 0
        # Whoever goes on after any of them counts what is left.
        for number, chunk in enumerate(found[:-1], 1):
            assert chunk.count <= max(length, piece)
            assert chunk.end == chunk.files[-1][0]
            assert chunk.encoded == (encode_files(chunk.files) if encodes else "")
            assert sum(each.folders for each in found[:number]) + plain(root, chunk.end)[1] == folders


def test_files_are_told_in_a_text_and_read_from_it() -> None:
    files = [("a b/ c \n.mkv", 1, -2, 3, 4), ("d", 0, 1 << 62, -(1 << 63), 0)]
    assert decode_files(encode_files(files)) == files
    assert decode_files("") == []


def test_the_processes_end_when_they_are_told_to_and_others_come(tmp_path: Path) -> None:
    started: list[int] = []

    def start(questions: int, answers: int) -> int:
        started.append(spawned(questions, answers, program))
        return started[-1]

    plant(tmp_path, {"a/b.mkv"})
    alone = Walkers(1, few=0, start=start)
    with Root(tmp_path) as root:
        question = WalkQuestion.about(ScanTarget(root, Ignored()), Shard("", ("a/",), (), ""))
        for processes in (1, 2):
            for _ in range(2):
                found, _ = alone.ask(question, Event()).result()
                assert sum(chunk.count for chunk in found) == 1
                assert len(started) == processes
            alone.close()
    for pid in started:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def found_in(folder: Path, shard: Shard, root: Root | None = None) -> list[Chunk]:
    """What a process answers."""
    with Root(folder) as opened:
        question = WalkQuestion.about(ScanTarget(root or opened, Ignored()), shard)
        return walkers.ask(question, Event()).result()[0]


def test_a_process_tells_of_what_it_cannot_read_and_goes_on(tmp_path: Path) -> None:
    plant(tmp_path, {"a/1", "c/2"})
    (tmp_path / "link").symlink_to(tmp_path / "c")
    found = found_in(tmp_path, Shard("", ("a/", "c/", "link/", "not there/", "nor this"), (), ""))
    assert [entry[0] for entry in files_of(found)] == ["a/1", "c/2"]
    ((problem_at, problem),) = [problem for chunk in found for problem in chunk.problems]
    assert problem_at == "link/"
    assert problem.strerror == "Not a directory"
    # Its own folder is gone, or something else by now.
    assert found_in(tmp_path, Shard("not there/", ("1",), (), "")) == []
    (chunk,) = found_in(tmp_path, Shard("link/", ("2",), (), ""))
    assert [problem_at for problem_at, _ in chunk.problems] == ["link/"]


def test_a_process_does_not_walk_another_folder_at_the_same_place(tmp_path: Path) -> None:
    plant(tmp_path, {"shelf/1", "other/2"})
    with Root(tmp_path / "shelf") as root:
        (tmp_path / "shelf").rename(tmp_path / "unmounted")
        for _ in ("there is none", "there is another"):
            (chunk,) = found_in(tmp_path, Shard("", ("1", "2"), (), ""), root)
            assert [problem_at for problem_at, _ in chunk.problems] == [""]
            assert chunk.count == 0
            if (tmp_path / "other").exists():
                (tmp_path / "other").rename(tmp_path / "shelf")


def broken_starts(times: int) -> tuple[list[int], Callable[[int, int], int]]:
    """Starts processes of which the first ones end at once; how many there were."""
    started: list[int] = []

    def start(questions: int, answers: int) -> int:
        started.append(len(started))
        return spawned(questions, answers, program if len(started) > times else "kurabito.dataplane.not_there")

    return started, start


@pytest.mark.parametrize(("broken", "starts"), [(0, 1), (1, 2), (100, 2)])
def test_a_process_that_dies_is_replaced_once_and_missed_by_nobody(tmp_path: Path, broken: int, starts: int) -> None:
    plant(tmp_path, {f"{letter}/{number}/{number}" for letter in "abcd" for number in range(20)})
    started, start = broken_starts(broken)

    def wait_for_it() -> None:
        while len(started) < starts:
            pass

    with Root(tmp_path) as root:
        walk = SharedWalk(
            ScanTarget(root, Ignored(), piece=1, limits=SMALL), Walkers(1, few=0, start=start), wait_for_it
        )
        assert files_of(list(walk.chunks(""))) == plain(root)[0]
    assert len(started) == starts


@pytest.mark.parametrize(("processes", "few"), [(1, 81), (0, 0)])
def test_nobody_helps_with_a_small_tree_or_on_one_core(tmp_path: Path, processes: int, few: int) -> None:
    plant(tmp_path, {f"{letter}/{number}" for letter in "acde" for number in range(20)})
    started, start = broken_starts(0)
    with Root(tmp_path) as root:
        target = ScanTarget(root, Ignored(), piece=1, limits=SMALL)
        found = list(SharedWalk(target, Walkers(processes, few=few, start=start), nothing).chunks(""))
        assert files_of(found) == plain(root)[0]
    assert started == []


def test_a_walk_that_is_given_up_leaves_the_next_one_its_processes(tmp_path: Path) -> None:
    plant(tmp_path, {f"{letter}/{number}" for letter in "abcd" for number in range(20)})
    walkers.few = 0
    with Root(tmp_path) as root:
        walk = SharedWalk(ScanTarget(root, Ignored(), piece=1, limits=SMALL), walkers, nothing).chunks("")
        for _ in range(5):
            next(walk)
        walk.close()
        again = SharedWalk(ScanTarget(root, Ignored(), limits=SMALL), walkers, nothing).chunks("")
        assert files_of(list(again)) == plain(root)[0]


def test_a_walk_can_be_stopped_while_it_waits(tmp_path: Path) -> None:
    class StoppedHere(Exception):
        pass

    def stop() -> None:
        raise StoppedHere

    plant(tmp_path, {f"{letter}/{number}" for letter in "abcd" for number in range(20)})
    with Root(tmp_path) as root, pytest.raises(StoppedHere):
        list(SharedWalk(ScanTarget(root, Ignored(), piece=1, limits=SMALL), Walkers(1, few=0), stop).chunks(""))


def test_a_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\n"
        "from threading import Event\n"
        "from kurabito.dataplane.files.ignore import Ignored\n"
        "from kurabito.dataplane.files.paths import Root\n"
        "from kurabito.dataplane.scan.walk_process import WalkQuestion\n"
        "from kurabito.dataplane.scan.shards import ScanTarget, Shard\n"
        "from kurabito.dataplane.scan.walkers import Walkers\n"
        "walkers = Walkers(1)\n"
        f"with Root(Path({str(tmp_path)!r})) as root:\n"
        "    question = WalkQuestion.about(ScanTarget(root, Ignored()), Shard('', (), (), ''))\n"
        "    walkers.ask(question, Event()).result()\n"
        "pool = walkers._pools.get()\n"
        "[process] = pool._processes\n"
        "print(process.pid, flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    # A descriptor of a process can be read once it has ended.
    assert select.select([child], [], [], 30.0)[0]
    os.close(child)

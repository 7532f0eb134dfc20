"""The processes that read files."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from kurabito.dataplane.files.digest import Reader
from kurabito.dataplane.hashing.large_files import LargeFile, LargeFiles, reading_in_turns
from kurabito.dataplane.readers.pool import ReaderLost, ReaderPool, Start, forked, spawned
from kurabito.dataplane.readers.process import Answer, Question, Wanted, answer


def wanted(path: Path) -> Wanted:
    seen = path.stat()
    return path.name, seen.st_size, seen.st_mtime_ns, seen.st_ino, seen.st_dev


def ask(folder: Path, *files: Wanted, algorithm: str | None = "blake3") -> Answer:
    with ReaderPool[None](1) as pool:
        pool.ask(Question(str(folder), algorithm, list(files)), None)
        while pool.waiting:
            for _, digests in pool.answers(1.0):
                found: Answer = digests
                return found
    raise AssertionError("no answer came")


def test_every_question_is_answered_by_as_many_processes_as_were_asked_for(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).write_bytes(b"x" * number)
    found: dict[int, bytes | tuple[str, str]] = {}
    with ReaderPool[int](3) as pool:
        for number in range(50):
            pool.ask(Question(str(tmp_path), "blake3", [wanted(tmp_path / str(number))]), number)
        while pool.waiting:
            found |= {number: answer[0] for number, answer in pool.answers(1.0)}
    assert found == {number: blake3(b"x" * number).digest() for number in range(50)}


@pytest.mark.parametrize("algorithm", ["blake3", None])
def test_a_file_that_is_not_what_it_was_has_no_digest(tmp_path: Path, algorithm: str | None) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    path, size, mtime_ns, inode, device = wanted(file)
    assert inode is not None
    assert device is not None
    changed: list[Wanted] = [
        (path, size + 1, mtime_ns, inode, device),
        (path, size, mtime_ns + 1, inode, device),
        (path, size, mtime_ns, inode + 1, device),
        (path, size, mtime_ns, inode, device + 1),
    ]
    answer = ask(tmp_path, *changed, algorithm=algorithm)
    assert [code for code, _ in answer if isinstance(code, str)] == ["FILE_CHANGED"] * 4
    # An older database does not know which file it was, and a large number is stored with a sign.
    same: list[Wanted] = [
        (path, size, mtime_ns, None, None),
        (path, size, mtime_ns, inode - (1 << 64), device),
    ]
    assert all(isinstance(digest, bytes) for digest in ask(tmp_path, *same, algorithm=algorithm))


def test_a_path_that_leads_out_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to("../secret")
    _, *seen = wanted(tmp_path / "secret")
    escapes: list[Wanted] = [(name, *seen) for name in ("../secret", "link", "/etc/passwd", "a\0b")]  # type: ignore[misc]
    codes = [problem[0] for problem in ask(inside, *escapes)]
    assert codes == ["PATH_ESCAPES", "FILE_UNREADABLE", "PATH_ESCAPES", "PATH_ESCAPES"]


def test_a_folder_that_is_gone_is_the_answer_for_all_its_files(tmp_path: Path) -> None:
    answer = ask(tmp_path / "gone", ("a", 1, 1, 1, 1), ("b", 1, 1, 1, 1))
    assert [problem[0] for problem in answer] == ["ROOT_UNAVAILABLE"] * 2


@pytest.mark.parametrize("start", [spawned, forked(answer)])
def test_a_file_that_is_cut_off_while_it_is_mapped_has_changed_and_stops_nothing(disk: Path, start: Start) -> None:
    large, small = disk / "large", disk / "small"
    small.write_bytes(b"content")
    with ReaderPool[None](1, start=start) as pool:
        died = False
        # It lives on when it happens to be between two pieces of the file; a busy machine may see that a few times.
        while not died:
            # A terabyte of nothing takes long enough to read for somebody to come between.
            large.touch()
            os.truncate(large, 1 << 40)
            pool.ask(Question(str(disk), "blake3", [wanted(large), wanted(small)]), None)
            [(process, _)] = pool._busy.values()
            maps = Path(f"/proc/{process.pid}/maps")
            while str(large) not in maps.read_text():
                pass
            os.truncate(large, 0)
            found: list[Answer] = []
            while not found:
                found = [digests for _, digests in pool.answers(10.0)]
            died = pool._idle != [process]
            [[problem, digest]] = found
            assert problem[0] == "FILE_CHANGED"
            assert digest == blake3(b"content").digest()


def test_what_ended_a_process_is_read_by_another_without_being_mapped(tmp_path: Path) -> None:
    def fragile(question: tuple[Any, ...], reader: Reader) -> Any:
        if reader.mapped:
            os.kill(os.getpid(), signal.SIGBUS)
        return question

    with ReaderPool[str](1, start=forked(fragile)) as pool:
        pool.ask(("read", "this"), "about it")
        while not (found := list(pool.answers(1.0))):
            pass
    assert found == [("about it", ("read", "this"))]


def test_a_process_that_is_killed_is_replaced_once(disk: Path) -> None:
    with (disk / "large").open("wb") as file:
        file.truncate(1 << 40)
    with ReaderPool[None](1) as pool:
        pool.ask(Question(str(disk), "blake3", [wanted(disk / "large")]), None)
        [(first, _)] = pool._busy.values()
        os.kill(first.pid, signal.SIGKILL)
        assert list(pool.answers(10.0)) == []
        [(second, _)] = pool._busy.values()
        assert second.pid != first.pid
        os.kill(second.pid, signal.SIGKILL)
        with pytest.raises(ReaderLost, match="code -9"):
            list(pool.answers(10.0))


def test_a_process_has_its_next_question_before_it_answered_the_first(tmp_path: Path) -> None:
    with ReaderPool[str](1, start=forked(lambda question, _: [*map(len, question)])) as pool:
        for size in (3, 5, 1 << 20):
            pool.ask(("x" * size,), f"{size} characters")
        [(process, asked)] = pool._busy.values()
        # One that does not fit into the pipe has to wait until somebody reads.
        assert [one.about for one in asked] == ["3 characters", "5 characters"]
        assert pool.waiting == 3
        # Whoever takes over gets both, and only the first is counted as tried.
        os.kill(process.pid, signal.SIGKILL)
        found: list[tuple[str, list[int]]] = []
        while pool.waiting:
            found += pool.answers(1.0)
    assert found == [("3 characters", [3]), ("5 characters", [5]), ("1048576 characters", [1 << 20])]


def test_a_process_that_died_while_it_had_nothing_to_do_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    with ReaderPool[None](1) as pool:
        for _ in range(2):
            pool.ask(Question(str(tmp_path), "blake3", [wanted(file)]), None)
            while not (found := list(pool.answers(1.0))):
                pass
            assert found == [(None, [blake3(b"content").digest()])]
            [process] = pool._idle
            os.kill(process.pid, signal.SIGKILL)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def test_a_pool_that_is_forgotten_leaves_no_process(tmp_path: Path) -> None:
    pool = ReaderPool[None](1)
    pool.ask(Question(str(tmp_path), "blake3", []), None)
    [(process, _)] = pool._busy.values()
    child = os.pidfd_open(process.pid)
    del pool
    assert select.select([child], [], [], 30.0)[0]
    os.close(child)


def test_what_was_asked_can_be_forgotten_and_another_question_is_answered(disk: Path) -> None:
    with (disk / "large").open("wb") as file:
        file.truncate(1 << 40)
    (disk / "small").write_bytes(b"content")
    with ReaderPool[str](1) as pool:
        pool.ask(Question(str(disk), "blake3", [wanted(disk / "large")]), "large")
        pool.forget()
        assert pool.waiting == 0
        pool.ask(Question(str(disk), "blake3", [wanted(disk / "small")]), "small")
        while not (found := list(pool.answers(1.0))):
            pass
    assert found == [("small", [blake3(b"content").digest()])]


@pytest.mark.parametrize("start", ["spawned", "forked(answer)"])
def test_processes_end_with_the_one_that_started_them(disk: Path, start: str) -> None:
    with (disk / "large").open("wb") as file:
        file.truncate(1 << 40)
    program = (
        "from kurabito.dataplane.readers.pool import ReaderPool, forked, spawned\n"
        "from kurabito.dataplane.readers.process import Question, answer\n"
        f"pool = ReaderPool(2, start={start})\n"
        "for _ in range(2):\n"
        f"    pool.ask(Question({str(disk)!r}, 'blake3', [{wanted(disk / 'large')!r}]), None)\n"
        "print(*[process.pid for process, _ in pool._busy.values()], flush=True)\n"
        "input()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdin is not None
    children = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
    assert len(children) == 2
    parent.kill()
    parent.wait()
    for child in children:
        # A descriptor of a process can be read once it has ended.
        assert select.select([child], [], [], 30.0)[0]
        os.close(child)
    parent.stdin.close()
    parent.stdout.close()


def large_file(disk: Path, windows: int = 10) -> LargeFile:
    with (disk / "large").open("wb") as file:
        file.truncate(windows * (8 << 20))
    return LargeFile(str(disk), "blake3", wanted(disk / "large"), 0.0)


def test_a_large_file_is_read_in_turns(tmp_path: Path) -> None:
    question, files, reader = large_file(tmp_path), LargeFiles(), Reader(mapped=True)
    unfinished = [files.answer(tuple(question), reader) for _ in range(9)]
    assert unfinished == [None] * 9
    assert files.patience() == 3600.0
    assert files.answer(tuple(question), reader) == [blake3(bytes(question.file[1])).digest()]
    assert files.patience() == 60.0


def test_what_is_set_aside_goes_on_in_its_process_while_others_are_asked(tmp_path: Path) -> None:
    question = large_file(tmp_path, 1 << 17)
    (tmp_path / "small").write_bytes(b"content")
    with ReaderPool[str](1, start=reading_in_turns) as pool:
        pool.ask(question, "large", turns=question)
        [(process, _)] = pool._busy.values()
        pool.set_aside()
        assert pool.waiting == 0
        pool.ask(Question(str(tmp_path), "blake3", [wanted(tmp_path / "small")]), "small")
        while not (found := list(pool.answers(1.0))):
            pass
        assert found == [("small", [blake3(b"content").digest()])]
        pool.ask(question, "again", turns=question)
        assert [(kept.pid, [one.about for one in asked]) for kept, asked in pool._busy.values()] == [
            (process.pid, ["again"])
        ]


def test_what_waits_aside_and_dies_is_begun_again(tmp_path: Path) -> None:
    question = large_file(tmp_path)
    with ReaderPool[str](1, start=reading_in_turns) as pool:
        pool.ask(question, "large", turns=question)
        [(process, _)] = pool._busy.values()
        pool.set_aside()
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        pool.ask(question, "again", turns=question)
        while not (found := list(pool.answers(1.0))):
            pass
    assert found == [("again", [blake3(bytes(question.file[1])).digest()])]


def test_of_too_many_that_are_set_aside_the_first_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kurabito.dataplane.readers.pool._MOST_ASIDE", 1)
    question = large_file(tmp_path, 1 << 17)
    second = question._replace(algorithm="sha256")
    with ReaderPool[str](1, start=reading_in_turns) as pool:
        for name in (question, second):
            pool.ask(name, "large", turns=name)
            pool.set_aside()
        assert [*pool._aside] == [question]
        assert len(pool._processes) == 1

"""A worker's sign of life, with real processes that are really killed."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kurabito.errors import InvalidInput
from kurabito.runtime.worker import locks
from kurabito.runtime.worker.locks import WorkerLock, dead_workers, expire_dead_workers, found_dead, fresh_worker_name

HOLD = """
import os, subprocess, sys, time
from pathlib import Path
from kurabito.runtime.worker.locks import WorkerLock
lock = WorkerLock(Path(sys.argv[1]), sys.argv[2])
lock.acquire()
way = sys.argv[3:]
if way == ["spawn"]:
    print(subprocess.Popen(["sleep", "60"], close_fds=False).pid, flush=True)
elif way == ["fork"]:
    # The child itself speaks: only then is the fork over on its side too.
    if os.fork() == 0:
        print(os.getpid(), flush=True)
else:
    print(0, flush=True)
time.sleep(60)
"""


@contextmanager
def holder(folder: Path, name: str, *more: str, prefix: tuple[str, ...] = ()) -> Iterator[tuple[Any, int]]:
    """A process that holds the lock of `name`, and the pid of the child it started, if any."""
    command = [*prefix, sys.executable, "-c", HOLD, str(folder), name, *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    child = 0
    try:
        child = int(process.stdout.readline())
        yield process, child
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()


def until(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if true():
            return True
        time.sleep(0.01)
    return true()


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_living_process_is_never_found_dead(tmp_path: Path) -> None:
    with holder(tmp_path, "w1"):
        assert [dead_workers(tmp_path) for _ in range(20)] == [[]] * 20
        assert list(found_dead(tmp_path)) == []
        assert (tmp_path / "w1.lock").exists()


def test_a_process_killed_without_warning_is_found_at_once(tmp_path: Path) -> None:
    with holder(tmp_path, "w1") as (process, _), holder(tmp_path, "w2"):
        process.kill()
        process.wait()
        assert dead_workers(tmp_path) == ["w1"]


def test_a_stopped_process_is_alive(tmp_path: Path) -> None:
    with holder(tmp_path, "w1") as (process, _):
        process.send_signal(signal.SIGSTOP)
        assert dead_workers(tmp_path) == []


def test_looking_changes_nothing_and_burying_happens_once(tmp_path: Path) -> None:
    with holder(tmp_path, "w1") as (process, _):
        process.kill()
        process.wait()
    assert dead_workers(tmp_path) == dead_workers(tmp_path) == ["w1"]
    assert list(found_dead(tmp_path)) == ["w1"]
    assert list(found_dead(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_a_child_that_outlives_the_worker_does_not_keep_it_alive(tmp_path: Path, way: str) -> None:
    with holder(tmp_path, "w1", way) as (process, child):
        assert dead_workers(tmp_path) == []
        process.kill()
        process.wait()
        assert alive(child)
        assert dead_workers(tmp_path) == ["w1"]


def test_a_living_process_in_another_pid_namespace_is_never_found_dead(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    prefix: tuple[str, ...] = (unshare or "", "--pid", "--fork", "--mount-proc")
    if os.getuid() != 0:
        prefix = (prefix[0], "--user", "--map-root-user", *prefix[1:])
    if unshare is None or subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not allow a new pid namespace")
    with holder(tmp_path, "w1", prefix=prefix):
        assert dead_workers(tmp_path) == []
    assert until(lambda: dead_workers(tmp_path) == ["w1"])


def test_while_one_peer_sees_to_a_dead_worker_no_other_does(tmp_path: Path) -> None:
    (tmp_path / "w1.lock").touch()
    with closing(found_dead(tmp_path)) as first:
        assert next(first) == "w1"
        assert list(found_dead(tmp_path)) == []
    # It was left before the worker was seen to, so somebody else will.
    assert list(found_dead(tmp_path)) == ["w1"]


def test_many_peers_bury_a_dead_worker_once(tmp_path: Path) -> None:
    names = [f"w{number}" for number in range(50)]
    for name in names:
        (tmp_path / f"{name}.lock").touch()
    buried: list[str] = []
    threads = [threading.Thread(target=lambda: buried.extend(found_dead(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(buried) == sorted(names)


async def test_a_worker_that_could_not_be_buried_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "w1.lock").touch()
    buried: list[str] = []

    async def fail(name: str) -> None:
        raise ConnectionError(name)

    async def expire(name: str) -> None:
        buried.append(name)

    with pytest.raises(ConnectionError):
        await expire_dead_workers(tmp_path, fail)
    assert await expire_dead_workers(tmp_path, expire) == buried == ["w1"]
    assert await expire_dead_workers(tmp_path, expire) == []


def test_a_file_that_was_replaced_between_look_and_lock_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w1.lock"
    path.touch()
    reborn = WorkerLock(tmp_path, "w1")
    lock = locks._lock

    def replaced_meanwhile(fd: int) -> bool:
        monkeypatch.setattr(locks, "_lock", lock)
        path.unlink()
        reborn.acquire()
        return lock(fd)

    monkeypatch.setattr(locks, "_lock", replaced_meanwhile)
    assert list(found_dead(tmp_path)) == []
    assert path.exists()
    assert not reborn.predecessor_died
    reborn.release()


def test_a_file_removed_by_a_peer_before_the_worker_locked_it_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = locks._lock

    def peer_was_faster(fd: int) -> bool:
        monkeypatch.setattr(locks, "_lock", lock)
        assert list(found_dead(tmp_path)) == ["w1"]
        return lock(fd)

    monkeypatch.setattr(locks, "_lock", peer_was_faster)
    with WorkerLock(tmp_path, "w1") as worker:
        assert worker.held
        assert dead_workers(tmp_path) == []
        assert (tmp_path / "w1.lock").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_worker_that_takes_a_dead_ones_name_is_told(tmp_path: Path) -> None:
    with WorkerLock(tmp_path, "w1") as first:
        assert not first.predecessor_died
    (tmp_path / "w1.lock").touch()
    with WorkerLock(tmp_path, "w1") as second:
        assert second.predecessor_died
        assert dead_workers(tmp_path) == []


def test_a_worker_waits_until_its_dead_namesake_is_buried(tmp_path: Path) -> None:
    (tmp_path / "w1.lock").touch()
    peer = found_dead(tmp_path)
    assert next(peer) == "w1"
    worker = WorkerLock(tmp_path, "w1")
    starting = threading.Thread(target=worker.acquire)
    starting.start()
    starting.join(0.05)
    assert not worker.held
    assert list(peer) == []
    starting.join()
    assert worker.held
    assert not worker.predecessor_died
    worker.release()


def test_the_name_of_a_living_worker_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "_PATIENCE", 0.0)
    with WorkerLock(tmp_path, "w1"), pytest.raises(InvalidInput, match="a living worker is called w1 already"):
        WorkerLock(tmp_path, "w1").acquire()


def test_a_clean_end_leaves_no_file_and_only_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "db.workers"
    lock = WorkerLock(folder, "w1")
    lock.acquire()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "w1.lock").stat().st_mode) == 0o600
    # Somebody tidied up, and a new worker has the name.
    (folder / "w1.lock").unlink()
    with WorkerLock(folder, "w1"):
        lock.release()
        lock.release()
        assert (folder / "w1.lock").exists()
    assert list(folder.iterdir()) == []


def test_other_files_and_a_missing_folder_prove_nothing(tmp_path: Path) -> None:
    for name in ("readme", ".lock", "a b.lock", "w1.lock.bak"):
        (tmp_path / name).touch()
    (tmp_path / "link.lock").symlink_to(tmp_path / "readme")
    (tmp_path / "folder.lock").mkdir()
    assert dead_workers(tmp_path) == []
    assert dead_workers(tmp_path / "missing") == []


@pytest.mark.parametrize("name", ["", "a/b", "../w", "a b", "a#b", "é", "a\n", "x" * 201])
def test_a_name_that_is_no_safe_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="name: "):
        WorkerLock(tmp_path, name)


def test_fresh_names_are_safe_and_never_repeat() -> None:
    names = {fresh_worker_name() for _ in range(1000)}
    assert len(names) == 1000
    assert all(locks._NAME.fullmatch(name) for name in names)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_locks_do_not_work_nobody_is_declared_dead_and_it_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / "old.lock").touch()
    with caplog.at_level(logging.WARNING), WorkerLock(tmp_path, "w1") as lock:
        assert not lock.held
        assert not (tmp_path / "w1.lock").exists()
        assert dead_workers(tmp_path) == []
        assert list(found_dead(tmp_path)) == []
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert (tmp_path / "old.lock").exists()

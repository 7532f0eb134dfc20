"""A worker's sign of life on its own machine: a lock that the kernel lets go of when the process dies.

A living worker holds `flock` on `<folder>/<name>.lock`. A process that obtains that lock knows that the worker is dead, however
it died, and at once. Nothing else is proof: a held lock may be anybody's, and a missing file may have been tidied away.
Process ids are not used, because the same number means different processes in different containers.

The lock ends with the process even if a tool that it started lives on: a started program does not inherit the lock, and
a fork gives it up.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import socket
import time
import weakref
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Self

from kurabito.errors import InvalidInput
from kurabito.logs import get_logger

_log = get_logger(__name__)
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,200}")
_SUFFIX: Final = ".lock"
_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW
_PATIENCE: Final = 5.0
_held: weakref.WeakSet[WorkerLock] = weakref.WeakSet()
_warned: set[Path] = set()


def fresh_worker_name() -> str:
    """A name that no other worker has or had."""
    host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname())[:60] or "worker"
    return f"{host}-{os.getpid()}-{secrets.token_hex(4)}"


def check_worker_name(name: str) -> str:
    """The name, if it can stand in an owner and in a file's name."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("name", f"a worker's name is of letters, digits, '.', '_' and '-', got {name!r}")
    return name


class WorkerLock:
    """Says that this process is alive, from `acquire` to `release` or the end of the process.

    with WorkerLock(folder, name) as lock:
        if lock.predecessor_died: ...
    """

    def __init__(self, folder: Path, name: str, heartbeat: float | None = None) -> None:
        self._path = folder / (check_worker_name(name) + _SUFFIX)
        self._heartbeat = heartbeat
        self._fd: int | None = None
        self.predecessor_died = False
        """A worker of this name died, and its tasks were not put back yet."""

    @property
    def held(self) -> bool:
        """False before `acquire`, after `release`, and where the file system knows no locks."""
        return self._fd is not None

    def acquire(self) -> None:
        """Take the lock; raises InvalidInput when a living worker has the name."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        until = time.monotonic() + _PATIENCE
        while True:
            fd, existed = _open_or_create(self._path)
            try:
                locked = _lock(fd)
            except OSError as problem:
                os.close(fd)
                # A file without its lock would speak of a death.
                self._path.unlink(missing_ok=True)
                _tell_unsupported(self._path.parent, problem)
                return
            # A peer that looked just before we locked may have removed the file: then ours is not the one to be found.
            if locked and _is_at(fd, self._path):
                self._fd, self.predecessor_died = fd, existed
                self._say_how_often()
                _held.add(self)
                return
            os.close(fd)
            if time.monotonic() > until:
                raise InvalidInput("name", f"a living worker is called {self._path.stem} already ({self._path})")
            # A peer that sees to a dead worker of this name holds the lock for the time of a database write.
            time.sleep(0.01)

    def release(self) -> None:
        """Give the lock up in good order, and leave nothing behind."""
        if self._fd is None:
            return
        if _is_at(self._fd, self._path):
            self._path.unlink(missing_ok=True)
        self._let_go()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _say_how_often(self) -> None:
        """Write down how often we renew our leases: so long is waited for us when the clock jumps."""
        assert self._fd is not None
        os.ftruncate(self._fd, 0)
        if self._heartbeat is not None:
            os.write(self._fd, str(self._heartbeat).encode())

    def _let_go(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def found_dead(folder: Path) -> Generator[str, None, None]:
    """The names of dead workers, each yielded while its lock is ours, so that no other process acts on it too.

    Going on to the next name says that this one was seen to, and removes its file. Closing the generator instead leaves
    the file to be found again.
    """
    for name, path in _lock_files(folder):
        with _obtained(path) as dead:
            if dead:
                yield name
                path.unlink(missing_ok=True)


def dead_workers(folder: Path) -> list[str]:
    """The names of dead workers whose tasks were not put back yet. It only looks."""
    dead = []
    for name, path in _lock_files(folder):
        with _obtained(path) as obtained:
            if obtained:
                dead.append(name)
    return dead


async def expire_dead_workers(folder: Path, expire: Callable[[str], Awaitable[object]]) -> list[str]:
    """Call `expire` (as `queue.expire_worker`) for each dead worker; when it fails, the worker is found again."""
    expired = []
    with closing(found_dead(folder)) as names:
        for name in names:
            await expire(name)
            expired.append(name)
    return expired


@contextmanager
def _obtained(path: Path) -> Iterator[bool]:
    """Whether the lock of this file could be taken; while the block runs it is ours."""
    try:
        fd = os.open(path, os.O_RDWR | _FLAGS)
    except OSError:
        # It ended in good order, or is another user's: nothing is proved.
        yield False
        return
    try:
        try:
            obtained = _lock(fd)
        except OSError as problem:
            _tell_unsupported(path.parent, problem)
            obtained = False
        # A file that is no longer at its path tells of the past: its tasks were put back, and the name may live again.
        yield obtained and _is_at(fd, path)
    finally:
        os.close(fd)


def _open_or_create(path: Path) -> tuple[int, bool]:
    """A descriptor, and whether the file was there before."""
    while True:
        try:
            return os.open(path, os.O_RDWR | _FLAGS), True
        except FileNotFoundError:
            pass
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600), False
        except FileExistsError:
            pass


def _lock(fd: int) -> bool:
    """Try to lock; raises OSError where the file system knows no locks."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(fd: int, path: Path) -> bool:
    ours = os.fstat(fd)
    try:
        there = path.stat(follow_symlinks=False)
    except OSError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)


def _lock_files(folder: Path) -> list[tuple[str, Path]]:
    try:
        files = sorted(folder.iterdir())
    except OSError:
        return []
    named = [(path.name.removesuffix(_SUFFIX), path) for path in files if path.name.endswith(_SUFFIX)]
    return [(name, path) for name, path in named if _NAME.fullmatch(name)]


def _tell_unsupported(folder: Path, problem: OSError) -> None:
    if folder not in _warned:
        _warned.add(folder)
        _log.warning(
            "locks do not work in this folder, so the death of a worker is noticed only when its lease ends",
            folder=str(folder),
            problem=os.strerror(problem.errno or 0),
        )


def _give_up_in_child() -> None:
    for lock in list(_held):
        lock._let_go()


os.register_at_fork(after_in_child=_give_up_in_child)

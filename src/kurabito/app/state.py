"""The state folder, and the lock that says which process serves it."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final, Self

from kurabito.app.errors import StateInUse
from kurabito.errors import ConfigError

LOCK_NAME: Final = "serve.lock"
_FLAGS: Final = os.O_CLOEXEC | os.O_NOFOLLOW
_PATIENCE: Final = (0.05, 0.05, 0.0)


def prepare_state(folder: Path, *, umask: int | None = None) -> None:
    """Make the folder, for its owner alone."""
    if umask is not None:
        os.umask(umask)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the state folder {folder} cannot be created: {error.strerror}; set KURABITO_STATE to a folder "
            "that you may write"
        ) from None


class StateLock:
    """Holds the state for one process; the kernel lets go of it when the process ends, however it ends.

        with StateLock(folder): ...

    The file stays where it is: a process that removed it could take a second lock beside the held one.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._fd: int | None = None

    def __enter__(self) -> Self:
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        except OSError as error:
            raise ConfigError(
                f"{self._path} cannot be written: {error.strerror}; this user must be able to write the state folder"
            ) from None
        try:
            _lock(fd, self._path)
        except BaseException:
            os.close(fd)
            raise
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        self._fd = fd
        return self

    def __exit__(self, *_: object) -> None:
        assert self._fd is not None
        os.ftruncate(self._fd, 0)
        os.close(self._fd)
        self._fd = None


def holder_of(folder: Path) -> str | None:
    """The process that has the state, as text like `process 4711`; None when it is free. It only looks."""
    path = folder / LOCK_NAME
    try:
        fd = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        # Shared, so that two who look do not take each other for a holder.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(fd)
    except OSError:
        return None
    finally:
        os.close(fd)
    return None


def _lock(fd: int, path: Path) -> None:
    # `holder_of` in another process has it for the time of a look.
    for patience in _PATIENCE:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(patience)
        except OSError as error:
            raise ConfigError(
                f"{path} cannot be locked: {error.strerror}; set KURABITO_STATE to a folder on a disk of this machine"
            ) from None
        else:
            return
    raise StateInUse(
        f"the state folder {path.parent} is in use by {_named(fd)}; stop that one first, or choose another folder "
        "with KURABITO_STATE"
    )


def _named(fd: int) -> str:
    written = os.pread(fd, 20, 0).decode("ascii", "replace").strip()
    return f"process {written}" if written.isdigit() else "another process"

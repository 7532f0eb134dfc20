"""Commands of `kurabito` as real processes that do not load its modules again: to load them costs more than most commands do.

`Command` is a `subprocess.Popen`. What tests the start itself (the entry point, what is imported, another interpreter, a
wrapper such as `taskset`) uses `subprocess.Popen`.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, AnyStr, Final

from tests.support.loaded import ORDER_BYTES, Order

KURABITO: Final = (sys.executable, "-m", "kurabito.cli")
"""How `kurabito` is started by this interpreter."""

_PROGRAM: Final = Path(__file__).with_name("loaded.py")
_PR_SET_CHILD_SUBREAPER: Final = 36
_READ_LATE: Final = ("KURABITO_", "DOWNLOAD_POLL_INTERVAL", "PYTEST_", "XDG_", "NO_COLOR", "COLUMNS", "TMPDIR")
"""How the names begin of the variables that are not read before a command runs."""
_ORDINARY: Final = (None, None, True, (), False, None, None, None, -1)
_OUTSIDE: Final = dict(os.environ)
"""The environment before any test changed it."""


class Command(subprocess.Popen[AnyStr]):
    """A process that is forked from one with the modules loaded, if nothing tells it from one that is not.

    It may be a command of `kurabito`, or a program in a file: `Command([sys.executable, "program.py", …])`.
    """

    def _execute_child(self, *given: Any) -> None:
        # The order of the arguments is that of every Python since 3.11.
        arguments, executable, preexec, close_fds, pass_fds, folder, environment, _, _, shell, *rest = given
        pipes, (_, gid, gids, uid, umask, new_session, group) = rest[:6], rest[6:]
        special = (executable, preexec, close_fds, tuple(pass_fds), bool(shell), gid, gids, uid, umask)
        environment = dict(os.environ if environment is None else environment)
        called = _called(arguments)
        if called is None or special != _ORDINARY or not _loaded.can_run(folder, environment):
            super()._execute_child(*given)  # type: ignore[misc]
            return
        order = Order(
            program=called[0],
            arguments=called[1],
            folder=str(Path(folder or "").absolute()),
            environment=environment,
            umask=_umask(),
            new_session=new_session,
            group=group,
            limits=_limits(),
        )
        streams = [own if pipe == -1 else pipe for own, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        self.pid = _loaded.start(order, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def __exit__(self, kind: type[BaseException] | None, *problem: Any) -> None:
        if kind is not None:
            # The test is over: to wait for what it did not end is to wait for ever.
            self.kill()
        super().__exit__(kind, *problem)


def run(
    command: Sequence[str | Path], *, timeout: float, stdin: str | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end: what it printed, and its exit code."""
    source = subprocess.DEVNULL if stdin is None else subprocess.PIPE
    with Command(
        command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    ) as process:
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def pytest_unconfigure() -> None:
    """No more commands come."""
    _loaded.close()


class _Loaded:
    """The process that has the modules; it begins with the first command."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = os.getpid()

    def can_run(self, folder: str | Path | None, environment: Mapping[str, str]) -> bool:
        """Whether a process of this kind could not be told from one that was started anew."""
        return (
            sys.platform == "linux"
            and os.getpid() == self._owner
            and (folder is None or Path(folder).is_dir())
            and _read_early(environment) == _read_early(_OUTSIDE)
        )

    def start(self, order: Order, streams: list[int]) -> int:
        """The pid of a new process."""
        message = json.dumps(asdict(order)).encode()
        assert len(message) < ORDER_BYTES
        with self._lock:
            control = self._control or self._open()
            # It is forked by a process that ends at once, and comes to us then as our own child: we can wait for it,
            # and it is told when we die.
            _adopt_orphans(True)
            try:
                socket.send_fds(control, [message], streams)
                answer = control.recv(20)
            finally:
                _adopt_orphans(False)
        assert answer, "the process that has the modules ended"
        return int(answer)

    def close(self) -> None:
        """End it."""
        if self._control is not None and self._process is not None and os.getpid() == self._owner:
            self._control.close()
            self._process.wait()

    def _open(self) -> socket.socket:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(_PROGRAM), str(theirs.fileno())],
                env=_read_early(_OUTSIDE),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        return self._control


def _called(command: Sequence[str | Path]) -> tuple[str, list[str]] | None:
    """The file of a program, or nothing for the command line, and its arguments; None if it is another interpreter's."""
    words = [os.fspath(word) for word in command]
    if tuple(words[:3]) == KURABITO:
        return "", words[3:]
    if words[:1] == [sys.executable] and words[1:] and words[1].endswith(".py"):
        return words[1], words[2:]
    return None


def _read_early(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(_READ_LATE)}


def _limits() -> list[tuple[int, int, int]]:
    kinds = {kind for name, kind in vars(resource).items() if name.startswith("RLIMIT_")}
    return [(kind, *resource.getrlimit(kind)) for kind in sorted(kinds)]


def _umask() -> int:
    # To ask with `os.umask` is to change it, for other threads too.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("\nUmask:")[2].split(maxsplit=1)[0], 8)


def _adopt_orphans(wanted: bool) -> None:
    failed = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)
    assert not failed, os.strerror(ctypes.get_errno())


_loaded: Final = _Loaded()

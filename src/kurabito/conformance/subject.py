"""What is examined: a process, with all that it starts, which can be killed, frozen and asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ctypes import CDLL
from pathlib import Path
from types import MappingProxyType
from typing import Final

from kurabito.settings import PREFIX

LEASE_SECONDS: Final = 4.0
HEARTBEAT_SECONDS: Final = 0.5
"""What a plane is told: nothing has to be waited for that is longer than needed."""
_TAIL: Final = 600
_STOPS_IN: Final = 0.001
_STOPS_WITHIN: Final = 2.0
NO_MORE: Final[Mapping[str, str]] = MappingProxyType({})
_DROP_FROM_BOUNDING_SET: Final = 24
_OVERRIDE_MODES: Final = (1, 2)
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""


class ExaminedProcess:
    """A running program, which is told some settings and nothing else of ours."""

    def __init__(
        self,
        command: Sequence[str],
        told: Mapping[str, str],
        log: Path,
        environment: Mapping[str, str] = NO_MORE,
        *,
        obeys_modes: bool = False,
    ) -> None:
        self._log = log
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        with log.open("ab") as output:
            # A session of its own: a signal to it reaches whatever the program started.
            self._process = subprocess.Popen(  # noqa: S603 - the caller names the program to examine
                list(command),
                env={**kept, **{PREFIX + name: value for name, value in told.items()}, **environment},
                preexec_fn=_obey_file_modes if obeys_modes else None,  # noqa: PLW1509 - the kit has one thread
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def has_ended(self) -> bool:
        """Whether it ended on its own."""
        return self._process.poll() is not None

    @property
    def output(self) -> str:
        """What it said last."""
        return self._log.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip()

    def has_open(self, path: Path) -> bool:
        """Whether it, or a program that it started, has a file open."""
        folders = (process / "fd" for process in Path("/proc").glob("[0-9]*") if self._is_of_it(int(process.name)))
        return any(path in map(_target_of, open_files) for open_files in map(_listed, folders))

    def freeze(self) -> None:
        """Have it stand still, with all its threads: on a busy machine that takes a moment."""
        self._signal(signal.SIGSTOP)
        while not self._stands_still():
            # In the middle of starting another program it waits for that one, which stands still already.
            self.thaw()
            time.sleep(_STOPS_IN)
            self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Have it go on."""
        self._signal(signal.SIGCONT)

    def ask_to_end(self) -> None:
        """Ask it to end, as a supervisor does: the plane itself, and not what it started."""
        self._process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float) -> int | None:
        """Its exit code, or None when it has not ended by then."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it without a last word."""
        self._signal(signal.SIGKILL)
        self._process.wait()

    def kill_after(self, seconds: float) -> None:
        """The same at a chosen moment."""
        time.sleep(seconds)
        self.kill()

    def _stands_still(self) -> bool:
        given_up_at = time.monotonic() + _STOPS_WITHIN
        while not self.has_ended and not os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOHANG):
            if time.monotonic() > given_up_at:
                return False
            time.sleep(_STOPS_IN)
        return True

    def _is_of_it(self, process: int) -> bool:
        try:
            return os.getsid(process) == self._process.pid
        except ProcessLookupError:
            return False

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        # The process ended meanwhile.
        return []


def _target_of(link: Path) -> Path | None:
    try:
        return link.readlink()
    except OSError:
        return None


class Subject(ExaminedProcess):
    """A running plane."""

    def __init__(
        self,
        command: Sequence[str],
        url: str,
        state: Path,
        log: Path,
        environment: Mapping[str, str] = NO_MORE,
        *,
        obeys_modes: bool = False,
    ) -> None:
        told = {
            "DATABASE": url,
            "STATE": str(state),
            "LEASE_SECONDS": f"{LEASE_SECONDS:g}",
            "HEARTBEAT_SECONDS": f"{HEARTBEAT_SECONDS:g}",
        }
        super().__init__(command, told, log, environment, obeys_modes=obeys_modes)


def _obey_file_modes() -> None:
    """Have a plane that is started by root be refused what the modes of files refuse to their owner."""
    if os.geteuid() == 0:
        libc = CDLL(None)
        for capability in _OVERRIDE_MODES:
            libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)

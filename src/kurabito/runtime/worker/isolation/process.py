"""One process that runs isolated handlers, one after another: started, heard, killed with every tool that it started."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Final

from kurabito import logs
from kurabito.runtime.worker.isolation import child

_LOADED: Final = ["__main__", child.__name__]
_ENDING_TAKES: Final = 5.0


class HandlerProcess:
    """A process that runs one handler after another."""

    def __init__(self, max_payload: int) -> None:
        # Not a fork of this process, whose threads it would lack, but of one that has loaded what every handler needs.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_LOADED)
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=child.main, args=(theirs, max_payload, logs.chosen()), name="kurabito-handler", daemon=True
        )
        self._process.start()
        theirs.close()

    def hear(self) -> object:
        """What it says next; raises EOFError or OSError once it has ended.

        The end of the connection alone does not tell: a copy that the handler made of its process holds it too.
        """
        wait([self.connection, self._process.sentinel])
        if not self.connection.poll():
            raise EOFError
        return self.connection.recv()

    def kill(self) -> None:
        """End it now, and the tools that it started."""
        pid = self._process.pid
        if pid is None or self._process.exitcode is not None:
            return
        _kill_group(pid)
        # Should it not have had the time to make a group of its own.
        self._process.kill()

    def how_it_ended(self) -> str:
        """Wait for its end; says how it came."""
        self._process.join(_ENDING_TAKES)
        code = self._process.exitcode
        self.connection.close()
        if code is None:
            self.kill()
            return "does not answer any more, and was killed"
        if self._process.pid is not None:
            # What it started would go on beside the next attempt.
            _kill_group(self._process.pid)
        if code >= 0:
            return f"ended with exit code {code}"
        if -code == signal.SIGKILL:
            return "was killed by SIGKILL; was the machine out of memory?"
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"

    @property
    def is_over(self) -> bool:
        """Whether it has ended: asked nothing, it says nothing, so what there is to read is the end."""
        try:
            return self.connection.poll()
        except (OSError, EOFError):
            return True

    def end(self) -> None:
        """Kill it and wait until it is gone."""
        self.kill()
        self._process.join(_ENDING_TAKES)
        self.connection.close()


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)

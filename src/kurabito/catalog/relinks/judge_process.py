"""The processes of judges. They give way to others before they load what they judge by: that takes longer than all else of their start."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection as Pipe
from typing import Any, Final, NoReturn

_NICE: Final = 19


def main(pipes: Sequence[Pipe[Any, Any]], url: str) -> None:
    """Judge what is asked for through some pipes until they end, a process for each."""
    # They are ended together.
    os.setpgid(0, 0)
    _give_way()
    # Of many titles nothing refers to itself, and to look for that took a tenth of the time; the process ends with its task.
    gc.disable()
    from kurabito.catalog.relinks.judge import answer

    own, copies = pipes[0], list[int]()
    for pipe in pipes[1:]:
        # Loaded once for all of them. There is one thread so far, and the database is not open yet.
        if (copy := os.fork()) == 0:
            own, copies = pipe, []
            break
        copies.append(copy)
    for pipe in pipes:
        # A pipe ends for the one who asks when no process has its other end.
        if pipe is not own:
            pipe.close()
    if copies:
        signal.signal(signal.SIGTERM, lambda *_: _end(copies))
    answer(own, url)
    _end(copies)


def _end(copies: Sequence[int]) -> NoReturn:
    """End this process and those that it made: waited for, so that no process has to be that did not start them."""
    for copy in copies:
        os.kill(copy, signal.SIGKILL)
    for copy in copies:
        os.waitpid(copy, 0)
    os._exit(0)


def _give_way() -> None:
    """Take the processor only while nothing else wants it: a request does not wait for the turn of a judge to end."""
    os.nice(_NICE)
    # A container may refuse it, and not every system has it.
    with suppress(AttributeError, OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

"""Good manners of a process that keeps the disks busy: everything else on the machine goes first."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from typing import Final

from kurabito.logs import get_logger

# The C library has no function for it, and the number of the call depends on the machine.
_IOPRIO_SET: Final = {"x86_64": 251, "aarch64": 30, "riscv64": 30}
_THIS_PROCESS: Final = 1
_IDLE: Final = 3 << 13

_log = get_logger(__name__)


def lower_priority(*, nice: int, idle_io: bool) -> None:
    """Take the processor only when few others want it, and the disks only when no other does.

    Call it before other threads are started: each inherits it from the one that starts it.
    """
    if nice > os.getpriority(os.PRIO_PROCESS, 0):
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    call = _IOPRIO_SET.get(platform.machine()) if sys.platform == "linux" else None
    if idle_io and call is not None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syscall(call, _THIS_PROCESS, 0, _IDLE) != 0:
            _log.info("the disks are not left to others first", problem=os.strerror(ctypes.get_errno()))

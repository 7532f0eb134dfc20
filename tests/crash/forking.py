"""Lives one after the other: each line on stdin starts one and is answered with its process id.

The modules are loaded once, so that a life costs a fork and not a start.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable


def lives(live: Callable[[str], None]) -> None:
    """Fork for each line, which is given to the child."""
    # Whoever is killed is nobody's concern here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            live(line)
            os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()

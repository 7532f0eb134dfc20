"""A program that prints what is true of its own process, for a test that compares two of them."""

from __future__ import annotations

import gc
import io
import json
import os
import resource
import signal
import sys
import tempfile
import threading
from pathlib import Path

if __name__ == "__main__":
    facts = {
        "arguments": sys.argv,
        "environment": dict(os.environ),
        "folder": str(Path.cwd()),
        "first on the path": sys.path[0],
        "parent": os.getppid(),
        "leads its group": os.getpgrp() == os.getpid(),
        "group of its parent": os.getpgrp() == os.getpgid(os.getppid()),
        "leads its session": os.getsid(0) == os.getpid(),
        "umask": os.umask(0o77),
        "signals": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals()) if number < 32],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "limits": [resource.getrlimit(number) for number in range(16)],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "descriptors": sorted(int(path.name) for path in Path("/proc/self/fd").iterdir()),
        "threads": [len(list(Path("/proc/self/task").iterdir())), threading.active_count()],
        "streams": [
            (stream.encoding, stream.errors, stream.line_buffering, stream.write_through, stream.isatty())
            for stream in (sys.stdin, sys.stdout, sys.stderr)
            if isinstance(stream, io.TextIOWrapper)
        ],
        "same streams": [sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__],
        "garbage": [gc.isenabled(), gc.get_threshold()],
        "files go to": tempfile.gettempdir(),
        "name": __name__,
        "file": __file__,
        "flags": repr(sys.flags),
        "input": sys.stdin.read() if "read" in sys.argv else "",
    }
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    sys.stderr.write("said\n")
    if "raise" in sys.argv:
        raise ValueError("raised")
    if "interrupt" in sys.argv:
        os.kill(os.getpid(), signal.SIGINT)
    if "abort" in sys.argv:
        os.abort()
    sys.exit(7)

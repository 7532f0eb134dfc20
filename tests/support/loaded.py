"""A process that has loaded what `kurabito` is made of, and forks whenever a test starts a command, or a program that uses it.

Started with the number of a socket. What it forks is a process like any other: its pid, parent, group, environment, working
folder, streams and exit code are those that it would have without this. Only it has loaded its modules already, which is
most of what a short command costs.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import resource
import runpy
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MODULES: Final = (
    "kurabito.app.downloader",
    "kurabito.app.serve",
    "kurabito.cli.commands",
    "kurabito.dataplane.main",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.h11_impl",
)
"""Where the commands begin; each brings the modules that it needs. None brings the torrent library: a test looks for it."""
ORDER_BYTES: Final = 1 << 17
_STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


@dataclass(frozen=True)
class Order:
    """A program to start, and what is to be true of its process."""

    program: str
    """The path of a file; empty for the command line of `kurabito`."""
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    umask: int
    new_session: bool
    group: int
    """The process group that it joins; 0 is one of its own, -1 that of its parent."""
    limits: list[tuple[int, int, int]]
    """What whoever asks may take of the machine: each resource with its soft and hard limit."""


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    # Ctrl-C reaches the whole group; the process that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in MODULES:
        importlib.import_module(name)
    # A search for garbage would write to all that the processes share.
    gc.collect()
    gc.freeze()
    order = _take_orders(control)
    if order is None:
        return
    sys.argv = [order.program, *order.arguments]
    if order.program:
        runpy.run_path(order.program, run_name="__main__")
    else:
        runpy.run_module("kurabito.cli", run_name="__main__", alter_sys=True)


def _take_orders(control: socket.socket) -> Order | None:
    """Fork for each order. Returns it in the new process; None in this one, when no more will come."""
    while True:
        message, streams, _, _ = socket.recv_fds(control, ORDER_BYTES, len(_STREAMS))
        if not message:
            return None
        order = Order(**json.loads(message))
        gate, keeper = os.pipe()
        between = os.fork()
        if between == 0:
            middle = os.getpid()
            if (pid := os.fork()) > 0:
                os.write(keeper, str(pid).encode())
                # With this the other is an orphan, and becomes the child of whoever asked: see `Command`.
                os._exit(0)
            while os.getppid() == middle:
                time.sleep(0.0005)
            control.detach()
            _become(order, streams)
            return order
        os.waitpid(between, 0)
        os.close(keeper)
        answer = b""
        # Ends when the new process has closed what is not its own, and is what the order says.
        while part := os.read(gate, 20):
            answer += part
        control.send(answer)
        for number in (gate, *streams):
            os.close(number)


def _become(order: Order, streams: list[int]) -> None:
    """Make this process what the order says."""
    if order.new_session:
        os.setsid()
    if order.group >= 0:
        os.setpgid(0, order.group)
    for number, given in enumerate(streams):
        os.dup2(given, number)
    os.umask(order.umask)
    for kind, soft, hard in order.limits:
        resource.setrlimit(kind, (soft, hard))
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    # Where modules are looked for first: beside a program, and with `-m` in the working folder.
    sys.path[0] = str(Path(order.program).resolve().parent if order.program else Path.cwd())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, (name, mode) in enumerate(_STREAMS):
        stream = _stream(number, mode, getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    # Last: whoever asked goes on now.
    os.closerange(len(streams), os.sysconf("SC_OPEN_MAX"))


def _stream(number: int, mode: str, before: io.TextIOWrapper) -> io.TextIOWrapper:
    """What Python makes of one of the first three descriptors when it starts."""
    at_once = before.write_through
    return io.TextIOWrapper(
        open(number, f"{mode}b", 0 if at_once else -1, closefd=False),
        encoding=before.encoding,
        errors=before.errors,
        newline="\n" if mode == "w" else None,
        # Errors are written line by line, and whatever goes to a terminal.
        line_buffering=not at_once and (number == 2 or os.isatty(number)),
        write_through=at_once,
    )


if __name__ == "__main__":
    main()

"""A worker process that the crash tests start, stop and kill. Everything it does is a line in a log that they read.

Started as `python worker_program.py OPTIONS`, where OPTIONS is a JSON object; see `Options`.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import secrets
import signal
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kurabito.runtime import Fixed, Registry, TaskContext, Worker, open_queue


@dataclass(frozen=True)
class Options:
    url: str
    log: str
    concurrency: int = 4
    lease: float = 30.0
    heartbeat: float = 5.0
    every: float | None = None
    clock: str | None = None
    """A file with eight bytes: how many nanoseconds this machine's clock is ahead, from one moment to the next."""


class SideEffects:
    """The log: each line is one write to a file opened for appending, so lines of killed processes stay whole."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.worker = ""

    def note(self, what: str, ctx: TaskContext | None = None, **values: Any) -> None:
        about = {"task": str(ctx.task_id), "attempt": ctx.attempt} if ctx else {}
        line = {"what": what, "worker": self.worker, "pid": os.getpid(), "at": time.time_ns(), **about, **values}
        os.write(self._fd, json.dumps(line).encode() + b"\n")


def handlers(effects: SideEffects, options: Options) -> Registry:
    registry = Registry()

    @registry.task("work", retry=Fixed(0.0))
    async def work(seconds: float, ctx: TaskContext) -> dict[str, str]:
        execution = secrets.token_hex(8)
        effects.note("start", ctx, execution=execution)
        await asyncio.sleep(seconds)
        effects.note("end", ctx, execution=execution)
        return {"execution": execution, "worker": effects.worker}

    @registry.task("hold")
    def hold(gates: dict[str, str], ctx: TaskContext) -> str:
        """Return when this worker's gate opens, and do not listen to a cancellation: the late finish is wanted."""
        effects.note("start", ctx)
        gate = Path(gates.get(effects.worker, gates["any"]))
        while not gate.exists():
            time.sleep(0.01)
        effects.note("end", ctx)
        return effects.worker

    @registry.task("poison")
    def poison(ctx: TaskContext) -> None:
        effects.note("start", ctx)
        os._exit(9)

    @registry.task("tick")
    def tick(ctx: TaskContext) -> None:
        effects.note("tick", ctx)

    if options.every is not None:
        registry.every(options.every, "tick", name="ticking")
    return registry


def set_clock(path: str) -> None:
    """Have the clock of the machine, as far as this process can see it, be ahead by what a file says."""
    with Path(path).open("rb") as file:
        ahead = mmap.mmap(file.fileno(), 8, prot=mmap.PROT_READ)
    time_ns = time.time_ns
    time.time_ns = lambda: time_ns() + struct.unpack("q", ahead[:])[0]


async def main() -> None:
    options = Options(**json.loads(sys.argv[1]))
    if options.clock is not None:
        set_clock(options.clock)
    effects = SideEffects(options.log)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with open_queue(options.url) as queue:
        worker = Worker(
            queue,
            handlers(effects, options),
            concurrency=options.concurrency,
            lease=options.lease,
            heartbeat=options.heartbeat,
        )
        effects.worker = worker.name
        async with worker:
            effects.note("ready")
            await stop.wait()
    effects.note("left")


if __name__ == "__main__":
    asyncio.run(main())

"""A worker process that the crash tests start, stop and kill. Everything it does is a line in a log that they read.

Started as `python worker_program.py OPTIONS`, where OPTIONS is a JSON object; see `Options`.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
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


async def main() -> None:
    options = Options(**json.loads(sys.argv[1]))
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

"""An agent that survives being killed: it works in steps, and each step calls a tool in a process of its own.

In two terminals start a worker each, and ask for something in a third:

    python examples/agent.py sqlite:///agent.db work
    python examples/agent.py sqlite:///agent.db work
    python examples/agent.py sqlite:///agent.db ask "history of tea" --steps 20

Then kill the worker that has the task, as rudely as you like: `kill -9`. The other one notices within a second, because
the kernel lets go of the dead one's lock, and goes on from the last step that was reported. With one worker, start it
again instead: the task waits for it.

How that works:

- `ctx.report(done, total)` is stored with the task, and `ctx.progress` gives the next execution what was stored last.
- A step may be done twice: when the process dies after the tool has finished and before the report is stored. So a step
  leaves its result in a file named after it, and doing it again writes the same file.
- Being killed costs no attempt. But a task that takes three workers down with it is dead: it may be what kills them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from kurabito.runtime import Registry, TaskContext, Worker, open_queue

registry = Registry()

# A stand-in for what an agent calls: a search, a compiler, a model. It takes a while and writes down what it found.
TOOL = """
import os, sys, time
question, notes, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
time.sleep(seconds)
with open(notes + ".part", "w") as part:
    part.write(f"{question}: {len(question)} letters\\n")
os.replace(notes + ".part", notes)
"""


@dataclass(frozen=True)
class Research:
    topic: str
    steps: int
    folder: str
    seconds_per_step: float = 0.5


@dataclass(frozen=True)
class Report:
    notes: list[str]
    finished_by: int


@registry.task("agent.research", concurrency=2, time_limit=3600)
async def research(order: Research, ctx: TaskContext) -> Report:
    """Take one step after the other, beginning where the execution before this one was interrupted."""
    first = ctx.progress.done if ctx.progress else 0
    print(f"process {os.getpid()} begins at step {first + 1} of {order.steps}", flush=True)
    notes = [Path(order.folder) / f"step-{step}.txt" for step in range(1, order.steps + 1)]
    for step in range(first, order.steps):
        await use_tool(f"{order.topic}, part {step + 1}", notes[step], order.seconds_per_step)
        await ctx.report(step + 1, order.steps)
    return Report([path.read_text().strip() for path in notes], os.getpid())


async def use_tool(question: str, notes: Path, seconds: float) -> None:
    """Run the tool; if the task is cancelled or runs out of time meanwhile, end the tool too."""
    tool = await asyncio.create_subprocess_exec(sys.executable, "-c", TOOL, question, str(notes), str(seconds))
    try:
        if await tool.wait() != 0:
            raise RuntimeError(f"the tool failed on {question!r}")
    finally:
        if tool.returncode is None:
            tool.kill()
            await tool.wait()


async def work(url: str) -> None:
    async with open_queue(url) as queue:
        await Worker(queue, registry, concurrency=2, heartbeat=1.0).run()


async def ask(url: str, order: Research) -> None:
    async with open_queue(url) as queue:
        # The key keeps a second `ask` for the same topic from doing the work twice at the same time.
        task = await queue.enqueue("agent.research", order, unique_key=f"research:{order.topic}")
        print(f"asked: {task.id}", flush=True)
        done = await queue.wait(task.id)
        if done.last_error is not None and done.result is None:
            raise SystemExit(f"{done.state}: {done.last_error}")
        report = done.result_as(Report)
        print(f"{done.state} by process {report.finished_by}, workers lost on the way: {done.lost_leases}")
        print("\n".join(report.notes))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("url", help="sqlite:///FILE or postgresql://USER@HOST/NAME")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("work", help="run tasks until Ctrl-C")
    asking = commands.add_parser("ask", help="ask for research and wait for it")
    asking.add_argument("topic")
    asking.add_argument("--steps", type=int, default=10)
    asking.add_argument("--seconds", type=float, default=0.5, help="how long each step takes")
    given = parser.parse_args()
    try:
        if given.command == "work":
            asyncio.run(work(given.url))
        else:
            folder = Path("agent-notes").absolute()
            folder.mkdir(exist_ok=True)
            asyncio.run(ask(given.url, Research(given.topic, given.steps, str(folder), given.seconds)))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()

"""The whole idea in one file: a handler, a queue, a worker.

python examples/quickstart.py                       in memory
python examples/quickstart.py sqlite:///tasks.db    the same in a file: run it twice, tasks of both runs are there
"""

import asyncio
import sys
from dataclasses import dataclass

from kurabito.runtime import Registry, TaskContext, Worker, open_queue

registry = Registry()


@dataclass(frozen=True)
class Greeting:
    to: str


@registry.task("greet", max_attempts=3)
async def greet(greeting: Greeting, ctx: TaskContext) -> str:
    await ctx.report(1, 1)
    return f"Hello, {greeting.to}!"


async def main(url: str) -> None:
    async with open_queue(url) as queue, Worker(queue, registry):
        tasks = await queue.enqueue_many([("greet", Greeting(name)) for name in ("Ada", "Grace", "Edsger")])
        for task in tasks:
            done = await queue.wait(task.id, timeout=30)
            print(done.state, done.result)
        print({str(state): count for state, count in (await queue.counts_by_state()).items() if count})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["memory://"]))

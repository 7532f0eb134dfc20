"""Who is compared, under which settings, and how one reads from its tables that a task is settled."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Final


@dataclass(frozen=True)
class Contender:
    """One side of a comparison."""

    package: str
    module: str
    """Imported only by the processes that run it."""
    settings: str
    settled: str = ""
    """SQL that counts the settled tasks, with `{tasks}` for how many were enqueued."""

    @property
    def name(self) -> str:
        return f"{self.package} {version(self.package)}"

    @property
    def ours(self) -> bool:
        return self.package == "kurabito"


OURS: Final = Contender(
    "kurabito",
    "ours",
    "`Worker(concurrency=100)` in each process, which claims ahead as is its default; asyncio's own loop",
    settled="SELECT count(*) FROM tasks WHERE state = 'succeeded'",
)
HUEY_SQLITE: Final = Contender(
    "huey",
    "peers.huey_sqlite",
    "SqliteHuey with its default durability (synchronous FULL), 1 worker thread, looks every 5 ms when idle",
    # huey keeps no row of a finished task: it deletes the row before it runs the task.
    settled="SELECT {tasks} - count(*) FROM task",
)
PGQUEUER: Final = Contender(
    "pgqueuer",
    "peers.pgqueuer_postgres",
    "asyncpg, uvloop, batch 100, `pgq autovac`, durability `durable` (its default)",
    settled="SELECT (SELECT count(*) FROM pgqueuer_log WHERE status = 'successful') - (SELECT count(*) FROM pgqueuer)",
)
PROCRASTINATE: Final = Contender(
    "procrastinate",
    "peers.procrastinate_postgres",
    "concurrency 100 and a pool of 20 in each process",
    settled="SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'",
)
HUEY_POSTGRES: Final = Contender(
    "huey", "peers.huey_postgres", "PostgresHuey, 1 worker thread woken by LISTEN (its default)"
)

OURS_MEMORY: Final = Contender("kurabito", "ours_memory", "`memory://`, `Worker(concurrency=100)`, asyncio's own loop")
HUEY_MEMORY: Final = Contender("huey", "peers.huey_memory", "MemoryHuey, 1 worker thread, looks every 5 ms when idle")
PGQUEUER_MEMORY: Final = Contender("pgqueuer", "peers.pgqueuer_memory", "PgQueuer.in_memory(), uvloop, batch 100")
TASKIQ_MEMORY: Final = Contender(
    "taskiq", "peers.taskiq_memory", "InMemoryBroker, uvloop, no casting of arguments, all tasks at once"
)

"""huey on PostgreSQL: its consumer with one worker thread, woken by LISTEN as is its default."""

# mypy: disable-error-code="import-untyped, untyped-decorator"

from __future__ import annotations

from huey import PostgresHuey

from processes import Arrivals, Gate

WORKERS = 1


def enqueue(url: str, tasks: int) -> float:
    """Create the tables (for `tasks` = 0, as the latency benchmark asks)."""
    PostgresHuey(dsn=url)
    return float(tasks)


def serve(url: str, arrivals: Arrivals, gate: Gate) -> None:
    """Work until told to stop."""
    huey = PostgresHuey(dsn=url)

    @huey.task()
    def noop(index: int) -> None:
        arrivals.mark(index)

    consumer = huey.create_consumer(workers=WORKERS, periodic=False)
    gate.pass_when_open()
    consumer.start()
    gate.wait_for_close()
    consumer.stop(graceful=True)


def send(url: str, arrivals: Arrivals) -> None:
    """Enqueue one task at a time."""
    huey = PostgresHuey(dsn=url)

    @huey.task()
    def noop(index: int) -> None: ...

    for index in arrivals:
        noop(index)

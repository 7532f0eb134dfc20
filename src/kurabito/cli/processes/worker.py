"""`kurabito worker`: run the tasks of a queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from kurabito.cli.queues import QueueUrl, chosen_settings

if TYPE_CHECKING:
    from kurabito.runtime import Registry
    from kurabito.settings import Settings

_STOPPING_TAKES: Final = 10.0
FAILED: Final = 70
"""The exit code of a worker that could not go on: what sysexits.h calls an internal error."""


def worker(
    registry: Annotated[
        str, typer.Argument(metavar="MODULE:REGISTRY", help="The registry of the handlers: a module and a name in it.")
    ],
    queue: QueueUrl = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Tasks at the same time, in each process.")] = 8,
    processes: Annotated[int, typer.Option(min=1, help="Number of processes; more than one are supervised.")] = 1,
    supervise: Annotated[bool, typer.Option("--supervise", help="Supervise a single process, too.")] = False,
    grace: Annotated[float, typer.Option(min=0, help="Seconds that running tasks have to finish after a stop.")] = 10.0,
) -> None:
    """Run tasks until Ctrl-C or SIGTERM, then wait for the running ones. A second Ctrl-C does not wait.

    A worker that cannot continue exits with code 70. With --supervise or --processes it is restarted.

    Examples:

        kurabito worker shop.tasks:registry --queue sqlite:///tasks.db

        kurabito worker shop.tasks:registry --processes 4 --concurrency 16
    """
    import asyncio
    import os

    from kurabito import logs
    from kurabito.db.sqlite.privacy import make_private
    from kurabito.runtime.worker.supervisor import die_with_parent

    die_with_parent()
    settings = chosen_settings(queue)
    logs.configure(format=settings.log_format, level=settings.log_level)
    if settings.tz is not None:
        # Registries are made when their module is imported.
        os.environ["KURABITO_TZ"] = settings.tz
    # Also where only other processes use it: a name that is wrong should fail here, not in them again and again.
    loaded = _load(registry)
    if settings.database == f"sqlite:///{settings.state / 'kurabito.db'}":
        settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(settings.state / "kurabito.db")
    if processes > 1 or supervise:
        arguments = [registry, "--concurrency", str(concurrency), "--grace", str(grace)]
        asyncio.run(_supervise(settings, arguments, processes, grace))
    else:
        asyncio.run(_work(settings, loaded, concurrency, grace))
        _leave_stuck_threads()


async def _work(settings: Settings, registry: Registry, concurrency: int, grace: float) -> None:
    import asyncio

    from kurabito.logs import get_logger
    from kurabito.runtime import Worker, open_queue
    from kurabito.runtime.errors import WorkerFailed

    log = get_logger(__name__)
    stop = asyncio.Event()
    _on_signal(stop.set)
    lease, heartbeat = settings.lease_seconds, settings.heartbeat_seconds
    try:
        async with open_queue(settings.database) as queue:
            worker = Worker(queue, registry, concurrency=concurrency, lease=lease, heartbeat=heartbeat, grace=grace)
            worker.on_standstill = _end_now
            async with worker:
                log.info("working", worker=worker.name, task_types=list(worker.task_types), concurrency=concurrency)
                await stop.wait()
                log.info("stopping", worker=worker.name, grace=grace)
    except WorkerFailed as failed:
        # What it gave up may still run, and the event loop would wait for it.
        _end_now(str(failed))
    log.info("stopped", worker=worker.name)


async def _supervise(settings: Settings, arguments: list[str], processes: int, grace: float) -> None:
    import os
    import sys

    from kurabito.runtime import open_queue
    from kurabito.runtime.worker.supervisor import Supervisor

    # Not as an argument, where every user of the machine could read a password in it.
    os.environ["KURABITO_DATABASE"] = settings.database
    command = [sys.executable, "-m", "kurabito.cli", "worker", *arguments]
    async with open_queue(settings.database) as queue:
        supervisor = Supervisor(queue.work, command, count=processes, stop_limit=grace + _STOPPING_TAKES)
        _on_signal(supervisor.stop)
        await supervisor.run()


def _on_signal(stop: Callable[[], None]) -> None:
    """Stop in good order at the first Ctrl-C or SIGTERM; a second Ctrl-C ends the process at once."""
    import asyncio
    import signal

    loop = asyncio.get_running_loop()

    def hear() -> None:
        # Python's own answer to Ctrl-C would wait for the very end that is in question.
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        stop()

    loop.add_signal_handler(signal.SIGINT, hear)
    # Any number of them is one: the kernel tells of a supervisor's death once for each thread that it had.
    loop.add_signal_handler(signal.SIGTERM, hear)


def _end_now(why: str) -> NoReturn:
    """End this process with a code that says that it failed."""
    import os
    import sys

    sys.stderr.write(f"error: {why}\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(FAILED)


def _leave_stuck_threads() -> None:
    """End now if a plain `def` handler did not: its task was put back, and Python would wait for its thread for ever."""
    import os
    import sys
    import threading

    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _load(place: str) -> Registry:
    import importlib
    import sys
    from pathlib import Path

    from kurabito.errors import ConfigError
    from kurabito.runtime import Registry

    module_name, _, attribute = place.partition(":")
    if not module_name or not attribute:
        raise ConfigError(
            f"{place!r} does not say where the handlers are; use MODULE:REGISTRY, like shop.tasks:registry"
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found = importlib.import_module(module_name)
    except ModuleNotFoundError as problem:
        # Something that the module itself imports may be missing too, and that traceback is worth seeing.
        if problem.name is None or not f"{module_name}.".startswith(f"{problem.name}."):
            raise
        raise ConfigError(f"there is no module {problem.name} here or among the installed ones") from None
    for name in attribute.split("."):
        found = getattr(found, name, None)  # type: ignore[assignment]
    if not isinstance(found, Registry):
        raise ConfigError(f"{attribute} in {module_name} is no Registry, but {type(found).__name__}")
    if not found.task_types:
        raise ConfigError(f"{place} has no handlers: decorate functions with @{attribute}.task")
    return found

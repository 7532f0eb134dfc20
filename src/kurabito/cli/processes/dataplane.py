"""`kurabito dataplane`: the process that touches the disks."""

from __future__ import annotations

from typing import Annotated

import typer

from kurabito.cli.processes.startup import begin_loading, end_loading


def dataplane(
    once: Annotated[bool, typer.Option("--once", help="Do all pending work, then exit.")] = False,
) -> None:
    """Run a data plane until Ctrl-C or SIGTERM. `kurabito serve` starts one automatically.

    More of them, also on other machines, share the work when they share the database.

    Examples:

        kurabito dataplane

        KURABITO_DATABASE=postgresql://me@db.local/kurabito kurabito dataplane --once
    """
    begin_loading()

    import asyncio

    from kurabito import logs
    from kurabito.cli.queues import chosen_settings
    from kurabito.dataplane import main
    from kurabito.runtime.worker.supervisor import die_with_parent
    from kurabito.settings.store import stored_settings

    die_with_parent()
    settings = stored_settings(chosen_settings(None))
    logs.configure(format=settings.log_format, level=settings.log_level)
    end_loading()
    asyncio.run(main.run(settings, once=once))

"""The data plane as a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal

from kurabito.dataplane.daemon import DataPlane, Line
from kurabito.dataplane.delete import delete
from kurabito.dataplane.jobs import JobLine
from kurabito.db import Database, open_database
from kurabito.db.migrate import PRODUCT, pending
from kurabito.errors import DatabaseUnavailable
from kurabito.logs import get_logger
from kurabito.protocol.values import JobKind
from kurabito.runtime.presence import fresh_worker_name
from kurabito.runtime.supervisor import WORKER_NAME
from kurabito.settings import Settings

_log = get_logger(__name__)


async def run(settings: Settings, *, once: bool = False) -> None:
    """Run a data plane until Ctrl-C or SIGTERM, or until nothing is left to do."""
    database = open_database(settings.database, create=False)
    await asyncio.to_thread(_open, database)
    try:
        # Whoever supervises us knows us by this name, and sees to our rows when we die.
        name = os.environ.pop(WORKER_NAME, "") or fresh_worker_name()
        plane = DataPlane(
            database,
            _lines(database, name, settings),
            name=name,
            lease=settings.lease_seconds,
            heartbeat=settings.heartbeat_seconds,
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, plane.stop)
        _log.info("data plane started", plane=plane.name, pid=os.getpid())
        await (plane.drain() if once else plane.run())
        _log.info("data plane stopped", plane=plane.name)
    finally:
        await asyncio.to_thread(database.close)


def _lines(database: Database, name: str, settings: Settings) -> list[Line]:
    """What this data plane does."""
    lease, heartbeat = settings.lease_seconds, settings.heartbeat_seconds
    return [JobLine(database, {JobKind.DELETE: delete}, name=name, lease=lease, heartbeat=heartbeat)]


def _open(database: Database) -> None:
    database.open()
    try:
        if missing := pending(database, PRODUCT):
            raise DatabaseUnavailable(
                f"the database lacks {', '.join(missing)}; run `kurabito serve` or `kurabito db migrate` first"
            )
    except BaseException:
        database.close()
        raise

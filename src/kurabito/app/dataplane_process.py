"""The data plane as a process that is started again when it dies, and that dies with us."""

from __future__ import annotations

import sys

from kurabito.db import Database, leases
from kurabito.errors import ConfigError
from kurabito.protocol import planes
from kurabito.protocol.rights import LEASED
from kurabito.protocol.terms import STOP_SECONDS
from kurabito.runtime.worker.supervisor import Supervisor
from kurabito.settings import PREFIX, Settings


def supervised_plane(settings: Settings, database: Database) -> Supervisor:
    """A supervisor of one data plane on the same database; raises ConfigError where none could use it."""
    if database.pooled:
        raise ConfigError(
            "the database is reached through a pooler like PgBouncer, which a data plane cannot use; give the URL of the "
            "server itself, or serve with --no-dataplane and run `kurabito dataplane` with that URL"
        )
    # Not as arguments, where every user of the machine could read a password in them.
    environment = {f"{PREFIX}STATE": str(settings.state), f"{PREFIX}DATABASE": settings.database, **log_of(settings)}
    command = [sys.executable, "-m", "kurabito.cli", "dataplane"]
    return Supervisor(_Planes(database), command, role="data plane", environment=environment, stop_limit=STOP_SECONDS)


def log_of(settings: Settings) -> dict[str, str]:
    """How the data plane logs: as we do."""
    return {f"{PREFIX}LOG_LEVEL": settings.log_level}


class _Planes:
    """Sees to what a dead data plane left: it is no longer on the list, and what it held goes to another at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def expire_worker(self, name: str) -> int:
        return await self._database.write(lambda conn: planes.expire(conn, name))

    async def recover(self) -> int:
        return await self._database.write(lambda conn: sum(len(leases.recover(conn, spec)) for spec in LEASED))

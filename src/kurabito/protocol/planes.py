"""Data planes say that they live, and since when, in a table of their own: they run no tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from kurabito.clock import SECOND, to_datetime
from kurabito.db import Connection, Database, Queries, leases
from kurabito.protocol.rights import LEASED
from kurabito.protocol.version import SPOKEN, check

_SQL: Final = Queries("kurabito.protocol", "planes.sql")


@dataclass(frozen=True, slots=True)
class PlaneRecord:
    """A data plane that says it is alive."""

    name: str
    lines: tuple[str, ...]
    """The kinds of work that it does."""
    version: str
    protocol: str
    """The version of the protocol that it speaks, as `major.minor`."""
    capabilities: tuple[str, ...]
    """What of the protocol it can do."""
    started_at: datetime
    heartbeat_at: datetime


class Planes(Protocol):
    """What touches the disks."""

    async def living(self) -> Sequence[PlaneRecord]:
        """The data planes that are alive."""
        ...


def announce(
    conn: Connection, name: str, lines: Sequence[str], version: str, lease: float, capabilities: Sequence[str] = ()
) -> None:
    """Say that a data plane lives; it is believed for `lease` seconds. Raises ProtocolMismatch."""
    check(conn)
    values = {
        "name": name,
        "lines": json.dumps(list(lines)),
        "version": version,
        "protocol": str(SPOKEN),
        "capabilities": json.dumps(list(capabilities)),
        "lease": round(lease * SECOND),
    }
    conn.run(_SQL.announce, values)
    conn.run(_SQL.forget_dead)


def depart(conn: Connection, name: str) -> bool:
    """Forget a data plane that stopped, or is known to be dead; false when it was not known."""
    return conn.run(_SQL.depart, {"name": name}) == 1


def expire(conn: Connection, name: str) -> int:
    """See to a data plane that is known to be dead: whatever it held may be taken from it now. How many rows that are."""
    depart(conn, name)
    return sum(leases.expire(conn, spec, name) for spec in LEASED)


def living(conn: Connection) -> list[PlaneRecord]:
    """The data planes that are alive."""
    return [
        PlaneRecord(
            name,
            tuple(json.loads(lines)),
            version,
            protocol,
            tuple(json.loads(capabilities)),
            to_datetime(started_at),
            to_datetime(heartbeat_at),
        )
        for name, lines, version, protocol, capabilities, started_at, heartbeat_at in conn.all(_SQL.living)
    ]


class DataPlanes:
    """The data planes of one database, for code that must not wait."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def living(self) -> Sequence[PlaneRecord]:
        """Those that are alive."""
        return await self._database.read(living)

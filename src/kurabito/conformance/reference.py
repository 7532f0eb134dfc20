"""Our own data plane inside of this process: it prepares what a scenario needs, and is compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from kurabito.dataplane.hashing.job import HashFiles
from kurabito.dataplane.jobs import JobWork
from kurabito.dataplane.leasing.runner import Runner
from kurabito.dataplane.scan.scanner import Scanner
from kurabito.db import Database
from kurabito.protocol import planes
from kurabito.protocol.enums import JobKind

NAME: Final = "reference"
_LONG: Final = 600.0


def work(database: Database, state: Path) -> None:
    """Do every scan and hash that waits."""
    database.write_blocking(lambda conn: planes.announce(conn, NAME, ["reference"], "1", _LONG))
    runner = Runner(
        database, JobWork({JobKind.SCAN: Scanner(state), JobKind.HASH: HashFiles()}), name=NAME, lease=_LONG
    )
    while runner.work():
        pass
    runner.leased.rest()
    database.write_blocking(lambda conn: planes.depart(conn, NAME))

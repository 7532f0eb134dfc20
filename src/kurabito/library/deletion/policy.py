"""Whether anything may be removed: told by the setting `allow_delete`, and stored where every data plane sees it.

A data plane may run on another machine, with other settings, and outlive the control plane. So it asks the database, each time.
"""

from __future__ import annotations

from typing import Final

from kurabito.db import Connection, Queries
from kurabito.logs import get_logger
from kurabito.protocol.deletion import MAY_REMOVE

_SQL: Final = Queries("kurabito.library.deletion", "policy.sql", may_remove=MAY_REMOVE)

_log = get_logger(__name__)


def store(conn: Connection, *, allowed: bool) -> None:
    """Store the policy for all data planes; the control plane that started last decides."""
    if is_allowed(conn) is not allowed:
        _log.info("removing files is allowed from now on" if allowed else "removing files is not allowed from now on")
    conn.run(_SQL.store, {"allow_delete": int(allowed)})


def is_allowed(conn: Connection) -> bool:
    """What data planes read; not when nothing was ever stored."""
    return conn.one(_SQL.is_allowed) is not None

"""Downloads that were left: by what kept them from being taken, by a task that died, by a downloader that was removed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.downloads import store
from kurabito.downloads.dispatch.attempts import given_ids

_SQL: Final = Queries("kurabito.downloads.dispatch", "recovery.sql")


def requeue_due(conn: Connection) -> list[int]:
    """Queue those that are to be tried again by now; the ids."""
    found = sorted(one for (one,) in conn.all(_SQL.requeue_due))
    store.restate_episodes(conn, found)
    return found


def stuck(conn: Connection, soon: int, age: int) -> list[int]:
    """Those that have been on their way for longer than `soon`; what was rescued before, for longer than `age`."""
    return [one for (one,) in conn.all(_SQL.stuck, {"soon": soon, "age": age})]


def rescue(conn: Connection, download_ids: Iterable[int], soon: int) -> list[int]:
    """Queue again those of these that no task has; the ids."""
    found = conn.all(_SQL.rescue, {**given_ids(download_ids), "soon": soon})
    return sorted(one for (one,) in found)


def readopt(conn: Connection, module_id: int, module_name: str) -> int:
    """Give a downloader that was removed, and is back by the same name, what it had; how much that is."""
    who = {"module_id": module_id, "module_name": module_name}
    found = [one for (one,) in conn.all(_SQL.readopt, who)]
    conn.run(_SQL.readopt_attempts, {**given_ids(found), **who})
    conn.run(_SQL.readopt_cleanups, who)
    return len(found)

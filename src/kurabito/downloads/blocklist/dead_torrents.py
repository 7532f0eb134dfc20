"""Torrents that no peer has: after a time they have failed."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from kurabito.db import Connection, Queries
from kurabito.downloads import store
from kurabito.downloads.dispatch import attempts
from kurabito.downloads.reasons import DownloadReason, because
from kurabito.downloads.states import CleanupKind

_SQL: Final = Queries("kurabito.downloads.blocklist", "dead_torrents.sql")


def give_up_dead(conn: Connection, age: timedelta) -> set[int]:
    """Fail what no peer has had for so long; the downloaders that have something to clean up."""
    found = conn.all(_SQL.dead, {"age": age // timedelta(microseconds=1)})
    hours = round(age / timedelta(hours=1), 1)
    cleanups: set[int] = set()
    for code, lacks_info in ((DownloadReason.NO_METADATA, 1), (DownloadReason.DEAD, 0)):
        ids = [one for one, lacks in found if lacks == lacks_info]
        given = {**attempts.given_ids(ids), "reason": because(code, hours=hours).stored()}
        failed = [one for (one,) in conn.all(_SQL.fail, given)] if ids else []
        store.restate_episodes(conn, failed)
        cleanups |= attempts.request_cleanup(conn, failed, CleanupKind.CANCEL)
    return cleanups

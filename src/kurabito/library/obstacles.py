"""What a user should know before a library is removed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from kurabito.db import Connection, Queries
from kurabito.library import jobs
from kurabito.library.libraries import Library
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.protocol.enums import JobKind

_SQL: Final = Queries("kurabito.library", "removal.sql")


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What is under way in a library, or would be lost with it."""

    at_work: JobKind | None = None
    """A scan or hash of it, which is cancelled."""
    deletes: int = 0
    """Jobs that delete or put back files of it; the removal waits for them."""
    trashed: int = 0
    """Files in its trash, which stay there and are forgotten."""
    trashed_bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.at_work or self.deletes or self.trashed)

    def sentence(self, name: str) -> str:
        """The same as a sentence."""
        parts = []
        if self.at_work is not None:
            parts.append(f"a {self.at_work} of the library {name!r} is running")
        if self.deletes:
            parts.append(f"files of the library {name!r} are being deleted or restored")
        if self.trashed:
            files = "1 file" if self.trashed == 1 else f"{self.trashed} files"
            parts.append(
                f"the trash of the library {name!r} has {files}: it stays in the folder {TRASH_FOLDER}, "
                "to restore from after the folder is added again"
            )
        return "; ".join(parts)


def of(conn: Connection, library: Library) -> Obstacles:
    """What is in the way of removing a library now."""
    ((trashed, trashed_bytes),) = conn.all(_SQL.trashed, {"id": library.id})
    busy = next((job.kind for job in jobs.active(conn) if job.library_id == library.id), None)
    return Obstacles(busy, deletes_under_way(conn, library.id), trashed, trashed_bytes)


def deletes_under_way(conn: Connection, library_id: int) -> int:
    """How many jobs delete or restore files of a library, or are about to."""
    orders = [json.loads(payload) for (payload,) in conn.all(_SQL.delete_orders)]
    return sum(_concerns(conn, order, library_id) for order in orders)


def _concerns(conn: Connection, order: dict[str, Any], library_id: int) -> bool:
    if "plan" in order:
        return conn.one(_SQL.plan_concerns, {"plan": order["plan"], "id": library_id}) is not None
    named = {*order.get("restore", ()), *order.get("purge", ())}
    return bool(named) and any(entry in named for (entry,) in conn.all(_SQL.entries_concern, {"id": library_id}))

"""Episodes whose release is still to be chosen: by their keeper, or automatically when the wait is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from kurabito.catalog.linker import lock_catalog
from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Database
from kurabito.db.port import Row
from kurabito.downloads.choice import Choice, CurrentDownload
from kurabito.downloads.errors import ConflictNotFound, ConflictResolved
from kurabito.downloads.grabber import Grabber
from kurabito.downloads.reasons import DispatchCause
from kurabito.downloads.release_options import CONFLICT, SQL, choose_among, current_downloads
from kurabito.downloads.states import Status
from kurabito.downloads.tasks import CHOOSE, ChooseTask
from kurabito.errors import InvalidInput
from kurabito.reasons import InputReason, refused
from kurabito.runtime import Registry
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before
from kurabito.titles import ReleaseKind

_RESOLVED: Final = "resolved"


@dataclass(frozen=True, slots=True)
class ConflictRelease:
    """A release that can be chosen."""

    link_id: int
    title: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """An episode, and the releases of it that there are."""

    id: int
    episode_id: int
    series_id: int
    series: str
    kind: ReleaseKind
    number: float
    status: str
    due_at: datetime | None
    link_id: int | None
    created_at: datetime
    releases: tuple[ConflictRelease, ...]


class Conflicts:
    """The conflicts of one database."""

    def __init__(self, database: Database, grabber: Grabber) -> None:
        self._database = database
        self._grabber = grabber

    def join(self, registry: Registry) -> None:
        """Have releases chosen when their wait is over."""
        registry.task(CHOOSE)(self.choose)

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> Page[Conflict]:
        """Those that are open, the newest first."""
        before = id_before(cursor)

        def look(conn: Connection) -> list[Conflict]:
            found = conn.all(SQL.page, {"before": before, "limit": limit + 1})
            return [_conflict(conn, row) for row in found]

        return Page.cut(await self._database.read(look), limit, lambda last: str(last.id))

    async def of_series(self, series_id: int) -> list[Conflict]:
        """Those of one series that are open."""

        def look(conn: Connection) -> list[Conflict]:
            return [_conflict(conn, row) for row in conn.all(SQL.open_of_series, {"series_id": series_id})]

        return await self._database.read(look)

    async def resolve(self, conflict_id: int, link_id: int) -> Conflict:
        """Take this release, and no other of the episode; raises ConflictNotFound, ConflictResolved or InvalidInput."""

        def write(conn: Connection) -> Conflict:
            lock_catalog(conn)
            conflict = _find(conn, conflict_id)
            if conflict.status == _RESOLVED:
                raise ConflictResolved(f"a release was chosen for conflict {conflict_id} already")
            if link_id not in {one.link_id for one in conflict.releases}:
                problem = f"must be one of the releases of the conflict, got {link_id}"
                raise InvalidInput("link_id", problem, refused(InputReason.GONE))
            others = [one for one in current_downloads(conn, conflict.episode_id) if one.option.link_id != link_id]
            self._finish(conn, conflict_id, link_id, Choice([link_id], _replaced(others)))
            return _find(conn, conflict_id)

        return await self._database.write(write)

    async def choose(self, task: ChooseTask) -> int | None:
        """Choose the best of what came while an episode waited; the link."""

        def write(conn: Connection) -> int | None:
            lock_catalog(conn)
            try:
                conflict = _find(conn, task.conflict_id)
            except ConflictNotFound:
                return None
            if conflict.status == _RESOLVED:
                return None
            choice = choose_among(conn, [one.link_id for one in conflict.releases], waits=False)
            chosen = choice.dispatch[0] if choice.dispatch else None
            self._finish(conn, conflict.id, chosen, choice)
            return chosen

        return await self._database.write(write)

    def _finish(self, conn: Connection, conflict_id: int, link_id: int | None, choice: Choice) -> None:
        conn.run(SQL.resolve, {"id": conflict_id, "link_id": link_id})
        self._grabber.carry_out(conn, choice, DispatchCause.CHOSEN)


def _replaced(others: Sequence[CurrentDownload]) -> list[int]:
    return [one.download_id for one in others if one.status is not Status.COMPLETED]


def _find(conn: Connection, conflict_id: int) -> Conflict:
    row = conn.one(SQL.get, {"id": conflict_id})
    if row is None:
        raise ConflictNotFound(f"no conflict has the id {conflict_id}")
    return _conflict(conn, row)


def _conflict(conn: Connection, row: Row) -> Conflict:
    of = CONFLICT.row(row)
    releases = conn.all(SQL.open_links, {"episode_id": of.episode_id})
    return Conflict(
        of.id,
        of.episode_id,
        of.series_id,
        of.title,
        ReleaseKind(of.kind),
        of.number,
        of.status,
        optional_datetime(of.due_at),
        of.link_id,
        to_datetime(of.created_at),
        tuple(ConflictRelease(*one) for one in releases),
    )

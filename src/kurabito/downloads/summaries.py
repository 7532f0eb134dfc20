"""Summaries of downloads for lists: what became of many links."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kurabito.db import Connection, Database, Queries
from kurabito.downloads.states import Status

_SQL: Final = Queries("kurabito.downloads", "summaries.sql")


@dataclass(frozen=True, slots=True)
class DownloadSummary:
    """The last download of a link."""

    download_id: int
    status: Status
    progress: float


class DownloadSummaries:
    """Summarizes many at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_links(self, link_ids: Iterable[int]) -> Mapping[int, DownloadSummary]:
        """What became of these links; one that was never downloaded is left out."""
        given = {"rows": json.dumps([{"id": link_id} for link_id in link_ids])}

        def look(conn: Connection) -> dict[int, DownloadSummary]:
            return {
                link_id: DownloadSummary(download_id, Status(status), progress)
                for link_id, download_id, status, progress in conn.all(_SQL.of_links, given)
            }

        return await self._database.read(look)

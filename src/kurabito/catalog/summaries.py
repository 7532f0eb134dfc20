"""Summaries of the catalog for lists: what became of items, and how far series are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kurabito.catalog.states import SHOWN_STATE, EpisodeState, FilterReason, HeldReason
from kurabito.db import Connection, Database, Queries
from kurabito.feeds.raw_items import RawItem
from kurabito.reasons import Reason, read_reason
from kurabito.titles import ReleaseKind

_SQL: Final = Queries("kurabito.catalog", "summaries.sql", shown_state=SHOWN_STATE)


@dataclass(frozen=True, slots=True)
class ItemDecision:
    """What became of a release: the series and episodes that it is of, and why it is not downloaded."""

    series_id: int
    title: str
    season: int
    held_reason: HeldReason | None
    is_filtered: bool
    filter_reason: Reason[FilterReason] | None
    kind: ReleaseKind | None
    first: float | None
    """Its first episode; None when its title names none."""
    last: float | None


class CatalogSummaries:
    """Summarizes many at once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def decisions(self, items: Iterable[RawItem]) -> Mapping[str, ItemDecision]:
        """What became of these items, by their release keys."""
        rows = [{"release_key": item.release_key} for item in items if item.release_key is not None]
        return await self._database.read(lambda conn: _decisions(conn, rows)) if rows else {}

    async def followed(self, metadata_ids: Iterable[int]) -> Mapping[int, int]:
        """The series that are followed of what these records are about, by the records."""
        rows = [{"id": metadata_id} for metadata_id in metadata_ids]
        return await self._database.read(lambda conn: _followed(conn, rows)) if rows else {}

    async def progress(self, series_ids: Iterable[int]) -> Mapping[int, Counter[EpisodeState]]:
        """How many of their regular episodes are in which state."""
        rows = [{"id": series_id} for series_id in series_ids]
        return await self._database.read(lambda conn: _progress(conn, rows)) if rows else {}

    async def groups(self, *, limit: int) -> Mapping[int, str]:
        """The names of the groups that made releases, in their order."""
        rows = await self._database.read(lambda conn: conn.all(_SQL.groups, {"limit": limit}))
        return dict(rows)

    async def group(self, group_id: int) -> str | None:
        """What one group is called; None when it is not known."""
        name: str | None = await self._database.read(lambda conn: conn.value(_SQL.group, {"id": group_id}))
        return name


def _decisions(conn: Connection, rows: list[dict[str, str]]) -> dict[str, ItemDecision]:
    found = conn.all(_SQL.decisions, {"rows": json.dumps(rows)})
    return {
        key: ItemDecision(
            series_id,
            title,
            season,
            None if held is None else HeldReason(held),
            bool(is_filtered),
            read_reason(FilterReason, why),
            None if kind is None else ReleaseKind(kind),
            first,
            last,
        )
        for key, series_id, title, season, held, is_filtered, why, kind, first, last in found
    }


def _followed(conn: Connection, rows: list[dict[str, int]]) -> dict[int, int]:
    return dict(conn.all(_SQL.followed, {"rows": json.dumps(rows)}))


def _progress(conn: Connection, rows: list[dict[str, int]]) -> dict[int, Counter[EpisodeState]]:
    counted: dict[int, Counter[EpisodeState]] = {row["id"]: Counter() for row in rows}
    for series_id, state, count in conn.all(_SQL.progress, {"rows": json.dumps(rows)}):
        counted[series_id][EpisodeState(state)] = count
    return counted

"""Summaries of the catalog for lists: what became of items, how far series are, what came last and what is shown next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kurabito.catalog.states import SHOWN_STATE, EpisodeState, FilterReason, HeldReason
from kurabito.clock import SECOND, to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.feeds.raw_items import RawItem
from kurabito.protocol.leased.placements import PlacedBy
from kurabito.reasons import Reason, read_reason
from kurabito.titles import ReleaseKind, ReleaseTitle, parse_title

_DECISION: Final = ColumnList(
    "link.release_key, series.id, series.title, series.season, link.held_reason, max(link.is_filtered) AS is_filtered, "
    "max(link.filter_reason) AS filter_reason, max(episode.kind) AS episode_kind, min(episode.number) AS first_number, "
    "max(episode.number) AS last_number"
)
_EPISODE_FILE: Final = ColumnList(
    "had.episode_id, file.id, file.library_id, file.relative_path, file.size_bytes, file.is_missing"
)
SQL: Final = Queries(
    "kurabito.catalog", "summaries.sql", shown_state=SHOWN_STATE, decision=_DECISION, episode_file=_EPISODE_FILE
)
_HAD: Final = (EpisodeState.HAVE, EpisodeState.DOWNLOADED)
_LOOKED_AT: Final = 200
"""Files of a folder in which an episode is looked for: one that has none of a show is not read to its end."""


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


@dataclass(frozen=True, slots=True)
class RecentEpisode:
    """An episode, and when it came into a library or is shown."""

    series_id: int
    season: int
    kind: ReleaseKind
    number: float
    state: EpisodeState
    at: datetime


@dataclass(frozen=True, slots=True)
class EpisodeFile:
    """A file of a library that an episode is in."""

    id: int
    library_id: int
    relative_path: str
    size_bytes: int
    is_missing: bool
    method: PlacedBy | None
    """How it came there; None when it lay there before."""
    is_trashed: bool = False
    """It lies in the trash of its library."""
    released_as: str | None = None
    """The title of the release that it came in; None when it lay there before."""

    @property
    def folder(self) -> str:
        return self.relative_path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return self.relative_path.rpartition("/")[2]

    @property
    def release(self) -> ReleaseTitle:
        """What is said of the release that it is, by its title; by the name of the file where that is not known."""
        return parse_title(self.released_as or self.name)


@dataclass(frozen=True, slots=True)
class RecordUses:
    """The series and folders that a record says what they are."""

    series_ids: tuple[int, ...]
    match_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShowExtent:
    """How much of a show is there."""

    had: int
    aired: int
    """What could be there: all but what is not shown yet, or not wanted."""
    under_way: int

    @classmethod
    def of(cls, counted: Mapping[EpisodeState, int]) -> ShowExtent:
        known = sum(counted.values())
        had = sum(counted.get(state, 0) for state in _HAD)
        absent = counted.get(EpisodeState.UNAIRED, 0) + counted.get(EpisodeState.UNWANTED, 0)
        return cls(had, known - absent, counted.get(EpisodeState.DOWNLOADING, 0))


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

    async def has_shows(self) -> bool:
        """Whether any show is followed."""
        return await self._database.read(lambda conn: conn.one(SQL.any_followed) is not None)

    async def arrived(self, *, limit: int) -> Sequence[RecentEpisode]:
        """What came into a library and is there, the newest first."""
        return await self._database.read(lambda conn: [_recent(row) for row in conn.all(SQL.arrived, {"limit": limit})])

    async def airing(self, *, before: timedelta, after: timedelta, limit: int) -> Sequence[RecentEpisode]:
        """What is shown of the series that are followed, from a while before now until a while after it."""

        def look(conn: Connection) -> list[RecentEpisode]:
            now = conn.now()
            span = {"since": now - _microseconds(before), "until": now + _microseconds(after), "limit": limit}
            return [_recent(row) for row in conn.all(SQL.airing, span)]

        return await self._database.read(look)

    async def files(self, series_id: int) -> Mapping[int, Sequence[EpisodeFile]]:
        """The files of a series by its episodes, those first that are there."""
        rows = await self._database.read(lambda conn: conn.all(SQL.files, {"id": series_id}))
        found: dict[int, list[EpisodeFile]] = {}
        for *columns, method, released_as, is_trashed in rows:
            row = _EPISODE_FILE.row(columns)
            how = None if method is None else PlacedBy(method)
            file = EpisodeFile(
                row.id,
                row.library_id,
                row.relative_path,
                row.size_bytes,
                bool(row.is_missing),
                how,
                bool(is_trashed),
                released_as,
            )
            found.setdefault(row.episode_id, []).append(file)
        return found

    async def shows_of_folders(self, library_id: int, folders: Sequence[str]) -> Mapping[str, int]:
        """The series that folders of a library are of, as far as that is known, by the folders."""
        if not folders:
            return {}
        # Everything below a folder sorts behind its slash and before the character after that.
        rows = [{"folder": one, "begin": f"{one}/", "end": f"{one}0"} for one in folders]
        values = {"library_id": library_id, "rows": json.dumps(rows), "looked_at": _LOOKED_AT}
        found = await self._database.read(lambda conn: conn.all(SQL.shows_of_folders, values))
        return {folder: series_id for folder, series_id in found if series_id is not None}

    async def match_of_folder(self, library_id: int, folder: str) -> int | None:
        """The match of a folder, or of the nearest one above it that was looked at; None when there is none."""
        names = folder.split("/")
        above = ["/".join(names[:depth]) for depth in range(len(names), 0, -1)]
        values = {"library_id": library_id, "rows": json.dumps([{"folder": one} for one in above])}
        found: int | None = await self._database.read(lambda conn: conn.value(SQL.match_of_folders, values))
        return found

    async def of_record(self, metadata_id: int) -> RecordUses:
        """What a record is used for."""

        def look(conn: Connection) -> RecordUses:
            series = tuple(one for (one,) in conn.all(SQL.series_of_record, {"id": metadata_id}))
            return RecordUses(series, tuple(one for (one,) in conn.all(SQL.matches_of_record, {"id": metadata_id})))

        return await self._database.read(look)

    async def groups(self, *, limit: int) -> Mapping[int, str]:
        """The names of the groups that made releases, in their order."""
        rows = await self._database.read(lambda conn: conn.all(SQL.groups, {"limit": limit}))
        return dict(rows)

    async def group(self, group_id: int) -> str | None:
        """What one group is called; None when it is not known."""
        name: str | None = await self._database.read(lambda conn: conn.value(SQL.group, {"id": group_id}))
        return name


def _decisions(conn: Connection, rows: list[dict[str, str]]) -> dict[str, ItemDecision]:
    found = conn.all(SQL.decisions, {"rows": json.dumps(rows)})
    return {
        row.release_key: ItemDecision(
            row.id,
            row.title,
            row.season,
            None if row.held_reason is None else HeldReason(row.held_reason),
            bool(row.is_filtered),
            read_reason(FilterReason, row.filter_reason),
            None if row.episode_kind is None else ReleaseKind(row.episode_kind),
            row.first_number,
            row.last_number,
        )
        for row in map(_DECISION.row, found)
    }


def _followed(conn: Connection, rows: list[dict[str, int]]) -> dict[int, int]:
    return dict(conn.all(SQL.followed, {"rows": json.dumps(rows)}))


def _progress(conn: Connection, rows: list[dict[str, int]]) -> dict[int, Counter[EpisodeState]]:
    counted: dict[int, Counter[EpisodeState]] = {row["id"]: Counter() for row in rows}
    for series_id, state, count in conn.all(SQL.progress, {"rows": json.dumps(rows)}):
        counted[series_id][EpisodeState(state)] = count
    return counted


def _recent(row: Row) -> RecentEpisode:
    series_id, season, kind, number, state, at = row
    return RecentEpisode(series_id, season, ReleaseKind(kind), number, EpisodeState(state), to_datetime(at))


def _microseconds(length: timedelta) -> int:
    return round(length.total_seconds() * SECOND)

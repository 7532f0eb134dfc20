"""The calendar: what is on this week, and what began in any season."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries
from kurabito.errors import InvalidInput
from kurabito.metadata import records
from kurabito.metadata.messages import MetadataHandle
from kurabito.metadata.records import Details, Metadata
from kurabito.metadata.sources import offline
from kurabito.metadata.sources.bangumi import Airing, BangumiClient
from kurabito.metadata.sources.bangumi_data import OfflineEntry
from kurabito.runtime import Registry
from kurabito.runtime.delegation import DelegatedTasks

# With their table: a day of the calendar has a weekday of its own.
_SQL: Final = Queries("kurabito.metadata", "calendar.sql", record=records.OWN_RECORD)
REFRESH: Final = "metadata.refresh_calendar"
KEEP: Final = "metadata.keep_calendar"
_LOOKED_AT_EVERY: Final = 3600.0
_OLD: Final = timedelta(days=1)
SEASON_MONTHS: Final = (1, 4, 7, 10)
_EARLY: Final = timedelta(days=14)
_KEPT: Final = tuple(Details.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Week:
    """What is on this week, by weekday (1 is Monday)."""

    days: dict[int, list[Metadata]]
    refreshed_at: datetime | None
    """None when bgm.tv was never asked."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh brought."""

    entries: int
    created: int


@dataclass(frozen=True, slots=True)
class SeasonStart:
    """An entry of a season, and its record where there is one."""

    entry: OfflineEntry
    metadata_id: int | None
    poster_url: str | None


class CalendarService:
    """The calendar of one database."""

    def __init__(self, queue: DelegatedTasks, bangumi: BangumiClient, handle: MetadataHandle) -> None:
        self._queue = queue
        self._database = queue.database
        self._bangumi = bangumi
        self._handle = handle

    def join(self, registry: Registry) -> None:
        """Register what a refresh is, and have an old calendar refreshed."""
        registry.task(REFRESH, concurrency=1)(self.refresh_calendar)
        registry.task(KEEP)(self.refresh_if_old)
        registry.every(_LOOKED_AT_EVERY, KEEP, unique_key=KEEP)

    async def begin_refresh(self) -> UUID:
        """Ask for a refresh; the task, which may be one that waits or runs already."""
        return (await self._queue.enqueue(REFRESH, unique_key=REFRESH)).id

    async def refresh_if_old(self) -> bool:
        """Ask for a refresh when the last one is more than a day ago; whether it was.

        Without a first request there is no calendar: no outside service is called before a user asks for it.
        """
        refreshed_at, now = await self._database.read(lambda conn: (_refreshed_at(conn), conn.now()))
        is_old = refreshed_at is not None and to_datetime(now) - refreshed_at > _OLD
        if is_old:
            await self.begin_refresh()
        return is_old

    async def refresh_calendar(self) -> Refreshed:
        """Ask bgm.tv what is on. What is new becomes a record, and is filled in by a sync; raises BgmtvError."""
        airing = await self._bangumi.calendar()
        refreshed = await self._database.write(lambda conn: _keep(conn, airing))
        if refreshed.created:
            await self._handle.trigger_sync()
        return refreshed

    async def week(self) -> Week:
        """What is on this week, as bgm.tv said last."""
        return await self._database.read(_week)

    async def season(self, year: int, month: int) -> list[SeasonStart]:
        """What began in the season that begins with this month, by the offline index.

        The last two weeks of a quarter belong to the season after it: its shows begin that early.
        """
        if month not in SEASON_MONTHS:
            raise InvalidInput("month", f"a season begins in month {', '.join(map(str, SEASON_MONTHS))}, got {month}")
        first = date(year, month, 1)
        last = date(year + 1, 1, 1) if month == SEASON_MONTHS[-1] else date(year, month + 3, 1)
        return await self._database.read(lambda conn: _begun(conn, first - _EARLY, last - _EARLY))

    async def years(self) -> range:
        """The years whose seasons the offline index knows; none when nothing was imported."""
        return await self._database.read(offline.years)


def _keep(conn: Connection, airing: Sequence[Airing]) -> Refreshed:
    entries = {entry.details.bgm_id: entry for entry in _in_all_languages(conn, airing)}
    created = 0
    conn.run(_SQL.forget)
    for place, entry in enumerate(entries.values()):
        assert entry.details.bgm_id is not None
        known = records.of_bgm(conn, entry.details.bgm_id)
        if known is None:
            known = records.add(conn, entry.details)
            created += 1
        elif missing := _missing(known.details, entry.details):
            records.change(conn, known.id, missing)
        conn.run(_SQL.add, {"metadata_id": known.id, "weekday": entry.weekday, "place": place})
    return Refreshed(len(entries), created)


def _in_all_languages(conn: Connection, airing: Sequence[Airing]) -> list[Airing]:
    """The same with the titles that the offline index knows and bgm.tv does not have: it has no English ones."""
    known = offline.find_entries(conn, [entry.details for entry in airing])
    return [
        entry if found is None else entry._replace(details=_named_by(found, entry.details))
        for entry, found in zip(airing, known, strict=True)
    ]


def _named_by(found: OfflineEntry, details: Details) -> Details:
    chinese = details.title_chinese or found.title_chinese
    return replace(details, title_english=found.title_english, title_chinese=chinese)


def _missing(known: Details, new: Details) -> dict[str, Any]:
    """What a record does not know yet and bgm.tv does. What it knows may have been set by its keeper."""
    return {
        name: getattr(new, name) for name in _KEPT if getattr(known, name) is None and getattr(new, name) is not None
    }


def _begun(conn: Connection, first: date, last: date) -> list[SeasonStart]:
    entries = offline.begun_between(conn, first, last)
    rows = conn.all(_SQL.followed, {"first": first.isoformat(), "last": last.isoformat()})
    followed = {bgm_id: (metadata_id, poster_url) for bgm_id, metadata_id, poster_url in rows}
    return [SeasonStart(entry, *followed.get(entry.ids.bgm_id, (None, None))) for entry in entries]


def _week(conn: Connection) -> Week:
    days: dict[int, list[Metadata]] = {day: [] for day in range(1, 8)}
    for weekday, *row in conn.all(_SQL.week):
        days[weekday].append(records.record_of(tuple(row)))
    return Week(days, _refreshed_at(conn))


def _refreshed_at(conn: Connection) -> datetime | None:
    moment = conn.value(_SQL.refreshed_at)
    return optional_datetime(moment)

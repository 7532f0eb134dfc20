"""How the services are that metadata comes from: when each last answered, why it last failed, and what that holds back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from kurabito.clock import SECOND, Clock, SystemClock, optional_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.rows import ColumnList
from kurabito.http.errors import BadStatus, TimedOut, Unreachable, UrlNotAllowed
from kurabito.logs import mask_text
from kurabito.metadata import pending
from kurabito.metadata.errors import IndexRefused
from kurabito.metadata.sources import offline

_SOURCE: Final = ColumnList("name, succeeded_at, failed_at, error_code, error_message")
_SQL: Final = Queries("kurabito.metadata", "health.sql", source=_SOURCE)
_SAID_AGAIN_AFTER: Final = 60 * SECOND
_LONGEST_MESSAGE: Final = 500
_KEY_REFUSED: Final = (401, 403)
_TOO_MANY: Final = 429


class MetadataSource(StrEnum):
    """Where metadata comes from."""

    TMDB = "tmdb"
    BGM = "bgm"
    INDEX = "index"


class SourceFailure(StrEnum):
    """Why a source failed. Stable: an interface translates it."""

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    NOT_ALLOWED = "not_allowed"
    """Its host is in our own network, and no setting allows that."""
    KEY_REFUSED = "key_refused"
    TOO_MANY_REQUESTS = "too_many_requests"
    BAD_STATUS = "bad_status"
    BAD_ANSWER = "bad_answer"
    INDEX_REFUSED = "index_refused"
    """The file would replace a better index."""


class SourceState(StrEnum):
    """How a source is."""

    OFF = "off"
    """Nothing is asked there: TMDB has no key, or no index was imported."""
    UNUSED = "unused"
    """Nothing was asked there yet."""
    WORKING = "working"
    FAILING = "failing"
    """The last request failed."""


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How one source is."""

    source: MetadataSource
    state: SourceState
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None
    failure: SourceFailure | None = None
    """Why it failed last, also when it works again."""
    message: str | None = None
    held_back: int = 0
    """How many records wait for it."""


def failure_of(error: BaseException) -> SourceFailure:
    """Why a request failed, by the error or by what caused it."""
    cause = error.__cause__ or error
    match cause:
        case IndexRefused():
            return SourceFailure.INDEX_REFUSED
        case TimedOut():
            return SourceFailure.TIMED_OUT
        case Unreachable():
            return SourceFailure.UNREACHABLE
        case UrlNotAllowed():
            return SourceFailure.NOT_ALLOWED
        case BadStatus(answered=status) if status in _KEY_REFUSED:
            return SourceFailure.KEY_REFUSED
        case BadStatus(answered=status) if status == _TOO_MANY:
            return SourceFailure.TOO_MANY_REQUESTS
        case BadStatus():
            return SourceFailure.BAD_STATUS
    return SourceFailure.BAD_ANSWER


def note_success(conn: Connection, source: MetadataSource) -> None:
    """Write down that a source answered."""
    conn.run(_SQL.note_success, {"name": source})


def last_failure(conn: Connection, source: MetadataSource) -> datetime | None:
    """When a source failed last."""
    failed_at = conn.value(_SQL.failed_at, {"name": source})
    return optional_datetime(failed_at)


class SourceReports:
    """Takes down how requests ended. The same outcome is written once a minute at most; without a database, not at all."""

    def __init__(self, database: Database | None = None, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock or SystemClock()
        self._said: dict[MetadataSource, tuple[SourceFailure | None, int]] = {}

    async def succeeded(self, source: MetadataSource) -> None:
        """The source answered."""
        if self._database is not None and self._is_news(source, None):
            await self._database.write(lambda conn: note_success(conn, source))

    async def failed(self, source: MetadataSource, error: Exception) -> None:
        """The source did not answer as it should."""
        failure = failure_of(error)
        if self._database is not None and self._is_news(source, failure):
            message = mask_text(str(error))[:_LONGEST_MESSAGE]
            values = {"name": source, "code": failure, "message": message}
            await self._database.write(lambda conn: conn.run(_SQL.note_failure, values))

    def _is_news(self, source: MetadataSource, outcome: SourceFailure | None) -> bool:
        said, at = self._said.get(source, (None, 0))
        now = self._clock.now()
        if at and said == outcome and now - at < _SAID_AGAIN_AFTER:
            return False
        self._said[source] = outcome, now
        return True


class SourceHealths:
    """How the sources of one installation are."""

    def __init__(self, database: Database, *, asks_tmdb: bool) -> None:
        self._database = database
        self.asks_tmdb = asks_tmdb

    async def all(self) -> dict[MetadataSource, SourceHealth]:
        """Every source."""
        return await self._database.read(self._look)

    async def failing(self) -> dict[MetadataSource, SourceHealth]:
        """The sources whose last request failed."""
        found = await self.all()
        return {source: health for source, health in found.items() if health.state is SourceState.FAILING}

    def _look(self, conn: Connection) -> dict[MetadataSource, SourceHealth]:
        rows = {row.name: row for row in map(_SOURCE.row, conn.all(_SQL.all))}
        off = {
            MetadataSource.TMDB: not self.asks_tmdb,
            MetadataSource.BGM: False,
            MetadataSource.INDEX: not offline.is_there(conn),
        }
        return {source: _health(conn, source, rows.get(source), is_off=off[source]) for source in MetadataSource}


def _health(conn: Connection, source: MetadataSource, row: Any, *, is_off: bool) -> SourceHealth:
    found = _SOURCE.row((source, None, None, None, None)) if row is None else row
    is_failing = found.failed_at is not None and found.failed_at > (found.succeeded_at or 0)
    if is_off and not (is_failing and source is MetadataSource.INDEX):
        return SourceHealth(source, SourceState.OFF)
    state = SourceState.UNUSED if found.succeeded_at is None else SourceState.WORKING
    return SourceHealth(
        source,
        SourceState.FAILING if is_failing else state,
        optional_datetime(found.succeeded_at),
        optional_datetime(found.failed_at),
        None if found.error_code is None else SourceFailure(found.error_code),
        found.error_message,
        _held_back(conn, source) if is_failing else 0,
    )


def _held_back(conn: Connection, source: MetadataSource) -> int:
    match source:
        case MetadataSource.TMDB:
            return pending.count_lookups(conn)
        case MetadataSource.BGM:
            return pending.count_without_poster(conn)
    return 0

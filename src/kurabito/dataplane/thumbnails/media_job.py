"""Inspections of the kind `media`: what is in some files of a library, read by a process that is not trusted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from kurabito.dataplane.errors import PathEscapes, RootUnavailable
from kurabito.dataplane.files.paths import Root
from kurabito.dataplane.io_limit import IoLimit
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import LeasedWork
from kurabito.dataplane.thumbnails.picture import MediaReading, ThumbnailFailed
from kurabito.dataplane.thumbnails.source import ThumbnailSource, look_at
from kurabito.db import Connection, Queries
from kurabito.logs import get_logger
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased.inspections import FINISH_COLUMNS, FINISH_VALUES, INSPECTIONS, InspectionKind
from kurabito.protocol.leased.retries import FINISH, FilingStatus, wait_after

_SQL: Final = Queries("kurabito.dataplane.thumbnails", "media_job.sql")
_READS: Final = 1 << 20
"""Bytes that a file is taken to cost until it is known."""
_NOT_THERE: Final = frozenset(
    {
        ErrorCode.FILE_MISSING,
        ErrorCode.FILE_CHANGED,
        ErrorCode.FILE_UNREADABLE,
        ErrorCode.PATH_ESCAPES,
        ErrorCode.ROOT_UNAVAILABLE,
        ErrorCode.THUMB_NOT_A_FILE,
    }
)
"""Nothing is stored about these: the next scan sees the file as it is."""

_log = get_logger(__name__)


class FactReading(Protocol):
    """What reads: `DecoderProcess`."""

    def read_facts(self, fd: int) -> MediaReading:
        """What is in an open file; raises ThumbnailFailed."""
        ...

    def interrupt(self) -> None:
        """End what is being read; safe in any thread."""
        ...

    def close(self) -> object:
        """Give back what is not needed while there is nothing to read."""
        ...


@dataclass(frozen=True, slots=True)
class InspectedMedia:
    """One file, and what is in it or why that is not known."""

    path: str
    size: int
    mtime_ns: int
    facts: str | None
    error_code: str | None


class MediaWork(LeasedWork[LeasedRow]):
    """Reads the files of one inspection after another, one at a time."""

    spec = INSPECTIONS
    noun = "media inspection"
    row_type = LeasedRow
    only = f"kind = '{InspectionKind.MEDIA}'"
    durable = False

    def __init__(self, reading: FactReading, *, limit: IoLimit | None = None) -> None:
        self._reading = reading
        self._limit = limit

    def rest(self) -> None:
        self._reading.close()

    def interrupt(self) -> None:
        self._reading.interrupt()

    def do(self, row: LeasedRow) -> None:
        folder = row.values["folder"]
        try:
            with Root(Path(folder)):
                pass
        except (RootUnavailable, PathEscapes):
            facts = json.dumps({"folder": folder}, ensure_ascii=False)
            waits = wait_after(row.values["tries"])
            self._end(row, [FilingStatus.PENDING.value, ErrorCode.ROOT_UNAVAILABLE.value, facts, waits, None, None])
            return
        row.write(lambda conn: _forget(conn, row.id), durable=False)
        count = size = 0
        for path in json.loads(row.values["paths"] or "[]"):
            row.check()
            if (found := self._read(row, folder, path)) is not None:
                _store(row, found)
                count, size = count + 1, size + found.size
        self._end(row, [FilingStatus.COMPLETED.value, None, None, None, count, size])

    def _read(self, row: LeasedRow, folder: str, path: str) -> InspectedMedia | None:
        try:
            seen = look_at(folder, path)
            source = ThumbnailSource(folder, path, *seen)
        except ThumbnailFailed:
            return None
        try:
            with source.opened() as fd:
                paid = min(source.size, _READS)
                self._wait_for_turn(row, paid)
                reading = self._reading.read_facts(fd)
            self._wait_for_turn(row, reading.bytes_read - paid)
        except ThumbnailFailed as failed:
            # What was interrupted did not fail.
            row.check()
            if failed.error_code in _NOT_THERE:
                return None
            _log.info("media not read", path=path, code=failed.error_code, problem=str(failed))
            return InspectedMedia(path, *seen, None, failed.error_code.value)
        return InspectedMedia(path, *seen, json.dumps(reading.facts, ensure_ascii=False), None)

    def _wait_for_turn(self, row: LeasedRow, size: int) -> None:
        if self._limit is not None and size > 0:
            row.wait(self._limit.reserve(size))
        row.check()

    def _end(self, row: LeasedRow, ended: list[Any]) -> None:
        row.settle(FINISH, ended, given=FINISH_VALUES, columns=FINISH_COLUMNS, durable=False)


def _forget(conn: Connection, inspection_id: int) -> None:
    conn.run(_SQL.forget, {"id": inspection_id})


def _store(row: LeasedRow, found: InspectedMedia) -> None:
    values = {
        "id": row.id,
        "path": found.path,
        "size_bytes": found.size,
        "mtime_ns": found.mtime_ns,
        "facts": found.facts,
        "error_code": found.error_code,
    }
    row.write(lambda conn: conn.run(_SQL.add, values), durable=False)

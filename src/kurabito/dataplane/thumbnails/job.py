"""The line of work that draws thumbnails: claims one row, has it drawn, stores the picture, and writes how it ended.

The picture gets its name in the same transaction as the row its `ready`: whoever lost the row publishes nothing. That
transaction claims the next row, too.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from kurabito.clock import SECOND
from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.io_limit import IoLimit
from kurabito.dataplane.leasing.lease_keeper import LeaseKeeper
from kurabito.dataplane.leasing.leased_row import HEARTBEAT, LEASE, LeasedRow, Stopped
from kurabito.dataplane.thumbnails.folder import PartialFile, ThumbFolder
from kurabito.dataplane.thumbnails.picture import DrawnPicture, ThumbnailFailed, Wanted
from kurabito.dataplane.thumbnails.source import ThumbnailSource
from kurabito.db import Connection, Database, Queries, leases
from kurabito.errors import LeaseLost
from kurabito.logs import get_logger
from kurabito.protocol.enums import MediaType, ThumbnailFormat
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased import thumbnails
from kurabito.protocol.leased.thumbnails import THUMBNAILS

_SQL: Final = Queries("kurabito.dataplane.thumbnails", "job.sql")
_VIDEO_READS: Final = 1 << 20
"""Bytes that a video is taken to cost until it is known."""
_PATIENCE: Final = 60.0
"""Seconds after which a process that has nothing to draw gives its memory back."""

_log = get_logger(__name__)


class DrawingJob(Protocol):
    """What draws: `DecoderProcess`."""

    def draw(self, fd: int, wanted: Wanted) -> DrawnPicture:
        """The picture of an open file; raises ThumbnailFailed."""
        ...

    def interrupt(self) -> None:
        """End what is being drawn; safe in any thread."""
        ...

    def close(self) -> object:
        """Give back what is not needed while there is nothing to draw."""
        ...


@dataclass(frozen=True, slots=True)
class DrawingOrder:
    """One row: what is to be drawn, from what, and where it goes."""

    wanted: Wanted
    source: ThumbnailSource | None
    """None when the file is not known any more."""
    output_path: str
    error_code: str | None
    error_count: int


class LeasedThumbnail(LeasedRow):
    """The right to draw one thumbnail."""

    noun = "thumbnail"
    order: DrawingOrder


class ThumbnailLine:
    """Draws thumbnails of one media type, one at a time. Several lines draw several."""

    def __init__(
        self,
        database: Database,
        media_type: MediaType,
        drawing: DrawingJob,
        *,
        state: Path,
        name: str,
        limit: IoLimit | None = None,
        lease: float = LEASE,
        heartbeat: float = HEARTBEAT,
    ) -> None:
        self.name = f"thumbnail of {media_type}"
        self._database = database
        self._media_type = media_type
        self._drawing = drawing
        self._folder = ThumbFolder(state)
        self._plane = name
        self._limit = limit
        self._lease = lease
        self._heart = LeaseKeeper(heartbeat)
        self._held: LeasedThumbnail | None = None
        self._stopping = threading.Event()
        self._idle_since = time.monotonic()
        self._swept = False

    def work(self) -> bool:
        """Draw until nothing is left; false when there was nothing."""
        if self._stopping.is_set() or not self._database.read_blocking(self._is_due):
            self._rest()
            return False
        if not self._swept:
            self._folder.sweep_parts()
            self._swept = True
        held = self._database.write_blocking(self._claim, durable=False)
        found = held is not None
        with self._heart:
            while held is not None:
                held = self._do(held)
        self._idle_since = time.monotonic()
        return found

    def stop(self) -> None:
        """Give back what is being drawn, and take nothing more."""
        self._stopping.set()
        if (held := self._held) is not None:
            held.stop()

    def _rest(self) -> None:
        if self._stopping.is_set() or time.monotonic() - self._idle_since > _PATIENCE:
            self._drawing.close()

    def _is_due(self, conn: Connection) -> bool:
        row = conn.one(_SQL.is_due, {"media_type": self._media_type.value})
        return row is not None and bool(row[0])

    def _claim(self, conn: Connection) -> LeasedThumbnail | None:
        # Whoever looks for work also sees to what others left lying.
        leases.recover(conn, THUMBNAILS)
        owner = leases.new_owner(self._plane)
        first = thumbnails.pending_query(self._media_type, conn.dialect)
        rows = leases.claim(conn, THUMBNAILS, owner, lease=round(self._lease * SECOND), limit=1, candidates=first)
        if not rows:
            return None
        key, *rest = rows[0]
        held = LeasedThumbnail(
            self._database,
            THUMBNAILS,
            key,
            owner,
            heart=self._heart,
            lease=self._lease,
            interrupt=self._drawing.interrupt,
        )
        held.order = _order(conn, *rest)
        return held

    def _do(self, held: LeasedThumbnail) -> LeasedThumbnail | None:
        """Draw one thumbnail and settle it; the next one, claimed in the same transaction."""
        self._held = held
        if self._stopping.is_set():
            # Asked to stop between the claim and here, where nobody could know of it.
            held.stop()
        try:
            return self._settle(held, self._outcome(held))
        except Stopped:
            self._give_back(held)
        except LeaseLost as lost:
            _log.warning("thumbnail lost", thumbnail=held.id, problem=str(lost))
        finally:
            self._held = None
        return None

    def _outcome(self, held: LeasedThumbnail) -> DrawnPicture | ThumbnailFailed:
        try:
            # The heart lets go before the row is settled: it would take that for a loss, and interrupt the next drawing.
            with held:
                return self._draw(held)
        except ThumbnailFailed as failed:
            # What was interrupted did not fail.
            held.check()
            return failed

    def _settle(self, held: LeasedThumbnail, outcome: DrawnPicture | ThumbnailFailed) -> LeasedThumbnail | None:
        match outcome:
            case DrawnPicture():
                return self._store(held, outcome)
            case ThumbnailFailed():
                return self._fail(held, outcome)

    def _store(self, held: LeasedThumbnail, picture: DrawnPicture) -> LeasedThumbnail | None:
        try:
            with _output_trouble(), self._folder.part(picture.content) as part:
                return self._database.write_blocking(lambda conn: self._ready(conn, held, picture, part), durable=False)
        except ThumbnailFailed as failed:
            return self._fail(held, failed)

    def _fail(self, held: LeasedThumbnail, failed: ThumbnailFailed) -> LeasedThumbnail | None:
        _log.info("thumbnail failed", thumbnail=held.id, code=failed.error_code, problem=str(failed))
        return self._database.write_blocking(lambda conn: self._failed(conn, held, failed), durable=False)

    def _draw(self, held: LeasedThumbnail) -> DrawnPicture:
        order = held.order
        held.check()
        if order.error_code == ErrorCode.LEASE_EXPIRED and order.error_count >= thumbnails.MOST_LOST:
            raise ThumbnailFailed(ErrorCode.WORKER_LOST, "the workers that drew it were lost, so it is given up")
        if order.source is None:
            raise ThumbnailFailed(ErrorCode.FILE_MISSING, "the file is not known any more")
        with order.source.opened() as fd:
            paid = order.source.size if self._media_type is MediaType.IMAGE else min(order.source.size, _VIDEO_READS)
            self._wait_for_turn(held, paid)
            picture = self._drawing.draw(fd, order.wanted)
        self._wait_for_turn(held, picture.bytes_read - paid)
        return picture

    def _wait_for_turn(self, held: LeasedThumbnail, size: int) -> None:
        if self._limit is not None and size > 0 and self._stopping.wait(self._limit.reserve(size)):
            held.stop()
        held.check()

    def _ready(
        self, conn: Connection, held: LeasedThumbnail, picture: DrawnPicture, part: PartialFile
    ) -> LeasedThumbnail | None:
        drawn = [(held.id, held.owner, picture.width, picture.height, len(picture.content))]
        given, columns = thumbnails.READY_VALUES, thumbnails.READY_COLUMNS
        if leases.finish(conn, THUMBNAILS, thumbnails.READY, drawn, given=given, columns=columns):
            raise held.lost()
        # Not before the row is ours, and not after it is `ready` for everybody.
        part.publish(held.order.output_path)
        return self._next(conn)

    def _failed(self, conn: Connection, held: LeasedThumbnail, failed: ThumbnailFailed) -> LeasedThumbnail | None:
        delay = thumbnails.retry_delay(held.order.error_count + 1)
        ended = [(held.id, held.owner, failed.error_code.value, str(failed), delay)]
        given, columns = thumbnails.FAILED_VALUES, thumbnails.FAILED_COLUMNS
        if leases.finish(conn, THUMBNAILS, thumbnails.FAILED, ended, given=given, columns=columns):
            raise held.lost()
        return self._next(conn)

    def _next(self, conn: Connection) -> LeasedThumbnail | None:
        return None if self._stopping.is_set() else self._claim(conn)

    def _give_back(self, held: LeasedThumbnail) -> None:
        columns, rows = thumbnails.GIVEN_BACK_COLUMNS, [(held.id, held.owner)]
        # Whoever has it by now needs nothing from us.
        self._database.write_blocking(
            lambda conn: leases.finish(conn, THUMBNAILS, leases.RECOVER, rows, columns=columns)
        )


@contextmanager
def _output_trouble() -> Iterator[None]:
    try:
        yield
    except PathEscapes as escaped:
        raise ThumbnailFailed(ErrorCode.THUMB_OUTPUT_ESCAPES, str(escaped)) from None
    except OSError as problem:
        link = problem.errno in (errno.ELOOP, errno.ENOTDIR)
        code = ErrorCode.THUMB_OUTPUT_ESCAPES if link else ErrorCode.DISK_FAILURE
        raise ThumbnailFailed(code, f"the picture cannot be stored: {problem.strerror}") from None


def _order(
    conn: Connection,
    file_id: int,
    media_type: str,
    form: str,
    max_dimension: int,
    size: int,
    mtime_ns: int,
    output_path: str,
    error_code: str | None,
    error_count: int,
) -> DrawingOrder:
    found = conn.one(_SQL.source, {"file_id": file_id})
    return DrawingOrder(
        Wanted(MediaType(media_type), ThumbnailFormat(form), max_dimension),
        ThumbnailSource(found[0], found[1], size, mtime_ns) if found is not None else None,
        output_path,
        error_code,
        error_count,
    )

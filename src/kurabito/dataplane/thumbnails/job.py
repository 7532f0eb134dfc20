"""Drawing thumbnails: a row is drawn by another process, its picture is stored, and how that went is written.

The picture gets its name in the same transaction as the row its `ready`: an owner that lost the row publishes nothing. That
transaction claims the next row, too.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from kurabito.dataplane.errors import PathEscapes
from kurabito.dataplane.io_limit import IoLimit
from kurabito.dataplane.leasing.leased_row import LeasedRow
from kurabito.dataplane.leasing.runner import LeasedWork
from kurabito.dataplane.thumbnails.folder import PartialFile, ThumbFolder
from kurabito.dataplane.thumbnails.picture import DrawnPicture, ThumbnailFailed, Wanted
from kurabito.dataplane.thumbnails.source import ThumbnailSource
from kurabito.db import Queries
from kurabito.logs import get_logger
from kurabito.protocol.enums import MediaType, ThumbnailFormat
from kurabito.protocol.error_codes import ErrorCode
from kurabito.protocol.leased import thumbnails
from kurabito.protocol.leased.thumbnails import THUMBNAILS

_SQL: Final = Queries("kurabito.dataplane.thumbnails", "job.sql")
_VIDEO_READS: Final = 1 << 20
"""Bytes that a video is taken to cost until it is known."""

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


class ThumbnailWork(LeasedWork[LeasedRow]):
    """Draws thumbnails of one media type, one at a time. Several runners draw several."""

    spec = THUMBNAILS
    noun = "thumbnail"
    row_type = LeasedRow
    durable = False
    claims_next = True

    def __init__(
        self, media_type: MediaType, drawing: DrawingJob, *, state: Path, limit: IoLimit | None = None
    ) -> None:
        self.only = f"media_type = '{media_type}'"
        self._media_type = media_type
        self._drawing = drawing
        self._folder = ThumbFolder(state)
        self._limit = limit
        self._swept = False

    @property
    def name(self) -> str:
        return f"thumbnail of {self._media_type}"

    def prepare(self) -> None:
        if not self._swept:
            self._folder.sweep_parts()
            self._swept = True

    def rest(self) -> None:
        self._drawing.close()

    def interrupt(self) -> None:
        self._drawing.interrupt()

    def do(self, row: LeasedRow) -> None:
        try:
            picture = self._draw(row)
            with _output_trouble(), self._folder.part(picture.content) as part:
                self._settle_ready(row, picture, part)
        except ThumbnailFailed as failed:
            # What was interrupted did not fail.
            row.check()
            self._settle_failed(row, failed)

    def _draw(self, row: LeasedRow) -> DrawnPicture:
        row.check()
        if row.values["error_code"] == ErrorCode.LEASE_EXPIRED and row.values["error_count"] >= thumbnails.MOST_LOST:
            raise ThumbnailFailed(ErrorCode.WORKER_LOST, "the workers that drew it were lost, so it is given up")
        source = _source(row)
        wanted = Wanted(self._media_type, ThumbnailFormat(row.values["format"]), row.values["max_dimension"])
        with source.opened() as fd:
            paid = source.size if self._media_type is MediaType.IMAGE else min(source.size, _VIDEO_READS)
            self._wait_for_turn(row, paid)
            picture = self._drawing.draw(fd, wanted)
        self._wait_for_turn(row, picture.bytes_read - paid)
        return picture

    def _wait_for_turn(self, row: LeasedRow, size: int) -> None:
        if self._limit is not None and size > 0:
            row.wait(self._limit.reserve(size))
        row.check()

    def _settle_ready(self, row: LeasedRow, picture: DrawnPicture, part: PartialFile) -> None:
        row.settle(
            thumbnails.READY,
            (picture.width, picture.height, len(picture.content)),
            given=thumbnails.READY_VALUES,
            columns=thumbnails.READY_COLUMNS,
            publish=partial(part.publish, row.values["output_path"]),
            durable=self.durable,
        )

    def _settle_failed(self, row: LeasedRow, failed: ThumbnailFailed) -> None:
        _log.info("thumbnail failed", thumbnail=row.id, code=failed.error_code, problem=str(failed))
        delay = thumbnails.retry_delay(row.values["error_count"] + 1)
        row.settle(
            thumbnails.FAILED,
            (failed.error_code.value, str(failed), delay),
            given=thumbnails.FAILED_VALUES,
            columns=thumbnails.FAILED_COLUMNS,
            durable=self.durable,
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


def _source(row: LeasedRow) -> ThumbnailSource:
    found = row.read(lambda conn: conn.one(_SQL.source, {"file_id": row.values["file_id"]}))
    if found is None:
        raise ThumbnailFailed(ErrorCode.FILE_MISSING, "the file is not known any more")
    root, relative_path = found
    return ThumbnailSource(root, relative_path, row.values["source_size_bytes"], row.values["source_mtime_ns"])

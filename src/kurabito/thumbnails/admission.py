"""Requests for thumbnails. A known one is answered at once; another one may wait to be made, up to the capacity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kurabito.clock import from_datetime, optional_datetime, to_datetime
from kurabito.db import AdvisoryLock, Connection, Database
from kurabito.db.port import Row
from kurabito.errors import InvalidInput
from kurabito.protocol.enums import MediaType, ThumbnailFormat, ThumbnailStatus
from kurabito.thumbnails.errors import FileNotKnown, NothingToDraw, ThumbnailError, ThumbnailNotFound, ThumbnailsFull
from kurabito.thumbnails.keys import Drawing, PictureSource, output_path, thumb_key
from kurabito.thumbnails.queries import PICTURE_FILE, SQL, THUMBNAIL

CAPACITY: Final = 50_000
MOST_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Thumbnail:
    """A thumbnail at one moment."""

    key: str
    file_id: int
    group_key: str
    media_type: MediaType
    format: ThumbnailFormat
    max_dimension: int
    output_path: str
    status: ThumbnailStatus
    width: int | None
    height: int | None
    bytes_size: int | None
    error_code: str | None
    error_message: str | None
    error_count: int
    retry_after: datetime | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ThumbnailRefused:
    """A file that gets no thumbnail, and why."""

    file_id: int
    error: ThumbnailError


Answer = Thumbnail | ThumbnailRefused


class Thumbnails:
    """The thumbnails of one database."""

    def __init__(self, database: Database, *, capacity: int = CAPACITY) -> None:
        self._database = database
        self.capacity = capacity
        """How many may wait."""

    async def request(self, file_id: int, drawing: Drawing) -> Thumbnail:
        """Ask for the thumbnail of a file; raises FileNotKnown, NothingToDraw or ThumbnailsFull."""
        (answer,) = await self.request_many([file_id], drawing)
        if isinstance(answer, ThumbnailRefused):
            raise answer.error
        return answer

    async def request_many(self, file_ids: Sequence[int], drawing: Drawing) -> list[Answer]:
        """Ask for the thumbnails of files; an answer for each, in the same order."""
        if len(file_ids) > MOST_AT_ONCE:
            raise InvalidInput("file_ids", f"must be at most {MOST_AT_ONCE} files, got {len(file_ids)}")
        # A page asks again until its pictures are there, and must not wait each time for those who write.
        answers, is_complete = await self._database.read(lambda conn: _look(conn, file_ids, drawing))
        if is_complete:
            return answers
        return await self._database.write(lambda conn: self._admit(conn, file_ids, drawing))

    async def get(self, key: str) -> Thumbnail:
        """The thumbnail with this key; raises ThumbnailNotFound."""
        row = await self._database.read(lambda conn: conn.one(SQL.get, {"thumb_key": key}))
        if row is None:
            raise ThumbnailNotFound(f"no thumbnail has the key {key!r}; ask for one with POST /api/v1/thumbs/request")
        return _thumbnail(row)

    async def draw_again(self, key: str) -> None:
        """Have a thumbnail made again whose file is lost."""
        await self._database.write(lambda conn: conn.run(SQL.draw_again, {"thumb_key": key}))

    def _admit(self, conn: Connection, file_ids: Sequence[int], drawing: Drawing) -> list[Answer]:
        conn.lock(AdvisoryLock.THUMBNAILS)
        wanted = [_row(source, drawing) for source in _sources(conn, file_ids).values() if source.media_type]
        values = {"rows": json.dumps(wanted), "capacity": self.capacity}
        conn.run(SQL.requeue, values)
        conn.run(SQL.admit, values)
        return _look(conn, file_ids, drawing)[0]


def source_of(values: Row) -> PictureSource | None:
    """The file of a row of `library_files`; None when it is not there any more."""
    row = PICTURE_FILE.row(values)
    if row.id is None or row.is_missing:
        return None
    is_hashed = not row.needs_hash and row.hash_algorithm is not None and row.content_hash is not None
    content = f"{row.hash_algorithm}:{bytes(row.content_hash).hex()}" if is_hashed else None
    return PictureSource(row.id, row.relative_path, row.size_bytes, row.mtime_ns, content)


def _sources(conn: Connection, file_ids: Iterable[int]) -> dict[int, PictureSource]:
    rows = conn.all(SQL.files, {"file_ids": sorted(set(file_ids))})
    return {source.file_id: source for source in map(source_of, rows) if source is not None}


def _look(conn: Connection, file_ids: Sequence[int], drawing: Drawing) -> tuple[list[Answer], bool]:
    """The answer for each file now, and whether admitting could not change it."""
    sources = _sources(conn, file_ids)
    keys = {file_id: thumb_key(source, drawing) for file_id, source in sources.items()}
    listed = json.dumps([{"thumb_key": key} for key in keys.values()])
    known = {one.key: one for one in map(_thumbnail, conn.all(SQL.known, {"rows": listed}))}
    answers: list[Answer] = []
    is_complete = True
    for file_id in file_ids:
        source = sources.get(file_id)
        if source is None:
            error: ThumbnailError = FileNotKnown(f"no file has the id {file_id}, or it is missing; scan its library")
            answers.append(ThumbnailRefused(file_id, error))
        elif source.media_type is None:
            error = NothingToDraw(f"the file {file_id} is neither an image nor a video by its name")
            answers.append(ThumbnailRefused(file_id, error))
        elif (found := known.get(keys[file_id])) is not None:
            answers.append(found)
            is_complete = is_complete and not _may_be_tried_again(found, conn.now())
        else:
            is_complete = False
            error = ThumbnailsFull("as many thumbnails wait as may; ask again when some are drawn")
            answers.append(ThumbnailRefused(file_id, error))
    return answers, is_complete


def _may_be_tried_again(thumbnail: Thumbnail, now: int) -> bool:
    if thumbnail.status is not ThumbnailStatus.FAILED:
        return False
    return thumbnail.retry_after is None or from_datetime(thumbnail.retry_after) <= now


def _row(source: PictureSource, drawing: Drawing) -> dict[str, Any]:
    key = thumb_key(source, drawing)
    return {
        "thumb_key": key,
        "file_id": source.file_id,
        "group_key": source.group_key,
        "media_type": source.media_type,
        "format": drawing.format,
        "max_dimension": drawing.max_dimension,
        "source_size_bytes": source.size_bytes,
        "source_mtime_ns": source.mtime_ns,
        "output_path": output_path(key, drawing),
    }


def _thumbnail(row: Row) -> Thumbnail:
    one = THUMBNAIL.row(row)
    return Thumbnail(
        key=one.thumb_key,
        file_id=one.file_id,
        group_key=one.group_key,
        media_type=MediaType(one.media_type),
        format=ThumbnailFormat(one.format),
        max_dimension=one.max_dimension,
        output_path=one.output_path,
        status=ThumbnailStatus(one.status),
        width=one.width,
        height=one.height,
        bytes_size=one.bytes_size,
        error_code=one.error_code,
        error_message=one.error_message,
        error_count=one.error_count,
        retry_after=optional_datetime(one.retry_after),
        created_at=to_datetime(one.created_at),
        updated_at=to_datetime(one.updated_at),
        finished_at=optional_datetime(one.finished_at),
    )

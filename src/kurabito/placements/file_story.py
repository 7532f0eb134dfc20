"""One file of a library: what it is, which episodes are in it, where it came from and what happened to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.library.files import FILE, SAME_CONTENT, LibraryFile, file_of
from kurabito.placements.errors import LibraryFileNotFound
from kurabito.protocol.leased.placements import PlacedBy
from kurabito.titles import ReleaseKind

_SQL: Final = Queries("kurabito.placements", "file_story.sql", file=FILE, same=SAME_CONTENT)


class FileEventKind(StrEnum):
    """What can happen to a file; the value is the message's key below `file_event`."""

    SEEN = "seen"
    """A scan found it, or a placement put it there."""
    PLACED = "placed"
    RENAMED = "renamed"
    HASHED = "hashed"
    TRASHED = "trashed"
    RESTORED = "restored"
    PURGED = "purged"


@dataclass(frozen=True, slots=True)
class FileEvent:
    """Something that happened to a file."""

    kind: FileEventKind
    at: datetime
    path: str | None = None
    """Where it was before, or what took its place."""


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """How a file came into its place."""

    placement_id: int
    method: PlacedBy
    source: str | None
    """The file that it was made of, as the core saw it."""
    download_id: int | None
    release: str | None
    """The title of the release that was downloaded."""


@dataclass(frozen=True, slots=True)
class EpisodeOfFile:
    """An episode that is in a file."""

    episode_id: int
    series_id: int
    kind: ReleaseKind
    number: float


@dataclass(frozen=True, slots=True)
class FileStory:
    """A file, and everything that is known of it."""

    file: LibraryFile
    library_id: int
    hashed_at: datetime | None
    trash_id: str | None
    """Its entry in the trash, while it lies there."""
    episodes: tuple[EpisodeOfFile, ...]
    origins: tuple[FileOrigin, ...]
    """The newest first; none when it lay there before."""
    events: tuple[FileEvent, ...]
    """The newest first."""

    @property
    def folder(self) -> str:
        return self.file.relative_path.rpartition("/")[0]


class FileStories:
    """The files of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, file_id: int) -> FileStory:
        """The story of a file; raises LibraryFileNotFound."""
        return await self._database.read(lambda conn: _story(conn, file_id))


def _story(conn: Connection, file_id: int) -> FileStory:
    row = conn.one(_SQL.file, {"id": file_id})
    if row is None:
        raise LibraryFileNotFound(f"no file has the id {file_id}; a scan may have found that it was moved")
    *of_file, library_id, created_at, hashed_at = row
    file = file_of(tuple(of_file))
    here = {"library_id": library_id, "path": file.relative_path}
    placed = conn.all(_SQL.placements, here)
    trashed = conn.all(_SQL.trashed, {"id": file_id})
    events = [
        FileEvent(FileEventKind.SEEN, to_datetime(created_at)),
        *([FileEvent(FileEventKind.HASHED, to_datetime(hashed_at))] if hashed_at is not None else []),
        *(_placed(row) for row in placed),
        *(event for row in trashed for event in _trashed(row)),
    ]
    return FileStory(
        file,
        library_id,
        None if hashed_at is None else to_datetime(hashed_at),
        next((entry for entry, _, left_as, *_ in trashed if left_as is None), None),
        tuple(EpisodeOfFile(a, b, ReleaseKind(c), d) for a, b, c, d in conn.all(_SQL.episodes, {"id": file_id})),
        tuple(_origin(row) for row in placed),
        tuple(sorted(events, key=lambda event: event.at, reverse=True)),
    )


def _origin(row: Any) -> FileOrigin:
    placement_id, method, _, root, source, download_id, title = row
    shown = None if source is None else f"{root}/{source}" if root else source
    return FileOrigin(placement_id, PlacedBy(method), shown, download_id, title)


def _placed(row: Any) -> FileEvent:
    _, method, finished_at, _, source, *_ = row
    is_renamed = method == PlacedBy.RENAME
    return FileEvent(
        FileEventKind.RENAMED if is_renamed else FileEventKind.PLACED,
        to_datetime(finished_at),
        source if is_renamed else None,
    )


def _trashed(row: Any) -> Iterator[FileEvent]:
    _, trashed_at, left_as, left_at, successor = row
    yield FileEvent(FileEventKind.TRASHED, to_datetime(trashed_at), successor)
    if left_as is not None:
        yield FileEvent(FileEventKind(left_as), to_datetime(left_at))

"""Adding libraries and changing their settings, for async callers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from kurabito.db import Connection
from kurabito.errors import InvalidInput
from kurabito.library import files, jobs, libraries
from kurabito.library.cursors import cursor_after, path_of
from kurabito.library.files import LibraryFile
from kurabito.library.libraries import FILING_MODES, Library, LibrarySettings
from kurabito.library.scans import sessions
from kurabito.library.scans.sessions import PastScan
from kurabito.protocol.deletion import TRASH_FOLDER
from kurabito.reasons import InputReason, refused, refused_interval
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.runtime.model import Page
from kurabito.runtime.paging import check_limit, id_after
from kurabito.wakeup import Bell

SHORTEST_INTERVAL: Final = timedelta(minutes=1)
LONGEST_INTERVAL: Final = timedelta(days=366)
_MOST_PATTERNS: Final = 200
# Bytes that are no text are stored as characters of this range, so a text that has them is not what it looks like.
_NO_DISK: Final = (Path("/proc"), Path("/sys"))
_NOT_TEXT: Final = re.compile("[\udc80-\udcff\uef80-\uefff\x00]")


@dataclass(frozen=True, slots=True)
class LibrarySummary:
    """A library, and how much the last scan saw in it."""

    library: Library
    file_count: int
    total_size_bytes: int


class LibraryService:
    """The libraries of one database.

    `reserved` are folders of our own, by what they are for: no library may lie in one or around one.
    """

    def __init__(self, queue: DelegatedTasks, reserved: Mapping[str, Path], changed: Bell | None = None) -> None:
        self._queue = queue
        self._database = queue.database
        self._reserved = reserved
        self._changed = changed or Bell()
        """Rung when a library was made or changed."""

    async def create(self, path: str, settings: LibrarySettings) -> LibrarySummary:
        """Take a folder into keeping; raises InvalidInput or LibraryConflict, naming the field."""
        _check(settings)
        folder = await asyncio.to_thread(self._look_at, path)

        def work(conn: Connection) -> LibrarySummary:
            jobs.lock_jobs(conn)
            return _summary(conn, libraries.add(conn, folder, settings))

        return await self._write(work)

    async def get(self, library_id: int) -> LibrarySummary:
        """The library; raises LibraryNotFound."""
        return await self._database.read(lambda conn: _summary(conn, libraries.find(conn, library_id)))

    async def get_staying(self, library_id: int) -> LibrarySummary:
        """The library, for a caller that starts work in it; raises LibraryNotFound or LibraryConflict."""
        return await self._database.read(lambda conn: _summary(conn, libraries.find_staying(conn, library_id)))

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page[LibrarySummary]:
        """Libraries in the order in which they were made."""
        check_limit(limit)
        after = id_after(cursor)

        def look(conn: Connection) -> Page[LibrarySummary]:
            page = Page.cut(libraries.page(conn, after, limit + 1), limit, lambda last: str(last.id))
            return Page(tuple(_summary(conn, library) for library in page), page.next_cursor)

        return await self._database.read(look)

    async def by_id(self) -> dict[int, Library]:
        """All libraries in the order of their creation, for a caller that has ids and shows names."""
        found = await self._database.read(libraries.everything)
        return {library.id: library for library in found}

    async def change(self, library_id: int, changes: Mapping[str, Any]) -> LibrarySummary:
        """Change how a library is looked after; fields of `LibrarySettings`, and what is not named stays."""

        def work(conn: Connection) -> LibrarySummary:
            jobs.lock_jobs(conn)
            library = libraries.change(conn, library_id, dict(changes))
            _check(library.settings)
            return _summary(conn, library)

        return await self._write(work)

    async def files(
        self,
        library_id: int,
        *,
        missing: bool | None = None,
        contains: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[LibraryFile]:
        """The files of a library in the order of their paths; only missing ones, or only those with a text in their path."""
        check_limit(limit)

        def look(conn: Connection) -> Page[LibraryFile]:
            libraries.find(conn, library_id)
            after = "" if cursor is None else path_of(cursor)
            found = files.of_library(conn, library_id, after=after, limit=limit + 1, missing=missing, contains=contains)
            return Page.cut(found, limit, lambda last: cursor_after(last.relative_path))

        return await self._database.read(look)

    async def past_scans(self, library_ids: Sequence[int], limit: int = 1) -> dict[int, Sequence[PastScan]]:
        """The last scans of each library that are over, the newest first."""
        return await self._database.read(lambda conn: {one: sessions.recent(conn, one, limit) for one in library_ids})

    def _look_at(self, path: str) -> Path:
        """The real folder that a path leads to, if it may be a library."""
        if _NOT_TEXT.search(path):
            problem = f"the name of a library's folder must be text, got {path!r}; rename the folder"
            raise InvalidInput("path", problem, refused(InputReason.PATH_NOT_TEXT))
        if not path.startswith("/"):
            problem = f"must be absolute, like /srv/media, got {path!r}"
            raise InvalidInput("path", problem, refused(InputReason.PATH_RELATIVE))
        try:
            folder = Path(path).resolve(strict=True)
            is_folder = folder.is_dir()
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or "its links lead nowhere"
            raise InvalidInput(
                "path",
                f"{path} cannot be used: {reason}; is the disk there, and the share mounted?",
                refused(InputReason.PATH_UNUSABLE, path=path, text=reason),
            ) from None
        if not is_folder:
            raise InvalidInput("path", f"{path} is not a folder", refused(InputReason.PATH_NO_FOLDER, path=path))
        if any(folder.is_relative_to(place) for place in _NO_DISK):
            reason = "the system shows itself there, and no files are stored"
            refusal = refused(InputReason.PATH_UNUSABLE, path=path, text=reason)
            raise InvalidInput("path", f"{path} cannot be used: {reason}", refusal)
        if TRASH_FOLDER in folder.parts:
            problem = f"{path} is a trash, or lies in one; move what you want to keep out of it, or restore it"
            raise InvalidInput("path", problem, refused(InputReason.PATH_IN_TRASH, path=path))
        for purpose, own in self._reserved.items():
            if libraries.overlap(folder, own.resolve()):
                problem = f"{path} and the {purpose}, {own}, lie one in the other; choose another folder"
                raise InvalidInput("path", problem, refused(InputReason.PATH_TAKEN, path=path, other=str(own)))
        return folder

    async def _write(self, work: Callable[[Connection], LibrarySummary]) -> LibrarySummary:
        summary = await self._database.write(work)
        self._changed.ring()
        return summary


def _summary(conn: Connection, library: Library) -> LibrarySummary:
    return LibrarySummary(library, *libraries.extent(conn, library.id))


def _check(settings: LibrarySettings) -> None:
    if not settings.name.strip() or len(settings.name) > 200 or "\x00" in settings.name:
        problem = f"must be a text of 1 to 200 characters without NUL, got {settings.name!r}"
        raise InvalidInput("name", problem, refused(InputReason.TEXT, most=200))
    interval = settings.scan_interval
    if interval is not None and not SHORTEST_INTERVAL <= interval <= LONGEST_INTERVAL:
        problem = f"must be between a minute and a year, got {interval}"
        raise InvalidInput("scan_interval", problem, refused_interval(SHORTEST_INTERVAL, LONGEST_INTERVAL))
    if len(settings.ignored) > _MOST_PATTERNS or any(not pattern or "\x00" in pattern for pattern in settings.ignored):
        problem = f"must be at most {_MOST_PATTERNS} patterns, none of them empty"
        raise InvalidInput("ignored", problem, refused(InputReason.TOO_MANY, most=_MOST_PATTERNS))
    modes = settings.placement_modes
    if not modes or len(set(modes)) < len(modes) or not set(modes) <= FILING_MODES:
        problem = f"must be some of link, reflink and copy, each once, got {', '.join(modes) or 'none'}"
        raise InvalidInput("placement_modes", problem, refused(InputReason.NONE_CHOSEN))

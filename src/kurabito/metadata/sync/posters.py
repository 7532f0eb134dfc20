"""Pictures whose URL is known, fetched while the other parts of a sync go on. They hold nothing back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from kurabito.db import Connection, Database
from kurabito.errors import KurabitoError
from kurabito.logs import get_logger
from kurabito.metadata import pending
from kurabito.metadata.errors import PosterError, PosterUnreachable
from kurabito.metadata.posters.downloads import PosterDownloads
from kurabito.metadata.records import Metadata
from kurabito.metadata.sync.lanes import five_at_a_time, in_chunks
from kurabito.metadata.sync.progress import SyncProgress
from kurabito.metadata.sync.write_batch import Finding, WriteBatch

_MOST_SILENT: Final = 3

_log = get_logger(__name__)


class WantedPoster(NamedTuple):
    """A picture to fetch for a record."""

    metadata_id: int
    url: str


class PosterLane:
    """The pictures of one sync: those that records name already, then those that its other parts find."""

    def __init__(
        self, database: Database, downloads: PosterDownloads, findings: WriteBatch, progress: SyncProgress
    ) -> None:
        self._database = database
        self._downloads = downloads
        self._findings = findings
        self._progress = progress
        self._found: asyncio.Queue[WantedPoster | None] = asyncio.Queue()
        self._taken: set[int] = set()
        self._silent: Counter[str] = Counter()

    def want(self, metadata_id: int, url: str) -> None:
        """Have a picture fetched that was found just now."""
        self._found.put_nowait(WantedPoster(metadata_id, url))

    def close(self) -> None:
        """Say that no more will be found."""
        self._found.put_nowait(None)

    async def run(self) -> None:
        """Fetch them all, until `close` was called and nothing is left."""
        await five_at_a_time(self._wanted(), self._fetch)

    async def _wanted(self) -> AsyncIterator[WantedPoster]:
        async for record in in_chunks(self._database, _with_remote_poster):
            if record.id not in self._taken:
                self._taken.add(record.id)
                yield WantedPoster(record.id, record.details.poster_url or "")
        while (wanted := await self._found.get()) is not None:
            if wanted.metadata_id not in self._taken:
                self._taken.add(wanted.metadata_id)
                yield wanted

    async def _fetch(self, wanted: WantedPoster) -> None:
        host = _host(wanted.url)
        fetched = False
        if self._silent[host] < _MOST_SILENT:
            fetched = await fetch_poster(
                self._downloads,
                self._findings.note,
                wanted.metadata_id,
                wanted.url,
                lambda error: self._note(host, error),
            )
        if fetched:
            self._silent[host] = 0
            self._progress.answered()
        self._progress.synced.posters += fetched
        self._progress.synced.posters_failed += not fetched
        self._progress.finished(wanted.metadata_id)

    def _note(self, host: str, error: PosterError) -> None:
        if isinstance(error, PosterUnreachable):
            # A host that is silent now is so for all its pictures; the next sync asks it again.
            self._silent[host] += 1
            self._progress.not_answered(host, error)
        else:
            self._progress.answered()


async def fetch_poster(
    downloads: PosterDownloads,
    write: Callable[[Finding], Awaitable[object]],
    metadata_id: int,
    url: str,
    failed: Callable[[PosterError], object] = lambda _: None,
) -> bool:
    """Fetch the poster of a record and write down where it is; false when that failed, and is left for a later sync."""
    try:
        path = await downloads.fetch(url)
        await write(lambda conn: pending.keep_poster(conn, metadata_id, url, path))
    except KurabitoError as error:
        _log.warning("poster not fetched", metadata_id=metadata_id, code=error.code, problem=str(error))
        if isinstance(error, PosterError):
            failed(error)
        return False
    except Exception as error:  # noqa: BLE001 - one record must not stop the others
        _log.error("poster not fetched", metadata_id=metadata_id, exc_info=error)
        return False
    return True


def _with_remote_poster(conn: Connection, after: int) -> list[Metadata]:
    return pending.get_metadata_to_sync(conn, after=after, ids=False)


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).netloc
    return ""

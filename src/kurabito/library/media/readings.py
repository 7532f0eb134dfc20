"""Has data planes read what is in films and sound, after each scan: a few files at a time, so that nothing else waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Final

from kurabito.db import Connection, Database
from kurabito.library.media import store
from kurabito.library.media.store import MediaReadingOutcome, UnreadFile
from kurabito.protocol import planes
from kurabito.protocol.leased.inspections import MOST_READ
from kurabito.protocol.version import Capability
from kurabito.runtime import Registry, Snooze

READ: Final = "library.read_media"
_AT_ONCE: Final = 2
"""Inspections that wait or are under way."""
_WAIT: Final = 2.0
_EVERY: Final = 6 * 3600.0
"""What a scan did not find, such as a file that was filed, is read then at the latest."""


@dataclass(frozen=True, slots=True)
class MediaRead:
    """What came of a round through all libraries."""

    files: int
    """That were given to data planes."""


class MediaReadings:
    """What is in the films and sound of one database's libraries."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # How far this round came, in the order of ids; a new process begins again, and passes over what is known.
        self._after = 0
        self._given = 0

    def join(self, registry: Registry) -> None:
        """Have it read after scans, and every few hours."""
        registry.task(READ)(self.read)
        registry.every(_EVERY, READ, unique_key=READ)

    async def of_files(self, file_ids: Iterable[int]) -> Mapping[int, MediaReadingOutcome]:
        """What is known of these files."""
        wanted = list(file_ids)
        return await self._database.read(lambda conn: store.of_files(conn, wanted)) if wanted else {}

    async def read(self) -> MediaRead:
        """A step of a round; raises Snooze while there is more to read, or something is under way."""
        await self._database.write(store.collect)
        has_reader = await self._database.read(_has_reader)
        is_done = await self._ask() if has_reader else True
        under_way = await self._database.read(store.count_open)
        if not is_done or under_way:
            raise Snooze(_WAIT)
        done = MediaRead(self._given)
        self._after = self._given = 0
        return done

    async def _ask(self) -> bool:
        """Give a few more files to data planes; true when all libraries were gone through."""
        last = await self._database.read(store.last_file)
        while self._after < last:
            if await self._database.read(store.count_open) >= _AT_ONCE:
                return False
            found, until = await self._database.read(partial(store.unread_after, after=self._after))
            await self._database.write(partial(store.forget_gone, after=self._after, until=until))
            if not found:
                self._after = until
                continue
            # Of one library at a time: an inspection has one folder.
            batch = list(takewhile(partial(_is_of, found[0].library_id), found[:MOST_READ]))
            paths = [one.relative_path for one in batch]
            await self._database.write(partial(store.request, library_id=batch[0].library_id, paths=paths))
            self._after, self._given = batch[-1].id, self._given + len(batch)
        return True


def _is_of(library_id: int, file: UnreadFile) -> bool:
    return file.library_id == library_id


def _has_reader(conn: Connection) -> bool:
    """Whether a data plane lives that reads films: nothing is asked for that no plane would do."""
    return any(Capability.MEDIA in one.capabilities for one in planes.living(conn))

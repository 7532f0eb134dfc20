"""What there is to ask about matching, and a keeper's own choice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final
from uuid import UUID

from kurabito.catalog.corrections.record import give_record
from kurabito.catalog.identity.relink import RelinkTask, read_again
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.matching import matches
from kurabito.catalog.matching.choices import forget, learn
from kurabito.catalog.matching.model import FolderMatch, MatchCandidate, MatchState
from kurabito.catalog.releases import Name
from kurabito.catalog.relinks.store import RelinkCause
from kurabito.db import Connection
from kurabito.errors import InvalidInput
from kurabito.metadata import records
from kurabito.metadata.records import Details
from kurabito.metadata.search import record_of_choice
from kurabito.reasons import InputReason, refused
from kurabito.runtime.delegation import DelegatedTasks
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_after

MATCH: Final = "catalog.match"
"""The task that matches what scans left."""


class Matches:
    """Folders and what they are about, in one database."""

    def __init__(self, queue: DelegatedTasks, fill_in: Callable[[], Awaitable[object]]) -> None:
        self._queue = queue
        self._database = queue.database
        self._fill_in = fill_in

    async def page(
        self,
        *,
        state: MatchState = MatchState.OPEN,
        library_id: int | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[FolderMatch]:
        """Folders in one state, in the order in which they were found."""
        after = id_after(cursor)

        def look(conn: Connection) -> Page[FolderMatch]:
            found = matches.page(conn, state, after=after, limit=limit + 1, library_id=library_id)
            return Page.cut(found, limit, lambda last: str(last.id))

        return await self._database.read(look)

    async def get(self, match_id: int) -> FolderMatch:
        """One folder; raises MatchNotFound."""
        return await self._database.read(lambda conn: matches.find(conn, match_id))

    async def count_open(self) -> int:
        """How many folders wait for their keeper to choose a match."""
        return await self._database.read(matches.count_open)

    async def folders_of(self, metadata_ids: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
        """The folders that are about each record: library and path."""
        return await self._database.read(lambda conn: matches.folders_of(conn, metadata_ids))

    async def choose(self, match_id: int, key: str) -> FolderMatch:
        """Say which candidate a folder is about. It gets a record if it has none, and a sync fills that in.

        Raises MatchNotFound, or InvalidInput when the folder has no such candidate.
        """

        def store(conn: Connection) -> FolderMatch:
            match = matches.find(conn, match_id)
            return _choose(conn, [match], record_for(conn, _named(match, key)))[0]

        return await self._stored(store)

    async def choose_record(self, match_id: int, metadata_id: int) -> FolderMatch:
        """Say which record a folder is about; raises MatchNotFound or MetadataNotFound."""

        def store(conn: Connection) -> FolderMatch:
            match = matches.find(conn, match_id)
            return _choose(conn, [match], records.find(conn, metadata_id).id)[0]

        return await self._stored(store)

    async def choose_title(self, match_ids: Sequence[int], title: int | Details) -> list[FolderMatch]:
        """Say what several folders are about: a record, or a title that becomes one. All of them, or none.

        Raises MatchNotFound, or MetadataNotFound when the record is gone.
        """

        def store(conn: Connection) -> list[FolderMatch]:
            found = [matches.find(conn, match_id) for match_id in dict.fromkeys(match_ids)]
            return _choose(conn, found, record_of_choice(conn, title))

        chosen = await self._database.write(store)
        await self._fill_in()
        return chosen

    async def choose_for_series(self, series_id: int, title: int | Details) -> int:
        """Say what a series is about, as a correction that can be undone; the record.

        Raises SeriesNotFound, or MetadataNotFound.
        """

        def store(conn: Connection) -> tuple[int, tuple[str, ...]]:
            lock_catalog(conn)
            record = record_of_choice(conn, title)
            return record, give_record(conn, series_id, record).names

        record, names = await self._database.write(store)
        if names:
            folded = tuple(sorted(Name.of(name).folded for name in names))
            await read_again(self._queue, RelinkTask(names=folded, cause=RelinkCause.NAMES))
        await self._fill_in()
        return record

    async def ignore(self, match_id: int) -> FolderMatch:
        """Say that a folder is none of its candidates, and is not to be asked about; raises MatchNotFound."""

        def store(conn: Connection) -> FolderMatch:
            matches.find(conn, match_id)
            matches.choose(conn, match_id, None)
            return matches.find(conn, match_id)

        return await self._database.write(store)

    async def reopen(self, match_id: int) -> FolderMatch:
        """Take back what was said of a folder, or what was found; raises MatchNotFound."""

        def store(conn: Connection) -> FolderMatch:
            forget(conn, matches.find(conn, match_id).reading)
            matches.reopen(conn, match_id)
            return matches.find(conn, match_id)

        return await self._database.write(store)

    async def look_again(self) -> UUID:
        """Have all open folders looked for once more, offline and online; the task."""
        await self._database.write(matches.ask_again)
        return (await self._queue.enqueue(MATCH, unique_key=MATCH)).id

    async def _stored(self, store: Callable[[Connection], FolderMatch]) -> FolderMatch:
        chosen = await self._database.write(store)
        await self._fill_in()
        return chosen


def _choose(conn: Connection, found: Sequence[FolderMatch], metadata_id: int) -> list[FolderMatch]:
    """Write a choice down, and let the next folders of these names have it too."""
    for match in found:
        matches.choose(conn, match.id, metadata_id)
    learn(conn, [match.reading for match in found], metadata_id)
    return [matches.find(conn, match.id) for match in found]


def record_for(conn: Connection, candidate: MatchCandidate) -> int:
    """The record of a candidate; made if there is none."""
    if candidate.metadata_id is not None:
        with suppress(LookupError):
            return records.find(conn, candidate.metadata_id).id
    details = candidate.details
    known = records.of_bgm(conn, details.bgm_id) if details.bgm_id is not None else records.of_tmdb(conn, details)
    return known.id if known is not None else records.add(conn, details).id


def _named(match: FolderMatch, key: str) -> MatchCandidate:
    found = next((one for one in match.candidates if one.key == key), None)
    if found is None:
        problem = f"{key!r} is not a candidate of {match.folder!r}; look at it again, they change"
        raise InvalidInput("choice", problem, refused(InputReason.GONE))
    return found

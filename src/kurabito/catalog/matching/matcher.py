"""Matches the folders that a scan added, by what is known offline, while the scan is still under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.matching import matches
from kurabito.catalog.matching.clues import is_video, read_folder
from kurabito.catalog.matching.decision import decide
from kurabito.catalog.matching.matches import MatchLook, NewFolder
from kurabito.catalog.matching.model import MatchedBy
from kurabito.db import Connection, Database

_FILES_AT_ONCE: Final = 5_000


class CatalogMatcher:
    """The library's `FolderMatcher`. Some files at a time are looked at, each in one transaction, so a crash repeats little."""

    def __init__(self, database: Database, fill_in: Callable[[], Awaitable[object]]) -> None:
        self._database = database
        self._fill_in = fill_in

    async def match(self, library_id: int, job_id: str) -> int:
        """Match what this scan added; how many of its folders are left without a match. Safe to do twice."""
        look = await self._database.read(lambda conn: matches.look(conn, library_id))
        if look.moved or look.removed:
            await self._database.write(partial(_tidy, library_id=library_id, look=look))
        # A file that was moved has an id of long ago.
        after, made = 0 if look.moved else look.file_id, 0
        while files := await self._database.read(
            partial(matches.files_after, library_id=library_id, after=after, limit=_FILES_AT_ONCE)
        ):
            after = files[-1][0]
            new = await self._new(library_id, files)
            made += await self._database.write(
                partial(_store, library_id=library_id, job_id=job_id, new=new, look=look, looked_at=after)
            )
        await self._database.write(
            lambda conn: matches.note_look(conn, library_id, look.session_id, max(after, look.file_id))
        )
        if made:
            await self._fill_in()
        return await self._database.read(lambda conn: matches.count_left(conn, job_id))

    async def _new(self, library_id: int, files: Sequence[tuple[int, str]]) -> list[NewFolder]:
        """The folders of some files that were not matched yet, read beside the writer's thread."""
        folders: dict[str, list[tuple[int, str]]] = {}
        for file_id, path in files:
            folder, _, name = path.rpartition("/")
            if folder and is_video(name):
                folders.setdefault(folder, []).append((file_id, name))
        known = await self._database.read(lambda conn: matches.known(conn, library_id, folders))
        return await asyncio.to_thread(_read, {name: held for name, held in folders.items() if name not in known})


def _read(folders: dict[str, list[tuple[int, str]]]) -> list[NewFolder]:
    new = []
    for folder, held in folders.items():
        held.sort(key=lambda file: file[1])
        if (reading := read_folder(folder, [name for _, name in held])) is not None:
            new.append(NewFolder(folder, reading, held[0][0]))
    return new


def _store(
    conn: Connection, library_id: int, job_id: str, new: Sequence[NewFolder], look: MatchLook, looked_at: int
) -> int:
    lock_catalog(conn)
    decisions = decide(conn, [one.reading for one in new])
    matches.add(conn, library_id, job_id, list(zip(new, decisions, strict=True)), MatchedBy.OFFLINE)
    # Only at the end is the scan behind us: what was moved is looked for from the beginning.
    matches.note_look(conn, library_id, look.session_before, max(looked_at, look.file_id))
    return sum(decision.metadata_id is not None for decision in decisions)


def _tidy(conn: Connection, library_id: int, look: MatchLook) -> None:
    if look.moved:
        matches.follow_renames(conn, library_id)
    if look.removed:
        matches.forget_gone(conn, library_id)

"""Finds unused thumbnails: of files that are gone or changed, and files that no row knows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from kurabito.clock import SECOND, Clock, SystemClock
from kurabito.db import Connection, Database
from kurabito.db.port import Row
from kurabito.protocol.enums import ThumbnailFormat
from kurabito.runtime import Registry
from kurabito.thumbnails.admission import source_of
from kurabito.thumbnails.cleanup import Cleanups
from kurabito.thumbnails.keys import Drawing, thumb_key
from kurabito.thumbnails.queries import SQL

SWEEP: Final = "thumbnails.sweep"
_EVERY: Final = 3600.0
_AT_ONCE: Final = 500
_YOUNG: Final = 3600 * SECOND
"""A file of this age may be one that is being written, or that has its row in a moment."""
_REMEMBERED: Final = 24 * 3600 * SECOND


@dataclass(frozen=True, slots=True)
class ThumbnailsSwept:
    """What was found."""

    groups: int
    """Groups whose pictures are removed soon."""
    files: int
    """Files that no row knew; they are gone now."""


class ThumbnailSweep:
    """Looks through the pictures in one folder and the rows about them."""

    def __init__(self, database: Database, cleanups: Cleanups, folder: Path, clock: Clock | None = None) -> None:
        self._database = database
        self._cleanups = cleanups
        self._folder = folder
        self._clock = clock or SystemClock()

    def join(self, registry: Registry) -> None:
        """Have it done every hour."""
        registry.task(SWEEP)(self.sweep)
        registry.every(_EVERY, SWEEP, unique_key=SWEEP)

    async def sweep(self) -> ThumbnailsSwept:
        """Do it now. It is safe to do twice."""
        groups = sorted(await self._outdated_groups())
        for some in _in_parts(groups):
            await self._database.write(partial(self._schedule, groups=some))
        before = self._clock.now() - _REMEMBERED
        await self._database.write(lambda conn: conn.run(SQL.forget_cleanups, {"before": before}))
        return ThumbnailsSwept(len(groups), await self._remove_orphans())

    async def _outdated_groups(self) -> set[str]:
        """The groups with an unused thumbnail: its file is gone, or has another key now."""
        outdated: set[str] = set()
        after = 0
        while rows := await self._database.read(partial(_page, after=after)):
            for number, key, group_key, max_dimension, format_, *file in rows:
                after = number
                source = source_of(tuple(file))
                if source is None or thumb_key(source, Drawing(max_dimension, ThumbnailFormat(format_))) != key:
                    outdated.add(group_key)
        return outdated

    def _schedule(self, conn: Connection, groups: Sequence[str]) -> None:
        for group_key in groups:
            self._cleanups.schedule_in(conn, group_key)

    async def _remove_orphans(self) -> int:
        removed = 0
        for paths in _in_parts(await asyncio.to_thread(lambda: list(_files_in(self._folder)))):
            known = await self._database.read(partial(_known, paths=paths))
            removed += await asyncio.to_thread(self._remove, [path for path in paths if path not in known])
        return removed

    def _remove(self, paths: Sequence[str]) -> int:
        removed = 0
        for path in paths:
            file = self._folder / path
            try:
                # Looked at again just before: it may have been drawn meanwhile.
                if file.stat(follow_symlinks=False).st_mtime_ns // 1000 > self._clock.now() - _YOUNG:
                    continue
                file.unlink()
            except FileNotFoundError:
                continue
            removed += 1
        return removed


def _page(conn: Connection, *, after: int) -> list[Row]:
    return conn.all(SQL.page, {"after": after, "limit": _AT_ONCE})


def _known(conn: Connection, *, paths: Sequence[str]) -> set[str]:
    """The paths of these that a picture has, or will have."""
    return {path for (path,) in conn.all(SQL.paths, {"paths": paths})}


def _in_parts(whole: Sequence[str]) -> Iterator[Sequence[str]]:
    return (whole[start : start + _AT_ONCE] for start in range(0, len(whole), _AT_ONCE))


def _files_in(folder: Path) -> Iterator[str]:
    """The paths of the files in the folders of a folder. No link is followed, so all of them lie there."""
    for inner in _entries(folder):
        if inner.is_dir(follow_symlinks=False):
            for entry in _entries(inner.path):
                if not entry.is_dir(follow_symlinks=False) and entry.name.isascii():
                    yield f"{inner.name}/{entry.name}"


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []

"""Adopts what libraries have, one library after the other, whenever a scan or a match brought something new."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from kurabito.catalog import follow, series
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.matching.decision import decide
from kurabito.catalog.series import Series
from kurabito.catalog.states import SeriesState
from kurabito.db import Connection, Database
from kurabito.logs import get_logger
from kurabito.metadata import records
from kurabito.placements.adoption import store
from kurabito.placements.adoption.loose import LooseGroup, group_by_names
from kurabito.placements.adoption.open_folders import resolve_open
from kurabito.placements.adoption.reading import HadEpisode, VideoFinding, read_unit
from kurabito.placements.adoption.reasons import AdoptionReason, AnyReason, because
from kurabito.placements.adoption.seasons import other_seasons
from kurabito.placements.adoption.store import GivenBy
from kurabito.placements.adoption.units import AdoptionUnit, FolderLook, LibraryVideo, SortedLibrary, sort_library

_AT_ONCE: Final = 20
_LOOSE_AT_ONCE: Final = 200
_NOT_FOLLOWED: Final = SeriesState.IGNORED

_log = get_logger(__name__)


@dataclass(slots=True)
class _Round:
    """What a round over one library came to."""

    library_id: int
    began: int
    known: dict[str, str]
    had: int = 0
    unadopted: list[tuple[LibraryVideo, AnyReason]] = field(default_factory=list)

    def leave(self, videos: Iterable[LibraryVideo], code: AdoptionReason) -> None:
        self.unadopted += [(one, because(code, folder=one.path.rpartition("/")[0])) for one in videos]


class AdoptionRounds:
    """Gives the files of libraries to their episodes. Reads in one transaction, decides outside, and stores in small ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def step(self) -> bool:
        """Adopt what is new; whether there was anything to look at."""
        due = await self._database.read(store.due)
        for library_id in due:
            await self._adopt(library_id)
        return bool(due)

    async def _adopt(self, library_id: int) -> None:
        def look(conn: Connection) -> tuple[_Round, list[FolderLook], list[LibraryVideo]]:
            run = _Round(library_id, conn.now(), store.fingerprints(conn, library_id))
            return run, store.looks(conn, library_id), store.videos(conn, library_id)

        run, looks, videos = await self._database.read(look)
        if any(one.metadata_id is None and not one.is_ignored for one in looks):
            told = await self._database.write(lambda conn: _resolve(conn, library_id, videos))
            looks = [one._replace(metadata_id=told.get(one.folder, one.metadata_id)) for one in looks]
        found = await asyncio.to_thread(sort_library, looks, videos)
        # Before a folder brings names into the catalog that would tell namesakes apart wrongly.
        loose = await self._name_loose(run, found)
        changed = [unit for unit in found.units if run.known.get(unit.folder) != _fingerprint(unit)]
        for start in range(0, len(changed), _AT_ONCE):
            await self._adopt_units(run, changed[start : start + _AT_ONCE])
        for group, record in loose:
            await self._adopt_loose(run, group, record)
        run.leave(found.unmatched, AdoptionReason.UNMATCHED_FOLDER)
        nothing = [(video.id, ()) for video in (*found.ignored, *(video for video, _ in run.unadopted))]
        await self._database.write(partial(_finish, run=run, nothing=nothing))
        _log.info("library adopted", library=library_id, had=run.had, not_had=len(run.unadopted))

    async def _adopt_units(self, run: _Round, units: Sequence[AdoptionUnit]) -> None:
        shows = await self._database.write(lambda conn: _series_of(conn, [unit.records for unit in units]))
        for unit, of_unit in zip(units, shows, strict=True):
            await self._give(run, unit, of_unit)

    async def _name_loose(self, run: _Round, found: SortedLibrary) -> list[tuple[LooseGroup, int | None]]:
        """What files that lie in no folder of a show are about, by their names."""
        groups, silent = await asyncio.to_thread(group_by_names, found.loose)
        run.leave(silent, AdoptionReason.NO_TITLE)
        # Only a name of their own says more than the folder, which is not known.
        strays, rest = await asyncio.to_thread(partial(group_by_names, only_own=True), found.stray)
        run.leave(rest, AdoptionReason.UNMATCHED_FOLDER)
        groups += [replace(group, is_stray=True) for group in strays]
        told: list[int | None] = []
        for start in range(0, len(groups), _LOOSE_AT_ONCE):
            some = groups[start : start + _LOOSE_AT_ONCE]
            told += await self._database.write(partial(_records_named, groups=some))
        return list(zip(groups, told, strict=True))

    async def _adopt_loose(self, run: _Round, group: LooseGroup, record: int | None) -> None:
        if record is None:
            if group.is_stray:
                run.leave(group.videos, AdoptionReason.UNMATCHED_FOLDER)
            else:
                why = because(AdoptionReason.UNKNOWN_SHOW, title=group.title)
                run.unadopted += [(video, why) for video in group.videos]
            return
        (shows,) = await self._database.write(lambda conn: _series_of(conn, [[record]]))
        await self._give(run, AdoptionUnit(group.folder, (record,), group.videos), shows, is_whole=False)

    async def _give(self, run: _Round, unit: AdoptionUnit, shows: Sequence[Series], *, is_whole: bool = True) -> None:
        """Give the videos of a unit to their episodes; `is_whole` where it is all that lies in its folder."""
        others = await self._database.read(lambda conn: other_seasons(conn, unit.folder, unit.videos, shows))
        if others:
            shows = [*shows, *await self._database.write(lambda conn: [_series_of_entry(conn, one) for one in others])]
        findings = await self._database.read(
            lambda conn: read_unit(conn, run.library_id, unit.folder, unit.videos, shows)
        )
        await self._database.write(lambda conn: _store(conn, run, unit, findings, is_whole=is_whole))


def _finish(conn: Connection, run: _Round, nothing: Sequence[tuple[int, tuple[HadEpisode, ...]]]) -> None:
    store.give(conn, nothing, GivenBy.NAME)
    store.note_library(conn, run.library_id, run.began, run.unadopted)
    conn.notify()


def _resolve(conn: Connection, library_id: int, videos: Sequence[LibraryVideo]) -> dict[str, int]:
    lock_catalog(conn)
    return resolve_open(conn, library_id, videos)


def _series_of(conn: Connection, units: Sequence[Sequence[int]]) -> list[list[Series]]:
    """The series of each unit's records. New ones are not followed."""
    lock_catalog(conn)
    return [
        [
            series.find(conn, follow.series_of_record(conn, records.find(conn, record), _NOT_FOLLOWED))
            for record in of_unit
        ]
        for of_unit in units
    ]


def _records_named(conn: Connection, groups: Sequence[LooseGroup]) -> list[int | None]:
    """The records that the names of loose files say; None where nothing, or more than one thing, is known by them."""
    lock_catalog(conn)
    told = decide(conn, [group.reading for group in groups])
    # What is called `… OVA` may be an entry of its own; if not, it is a special of the show.
    apart = decide(conn, [group.as_special or group.reading for group in groups])
    return [
        (other.metadata_id if group.as_special else None) or own.metadata_id
        for group, own, other in zip(groups, told, apart, strict=True)
    ]


def _store(
    conn: Connection, run: _Round, unit: AdoptionUnit, findings: Sequence[VideoFinding], *, is_whole: bool
) -> None:
    given = [(one.file_id, [_of_series(conn, episode) for episode in one.episodes]) for one in findings]
    store.give(conn, given, GivenBy.NAME)
    videos = {video.id: video for video in unit.videos}
    left = [(videos[one.file_id], one.reason) for one in findings if one.reason is not None]
    run.unadopted += left
    run.had += len(findings) - len(left)
    if is_whole:
        store.note_folder(conn, run.library_id, unit.folder, unit.records, None if left else _fingerprint(unit))


def _of_series(conn: Connection, episode: HadEpisode) -> HadEpisode:
    """The same with its series: that of an entry is made as soon as a file of it is there."""
    if episode.series_id is not None or episode.bgm_id is None:
        return episode
    return HadEpisode(_series_of_entry(conn, episode.bgm_id).id, episode.kind, episode.number)


def _series_of_entry(conn: Connection, bgm_id: int) -> Series:
    known = records.of_bgm(conn, bgm_id)
    record = known.id if known is not None else follow.add_record(conn, bgm_id)
    ((one,),) = _series_of(conn, [[record]])
    return one


def _fingerprint(unit: AdoptionUnit) -> str:
    listed = json.dumps([unit.records, [(video.id, video.path) for video in unit.videos]], ensure_ascii=False)
    return hashlib.blake2b(listed.encode(errors="surrogatepass"), digest_size=16).hexdigest()

"""Matches what scans left: once more by what is known here by now, then by what TMDB knows.

Series of feeds are given their records on the same round. TMDB decides only where it knows exactly the name, in about the year
that the folder says; anything else that it finds is a candidate.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final

from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.matching import matches
from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.matching.decision import decide, decide_series
from kurabito.catalog.matching.matches import MatchDecision
from kurabito.catalog.matching.model import FolderMatch, MatchCandidate, MatchedBy, MatchReason, MatchState
from kurabito.catalog.matching.service import MATCH, record_for
from kurabito.catalog.matching.verdict import MOST_CANDIDATES
from kurabito.catalog.states import SeriesKind
from kurabito.clock import SECOND
from kurabito.db import Connection, Database
from kurabito.logs import get_logger
from kurabito.metadata.errors import TmdbError
from kurabito.metadata.lookup import weigh
from kurabito.metadata.records import Details, RecordKind, TmdbKind, folded_name
from kurabito.metadata.sources.tmdb import Title, TmdbClient
from kurabito.runtime import Registry
from kurabito.titles.text import is_foreign

_EVERY: Final = 6 * 3600.0
_AT_ONCE: Final = 200
_COOL_DOWN: Final = 7 * 24 * 3600 * SECOND
_MOST_FOUND: Final = 6

_log = get_logger(__name__)


@dataclass(slots=True)
class Rematched:
    """What a round came to."""

    series: int = 0
    offline: int = 0
    online: int = 0
    asked: int = 0


class OpenFolders:
    """The folders that scans left, and the task that comes back to them."""

    def __init__(self, database: Database, tmdb: TmdbClient, fill_in: Callable[[], Awaitable[object]]) -> None:
        self._database = database
        self._tmdb = tmdb
        self._fill_in = fill_in

    def join(self, registry: Registry) -> None:
        """Register the task, and have it done a few times a day."""
        registry.task(MATCH, concurrency=1)(self.match_again)
        registry.every(_EVERY, MATCH, unique_key=MATCH)

    async def match_again(self) -> Rematched:
        """Look at every open folder, and at every series without a record."""
        done = Rematched()
        after: int | None = 0
        while after is not None:
            after, given = await self._database.write(partial(_series, after=after))
            done.series += given
        after = 0
        while after is not None:
            after, found = await self._database.write(partial(_offline, after=after))
            done.offline += found
        if self._tmdb.is_on:
            await self._ask(done)
        if done.series or done.offline or done.online:
            await self._fill_in()
        return done

    async def _ask(self, done: Rematched) -> None:
        after = 0
        while found := await self._database.read(
            partial(matches.unasked, after=after, limit=_AT_ONCE, cool_down=_COOL_DOWN)
        ):
            for match in found:
                try:
                    chosen, candidates = await self._look_up(match.reading)
                except TmdbError as error:
                    # Who does not answer now will not answer for the rest either; nothing is spent by it.
                    _log.warning("search for unmatched folders stopped", code=error.code, problem=str(error))
                    return
                done.asked += 1
                done.online += await self._database.write(
                    partial(_keep, match=match, chosen=chosen, candidates=candidates)
                )
            after = found[-1].id

    async def _look_up(self, reading: FolderReading) -> tuple[MatchCandidate | None, list[MatchCandidate]]:
        """What TMDB knows by the names of a folder: the one that it is, or what it may be."""
        worlds = {SeriesKind.TV: (TmdbKind.TV,), SeriesKind.MOVIE: (TmdbKind.MOVIE,), None: tuple(TmdbKind)}
        found: dict[tuple[TmdbKind, int], Title] = {}
        for name in (reading.names or reading.names_of_files)[:2]:
            for world in worlds[reading.kind]:
                titles = await self._tmdb.search(world, name.shown)
                found |= {(title.kind, title.id): title for title in titles[:_MOST_FOUND]}
        names = {name.folded for name in reading.names}
        exact = [title for title in found.values() if folded_name(title.name) in names and title.is_animation]
        candidates = [_candidate(title, reading) for title in found.values()]
        if reading.year is None or (reading.season or 1) > 1 or reading.has_several_seasons:
            return None, candidates
        near = [title for title in exact if title.year is not None and abs(title.year - reading.year) <= 1]
        chosen = weigh(near, reading.year)
        return (None if chosen is None else _candidate(chosen, reading)), candidates


def _series(conn: Connection, after: int) -> tuple[int | None, int]:
    lock_catalog(conn)
    last, given = decide_series(conn, after=after, limit=_AT_ONCE)
    return last or None, given


def _offline(conn: Connection, after: int) -> tuple[int | None, int]:
    lock_catalog(conn)
    page = matches.page(conn, MatchState.OPEN, after=after, limit=_AT_ONCE)
    found = 0
    for match, decision in zip(page, decide(conn, [match.reading for match in page]), strict=True):
        merged = MatchDecision(
            decision.metadata_id, decision.series_id, decision.reasons, _merged(decision.candidates, match)
        )
        if (merged.metadata_id, merged.candidates) != (match.metadata_id, match.candidates):
            matches.settle(conn, match.id, merged, MatchedBy.OFFLINE)
            found += merged.metadata_id is not None
    return (page[-1].id if page else None), found


def _keep(
    conn: Connection, match: FolderMatch, chosen: MatchCandidate | None, candidates: Iterable[MatchCandidate]
) -> bool:
    offline = [one for one in match.candidates if MatchReason.ONLINE not in one.reasons]
    known = {(one.details.tmdb_kind, one.details.tmdb_id) for one in offline}
    new = [one for one in candidates if (one.details.tmdb_kind, one.details.tmdb_id) not in known]
    listed = (*offline, *new)[:MOST_CANDIDATES]
    record = None if chosen is None else record_for(conn, chosen)
    decision = MatchDecision(record, None, () if chosen is None else chosen.reasons, listed)
    return matches.settle(conn, match.id, decision, MatchedBy.ONLINE, asked_at=conn.now()) and record is not None


def _merged(candidates: Iterable[MatchCandidate], match: FolderMatch) -> tuple[MatchCandidate, ...]:
    """What is known here now, and what TMDB said before."""
    online = (one for one in match.candidates if MatchReason.ONLINE in one.reasons)
    return tuple({one.key: one for one in (*online, *candidates)}.values())[:MOST_CANDIDATES]


def _candidate(title: Title, reading: FolderReading) -> MatchCandidate:
    reasons = [MatchReason.ONLINE]
    if reading.year is not None and title.year is not None:
        reasons.append(MatchReason.YEAR if abs(title.year - reading.year) <= 1 else MatchReason.OTHER_YEAR)
    named = "title_japanese" if is_foreign(title.name) else "title_english"
    season = reading.season if title.kind is TmdbKind.TV else None
    details = Details(
        kind=RecordKind.MOVIE if title.kind is TmdbKind.MOVIE else RecordKind.TV,
        year=title.year,
        season=season,
        poster_url=title.poster_url,
        tmdb_id=title.id,
        tmdb_kind=title.kind,
        tmdb_season=season,
        **{named: title.name},  # type: ignore[arg-type]
    )
    return MatchCandidate(f"tmdb:{title.kind}:{title.id}", details, tuple(reasons))

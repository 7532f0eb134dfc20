"""Matches what scans left: once more by what is known here by now, then by what TMDB knows.

Series of feeds are given their records on the same round. TMDB decides only where it knows exactly the name, in about the year
that the folder says, an anime before anything else (`western`); anything else that it finds is a candidate. One folder that TMDB
does not answer for leaves the others alone, and is asked for by the next round.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.matching import matches, western
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
from kurabito.metadata.lookup import TitleSource, weigh
from kurabito.metadata.records import TmdbKind, folded_name
from kurabito.metadata.search import details_of_title
from kurabito.metadata.sources.tmdb import Title, TmdbClient
from kurabito.metadata.sync.turns import TmdbTurns
from kurabito.runtime import Registry

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
    failed: int = 0
    """Folders that TMDB did not answer for, or was not asked about because it answers no others."""


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
        after, tmdb, problem = 0, TmdbTurns(self._tmdb), None
        while found := await self._database.read(
            partial(matches.unasked, after=after, limit=_AT_ONCE, cool_down=_COOL_DOWN)
        ):
            for match in found:
                try:
                    chosen, candidates = await _look_up(tmdb, match)
                except TmdbError as error:
                    # Nothing is spent by it: the next round asks.
                    problem = error
                    done.failed += 1
                    continue
                done.asked += 1
                done.online += await self._database.write(
                    partial(_keep, match=match, chosen=chosen, candidates=candidates)
                )
            after = found[-1].id
        if problem is not None:
            _log.warning(
                "unmatched folders not looked up", folders=done.failed, code=problem.code, problem=str(problem)
            )


async def _look_up(tmdb: TitleSource, match: FolderMatch) -> tuple[MatchCandidate | None, list[MatchCandidate]]:
    """What TMDB knows by the names of a folder: the one that it is, or what it may be. Raises TmdbError."""
    reading = match.reading
    worlds = {SeriesKind.TV: (TmdbKind.TV,), SeriesKind.MOVIE: (TmdbKind.MOVIE,), None: tuple(TmdbKind)}
    found: dict[tuple[TmdbKind, int], Title] = {}
    offered: dict[tuple[TmdbKind, int], Title] = {}
    is_all = True
    for name in (reading.names or reading.names_of_files)[:2]:
        for world in worlds[reading.kind]:
            titles = await tmdb.search(world, name.shown)
            if len(titles) >= western.PAGE:
                is_all = False
                # The one may be behind the first answers; with the year it is not.
                titles += await tmdb.search(world, name.shown, reading.year) if reading.year is not None else []
            found |= {(title.kind, title.id): title for title in titles}
            offered |= {(title.kind, title.id): title for title in titles[:_MOST_FOUND]}
    chosen = _anime(reading, list(found.values()))
    if chosen is None and western.may_be_western(reading):
        is_known_here = any(MatchReason.ONLINE not in one.reasons for one in match.candidates)
        chosen = await western.choose(tmdb, reading, list(found.values()), is_all=is_all, is_known_here=is_known_here)
    if chosen is not None:
        offered[chosen.kind, chosen.id] = chosen
    candidates = [_candidate(title, reading) for title in offered.values()]
    return (None if chosen is None else _candidate(chosen, reading)), candidates


def _anime(reading: FolderReading, found: Sequence[Title]) -> Title | None:
    """The anime that has exactly the name of the folder, unless something else of the name is nearer to its year.

    The seasons of an anime are entries of their own elsewhere, so TMDB alone does not decide about them.
    """
    if reading.year is None or (reading.season or 1) > 1 or reading.has_several_seasons:
        return None
    names = {name.folded for name in reading.names}
    exact = [title for title in found if folded_name(title.name) in names and title.is_animation]
    is_latin = western.may_be_western(reading)
    anime = [title for title in exact if title.is_japanese or not is_latin]
    near = [title for title in anime if title.year is not None and abs(title.year - reading.year) <= 1]
    chosen = weigh(near, reading.year)
    others = [title for title in western.called(reading, found) if not title.is_japanese] if is_latin else []
    if chosen is None or (chosen.year != reading.year and any(one.year == reading.year for one in others)):
        return None
    return chosen


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
    return MatchCandidate(f"tmdb:{title.kind}:{title.id}", details_of_title(title, reading.season), tuple(reasons))

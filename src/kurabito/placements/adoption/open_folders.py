"""Folders that matching left open, and that can be told after all: by an id in the name, or by how far their files count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from kurabito.catalog.matching import matches
from kurabito.catalog.matching.model import AGAINST, FolderMatch, MatchCandidate, MatchReason, MatchState
from kurabito.catalog.matching.service import record_for
from kurabito.db import Connection
from kurabito.metadata import records
from kurabito.metadata.franchises import franchise_of
from kurabito.metadata.records import Details, TmdbKind
from kurabito.metadata.search import details_of_entry
from kurabito.metadata.sources import offline
from kurabito.placements.adoption.units import LibraryVideo, show_folder
from kurabito.placements.plans.folders import read_folder
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reading import read_video

_ID: Final = re.compile(r"[\[{(](tmdb|bgm|bangumi)(?:id)?[-=](\d{1,9})[\]})]", re.I)
_AT_ONCE: Final = 500


def resolve_open(conn: Connection, library_id: int, videos: Sequence[LibraryVideo]) -> dict[str, int]:
    """The records of open folders that can be told; those that are missing are made."""
    numbers: Mapping[str, float] | None = None
    found: dict[str, int] = {}
    after = 0
    while page := matches.page(conn, MatchState.OPEN, after=after, limit=_AT_ONCE, library_id=library_id):
        after = page[-1].id
        for match in page:
            record = _by_id(conn, match)
            if record is None and _is_of_one_show(match):
                numbers = _last_numbers(videos) if numbers is None else numbers
                record = _by_count(conn, match.candidates, numbers.get(match.folder, 0))
            if record is not None:
                found[match.folder] = record
    return found


def _by_id(conn: Connection, match: FolderMatch) -> int | None:
    """`Yoru no Kurabito [tmdbid-7]/Season 02`: the id says the show, and the folder the season."""
    said = _ID.search(show_folder(match.folder).rpartition("/")[2])
    if said is None:
        return None
    number = int(said[2])
    if said[1].lower() != "tmdb":
        known = records.of_bgm(conn, number)
        return None if known is None else known.id
    own = read_folder(match.folder.rpartition("/")[2]).season
    season = own if own is not None else match.reading.season or 1
    entries = [details_of_entry(entry) for entry in offline.of_shows(conn, [number])]
    fitting = sorted(
        (one for one in entries if (one.tmdb_season or one.season or 1) == season),
        key=lambda one: str(one.air_date or ""),
    )
    if not fitting:
        return None
    return record_for(conn, MatchCandidate("", fitting[0], ()))


def _is_of_one_show(match: FolderMatch) -> bool:
    """Whether everything that it may be is a season of one show, and nothing but the name that they share speaks against it."""
    shows = {(one.details.tmdb_kind, one.details.tmdb_id) for one in match.candidates}
    against = {reason for one in match.candidates for reason in one.reasons if reason in AGAINST}
    return (
        len(match.candidates) > 1
        and len(shows) == 1
        and shows.pop()[0] is TmdbKind.TV
        and against <= {MatchReason.SHARED_NAME}
        and match.reading.season is None
        and not match.reading.has_several_seasons
    )


def _by_count(conn: Connection, candidates: Sequence[MatchCandidate], last: float) -> int | None:
    """The first season, where the numbers of the files count beyond each single one."""
    lengths = [_length(conn, one.details) for one in candidates]
    if any(length is None or last <= length for length in lengths):
        return None
    first = min(candidates, key=lambda one: str(one.details.air_date or "9999"))
    return record_for(conn, first)


def _length(conn: Connection, details: Details) -> int | None:
    franchise = franchise_of(conn, details)
    entry = None if franchise is None else franchise.entry(details)
    return details.episode_count if entry is None else entry.episode_count


def _last_numbers(videos: Sequence[LibraryVideo]) -> Mapping[str, float]:
    """How far the files of each folder count."""
    found: dict[str, float] = {}
    for video in videos:
        folder = video.path.rpartition("/")[0]
        reading = read_video(SplitPath.of(video.path))
        found[folder] = max(found.get(folder, 0), *reading.episodes, 0)
    return found

"""Whether what a title says can be, by what is known of its series: numbers far beyond its end, a season of which parts are in the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kurabito.catalog.identity.resolution import SeriesMatch
from kurabito.catalog.releases import Release
from kurabito.catalog.states import DoubtReason
from kurabito.db import Connection, Queries
from kurabito.db.rows import given
from kurabito.reasons import Reason
from kurabito.titles import ReleaseKind

_SQL: Final = Queries("kurabito.catalog.identity", "plausibility.sql")
_FAR: Final = 12
"""So many numbers beyond its last episode, a show is not longer than its record says: titles count otherwise."""


def doubts_of(
    conn: Connection, releases: Mapping[int, Release], matches: Mapping[int, SeriesMatch]
) -> dict[int, Reason[DoubtReason]]:
    """Why releases of known series are doubtful, by the ids of their items."""
    series = sorted({match.series_id for match in matches.values() if match.question_id is None})
    if not series:
        return {}
    known = {series_id: (count, bool(has_some)) for series_id, count, has_some in conn.all(_SQL.known, given(series))}
    found = {}
    for item_id, release in releases.items():
        match = matches[item_id]
        if match.question_id is None and (doubt := _doubt(release, match, *known[match.series_id])) is not None:
            found[item_id] = doubt
    return found


def _doubt(release: Release, match: SeriesMatch, count: int | None, has_some: bool) -> Reason[DoubtReason] | None:
    if release.kind is not ReleaseKind.TV:
        return None
    if release.is_batch and not release.episodes:
        return Reason(DoubtReason.WHOLE_SEASON) if has_some else None
    last = max(map(match.number, release.episodes), default=0)
    if count is not None and last > count + _FAR:
        return Reason(DoubtReason.BEYOND_COUNT, {"episode": last, "known": count})
    return None

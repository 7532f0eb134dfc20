"""Where links belong as their titles are read now, and why they are held there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kurabito.catalog.identity import aliases
from kurabito.catalog.identity.aliases import AliasSource, alias_row
from kurabito.catalog.identity.decision import Certain, InDoubt
from kurabito.catalog.identity.entries import understood
from kurabito.catalog.identity.knowledge import ReleaseOrigin
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.identity.resolution import judge_all
from kurabito.catalog.linker import EpisodeKey
from kurabito.catalog.releases import Release
from kurabito.catalog.states import HELD_BY_SERIES, HeldReason, SeriesState
from kurabito.db import Connection


class LinkPlace(NamedTuple):
    """Where a link belongs, and what is wanted of that series."""

    key: EpisodeKey
    state: SeriesState


def places_of(conn: Connection, links: Sequence[Any], read: dict[int, Release]) -> dict[int, LinkPlace]:
    """Where each link belongs: its series, and of a single episode the number. A batch keeps the numbers of its links."""
    known = [link for link in links if link.id in read and read[link.id].episodes]
    readings = understood(conn, [Reading.of(read[link.id]) for link in known])
    made: dict[str, int] = {}
    places = {}
    for link, reading, decision in zip(
        known, readings, judge_all(conn, readings, [_origin(link) for link in known]), strict=True
    ):
        release = read[link.id]
        if isinstance(decision, InDoubt) or (len(release.episodes) > 1 and link.episode_id is None):
            continue
        if isinstance(decision, Certain):
            series_id, state = decision.series.id, decision.series.state
            offset = reading.counted_from or decision.series.episode_offset
        else:
            # A series that no one asked for waits for its keeper.
            if reading.key not in made:
                made[reading.key] = aliases.add_series(conn, reading, SeriesState.ASKED)
                rows = [
                    alias_row(name, reading.kind, reading.said_season, reading.year, reading.country)
                    for name in reading.names
                ]
                aliases.add(conn, ({**row, "series_id": made[reading.key]} for row in rows), AliasSource.TITLE)
            series_id, offset, state = made[reading.key], reading.counted_from, SeriesState.ASKED
        key = (link.kind, float(link.number)) if len(release.episodes) > 1 else _numbered(release, offset)
        places[link.id] = LinkPlace((series_id, *key), state)
    return places


def _origin(link: Any) -> ReleaseOrigin | None:
    return None if link.feed_id is None else ReleaseOrigin.at(link.feed_id, link.feed_url, link.feed_series_id)


def _numbered(release: Release, offset: int) -> tuple[str, float]:
    number = release.episodes[0]
    return release.kind.value, float(number - offset if number > offset else number)


def key_of(link: Any) -> EpisodeKey | None:
    return None if link.episode_id is None else (link.series_id, link.kind, float(link.number))


def as_moved(link: Any, key: EpisodeKey) -> dict[str, Any]:
    series_id, _, number = key
    return {
        "link_id": link.id,
        "from_series": link.series_id,
        "from_number": link.number,
        "to_series": series_id,
        "to_number": number,
    }


def take_place(link: Any, episode_id: int, taken: set[tuple[str, int | None]]) -> bool:
    """Whether no other link of the release is for that episode; this one is then."""
    if (link.release_key, episode_id) in taken:
        return False
    taken.add((link.release_key, episode_id))
    return True


def held_at(link: Any, state: SeriesState) -> HeldReason | None:
    """Why a link is held in its new place: nothing that was never downloaded begins to be without a word."""
    if link.is_taken:
        return None if link.held_reason is None else HeldReason(link.held_reason)
    return HELD_BY_SERIES[state] or HeldReason.READ_AGAIN

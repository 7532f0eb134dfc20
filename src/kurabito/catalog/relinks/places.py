"""Where links belong as their titles are read now. Only reads, so that it runs beside everything else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from kurabito.catalog.identity.decision import Certain, Decision, InDoubt
from kurabito.catalog.identity.entries import understood
from kurabito.catalog.identity.reading import Reading, ReleaseOrigin
from kurabito.catalog.identity.resolution import judge_all
from kurabito.catalog.releases import Release
from kurabito.db import Connection, Queries

_SQL: Final = Queries("kurabito.catalog.relinks", "places.sql")
_origin_at: Final = lru_cache(maxsize=1024)(ReleaseOrigin.at)
"""Few feeds bring many links."""


class LinkMove(NamedTuple):
    """A link that belongs elsewhere: where it was when that was found, and where it belongs."""

    link_id: int
    from_series: int
    from_episode: int | None
    series_id: int | None
    """None where a new series has to be made."""
    kind: str
    number: float
    new: Reading | None = None
    """What the new series is made of."""


def moves_of(conn: Connection, links: Sequence[Any], read: Mapping[str, Release]) -> list[LinkMove]:
    """The links that belong elsewhere. What their titles say is given by title; of those left out, nothing is said."""
    moves = []
    for link, reading, decision in decided(conn, [link for link in links if link.title in read], read):
        release = read[link.title]
        move = _move(link, release, reading, decision) if release.episodes else None
        if move is not None and (move.series_id, move.kind, move.number) != _key_of(link):
            moves.append(move)
    return moves


def decided(
    conn: Connection, links: Sequence[Any], read: Mapping[str, Release]
) -> Iterable[tuple[Any, Reading, Decision]]:
    """What is decided about links now, with what their titles say; of those that are decided alike, with what the first says."""
    said = list(dict.fromkeys(link.title for link in links))
    readings = dict(zip(said, understood(conn, [Reading.of(read[title]) for title in said]), strict=True))
    decisions = _decisions(conn, ((readings[link.title], _origin(link)) for link in links))
    return ((link, reading, decision) for link, (reading, decision) in zip(links, decisions, strict=True))


def _decisions(
    conn: Connection, asked: Iterable[tuple[Reading, ReleaseOrigin | None]]
) -> list[tuple[Reading, Decision]]:
    """What is decided about each; those that nothing tells apart are decided once."""
    offsets = [offset for (offset,) in conn.all(_SQL.offsets)]
    keys: list[Hashable] = []
    first: dict[Hashable, tuple[Reading, ReleaseOrigin | None]] = {}
    for reading, origin in asked:
        key = _alike(reading, origin, offsets)
        keys.append(key)
        first.setdefault(key, (reading, origin))
    readings, origins = zip(*first.values(), strict=True) if first else ((), ())
    # One reading for all of them: a new series is made of it, and a process that judges sends it once.
    decided = dict(zip(first, zip(readings, judge_all(conn, readings, origins), strict=True), strict=True))
    return [decided[key] for key in keys]


def _alike(reading: Reading, origin: ReleaseOrigin | None, offsets: Sequence[int]) -> Hashable:
    """The same for readings that are decided alike: of a number it counts only how many offsets it is beyond."""
    reached = None if reading.first_episode is None else bisect_left(offsets, reading.first_episode)
    names = tuple(name.folded for name in reading.names)
    written = tuple(name.folded for name in reading.written)
    group = None if reading.group is None else reading.group.folded
    marks = (reading.kind, reading.season, reading.year, reading.country, reading.counted_from)
    return names, written, marks, group, reached, origin


def _move(link: Any, release: Release, reading: Reading, decision: Decision) -> LinkMove | None:
    """Where a link belongs: its series, and of a single episode the number. A batch keeps the numbers of its links."""
    is_batch = len(release.episodes) > 1
    if isinstance(decision, InDoubt) or (is_batch and link.episode_id is None):
        return None
    series = decision.series if isinstance(decision, Certain) else None
    offset = reading.counted_from or (0 if series is None else series.episode_offset)
    number = float(link.number) if is_batch else _counted(release, offset)
    return LinkMove(
        link.id,
        link.series_id,
        link.episode_id,
        None if series is None else series.id,
        link.kind if is_batch else release.kind.value,
        number,
        reading if series is None else None,
    )


def _origin(link: Any) -> ReleaseOrigin | None:
    return None if link.feed_id is None else _origin_at(link.feed_id, link.feed_url, link.feed_series_id)


def _counted(release: Release, offset: int) -> float:
    number = release.episodes[0]
    return float(number - offset if number > offset else number)


def _key_of(link: Any) -> tuple[int, str, float] | None:
    return None if link.episode_id is None else (link.series_id, link.kind, float(link.number))

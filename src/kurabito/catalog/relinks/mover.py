"""Moves links to where they were judged to belong; what changed since they were judged stays for the next reading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.files import carry_files_of_links
from kurabito.catalog.identity import aliases
from kurabito.catalog.identity.aliases import AliasSource, alias_row
from kurabito.catalog.identity.decision import Certain, InDoubt
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.identity.resolution import judge
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import EpisodeKey, find_episodes, lock_catalog
from kurabito.catalog.relinks import store
from kurabito.catalog.relinks.links import LINK, SQL
from kurabito.catalog.relinks.places import LinkMove
from kurabito.catalog.states import HELD_BY_SERIES, HeldReason, SeriesState
from kurabito.db import Connection
from kurabito.db.rows import given

_AT_ONCE: Final = 12
"""Links of one transaction, which others wait for."""
_NEW_AT_ONCE: Final = 2


class Moved(NamedTuple):
    """How many links went elsewhere, and how many of them wait to be confirmed."""

    links: int = 0
    held: int = 0


class _PlannedMove(NamedTuple):
    """A link that goes elsewhere: as it is stored, and where it goes."""

    link: Any
    key: EpisodeKey
    episode_id: int
    held: HeldReason | None


class LinkMover:
    """Moves the links of one run."""

    def __init__(self, run: int, sink: LinkSink | None) -> None:
        self._run = run
        self._sink = sink
        self._made: dict[str, int | None] = {}
        """The series of readings that had none; None where they are asked about."""

    def slices(self, moves: Sequence[LinkMove]) -> Iterator[Sequence[LinkMove]]:
        """The moves of one transaction after the other: to make a series takes as long as to move many links."""
        some: list[LinkMove] = []
        new: set[str] = set()
        for move in moves:
            if move.new is not None and move.new.key not in self._made:
                new.add(move.new.key)
            some.append(move)
            if len(some) == _AT_ONCE or len(new) == _NEW_AT_ONCE:
                yield some
                some, new = [], set()
        if some:
            yield some

    def move(self, conn: Connection, moves: Sequence[LinkMove]) -> Moved:
        """Move some links."""
        lock_catalog(conn)
        planned = self._planned(conn, _standing(conn, moves))
        if planned:
            conn.run(SQL.move, {"rows": json.dumps([_as_written(one) for one in planned])})
            # Only what was downloaded has files.
            taken = ((one.link.id, one.link.episode_id, one.episode_id) for one in planned if one.link.is_taken)
            carry_files_of_links(conn, RowChanges(conn), taken)
            store.note_moved(conn, self._run, map(_as_moved, planned))
            if self._sink is not None:
                both = (episode for one in planned for episode in (one.link.episode_id, one.episode_id))
                self._sink.restate(conn, {episode for episode in both if episode is not None})
        return Moved(len(planned), sum(one.held is HeldReason.READ_AGAIN for one in planned))

    def _planned(self, conn: Connection, standing: Sequence[tuple[Any, LinkMove]]) -> list[_PlannedMove]:
        self._make_new(conn, {move.new.key: move.new for _, move in standing if move.new is not None})
        series = {link.id: self._made[move.new.key] if move.new else move.series_id for link, move in standing}
        wanted = sorted({one for one in series.values() if one is not None})
        states = {series_id: SeriesState(state) for series_id, state in conn.all(SQL.states, given(wanted))}
        keys: dict[int, EpisodeKey] = {}
        for link, move in standing:
            series_id = series[link.id]
            key = None if series_id is None else (series_id, move.kind, move.number)
            if key is not None and key[0] in states and key != _key_of(link):
                keys[link.id] = key
        episodes = find_episodes(conn, set(keys.values()))
        taken = _taken(conn, [link for link, _ in standing if link.id in keys])
        return [
            _PlannedMove(link, key, episodes[key], _held_at(link, states[key[0]]))
            for link, _ in standing
            if (key := keys.get(link.id)) is not None and _take_place(link, episodes[key], taken)
        ]

    def _make_new(self, conn: Connection, readings: Mapping[str, Reading]) -> None:
        """Make the series of readings that had none, once for all of their links; a keeper may have removed one since."""
        made = [one for key in readings if (one := self._made.get(key)) is not None]
        there = {None, *(series_id for series_id, _ in (conn.all(SQL.states, given(made)) if made else ()))}
        for key, reading in readings.items():
            if key not in self._made or self._made[key] not in there:
                self._made[key] = _find_or_make(conn, reading)


def _standing(conn: Connection, moves: Sequence[LinkMove]) -> list[tuple[Any, LinkMove]]:
    """The links that are still where they were judged."""
    judged = {move.link_id: move for move in moves}
    links = (LINK.row(row) for row in conn.all(SQL.again, given(judged)))
    both = ((link, judged[link.id]) for link in links)
    return [
        (link, move)
        for link, move in both
        if (link.series_id, link.episode_id) == (move.from_series, move.from_episode)
    ]


def _taken(conn: Connection, planned: Sequence[Any]) -> set[tuple[str, int | None]]:
    """What other links of the same releases are for."""
    own = {link.id for link in planned}
    beside = conn.all(SQL.beside, given(sorted({link.release_key for link in planned})))
    return {(release_key, episode_id) for link_id, release_key, episode_id in beside if link_id not in own}


def _find_or_make(conn: Connection, reading: Reading) -> int | None:
    """The series that a reading has since it was judged, else a new one; None where it would be asked about now."""
    decision = judge(conn, reading)
    if isinstance(decision, Certain):
        return decision.series.id
    return None if isinstance(decision, InDoubt) else _make(conn, reading)


def _make(conn: Connection, reading: Reading) -> int:
    """A series that no one asked for waits for its keeper."""
    series_id = aliases.add_series(conn, reading, SeriesState.ASKED)
    rows = (alias_row(name, reading.kind, reading.said_season, reading.year, reading.country) for name in reading.names)
    aliases.add(conn, ({**row, "series_id": series_id} for row in rows), AliasSource.TITLE)
    return series_id


def _key_of(link: Any) -> EpisodeKey | None:
    return None if link.episode_id is None else (link.series_id, link.kind, float(link.number))


def _as_written(one: _PlannedMove) -> dict[str, Any]:
    return {
        "id": one.link.id,
        "series_id": one.key[0],
        "episode_id": one.episode_id,
        "held_before": one.link.held_reason,
        "held_reason": one.held,
    }


def _as_moved(one: _PlannedMove) -> dict[str, Any]:
    series_id, _, number = one.key
    return {
        "link_id": one.link.id,
        "from_series": one.link.series_id,
        "from_number": one.link.number,
        "to_series": series_id,
        "to_number": number,
    }


def _take_place(link: Any, episode_id: int, taken: set[tuple[str, int | None]]) -> bool:
    """Whether no other link of the release is for that episode; this one is then."""
    if (link.release_key, episode_id) in taken:
        return False
    taken.add((link.release_key, episode_id))
    return True


def _held_at(link: Any, state: SeriesState) -> HeldReason | None:
    """Why a link is held in its new place: nothing that was never downloaded begins to be without a word."""
    if link.is_taken:
        return None if link.held_reason is None else HeldReason(link.held_reason)
    return HELD_BY_SERIES[state] or HeldReason.READ_AGAIN

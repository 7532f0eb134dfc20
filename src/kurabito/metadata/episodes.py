"""The episodes of a record: numbers, titles in several languages and the days on which they were shown."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Any, Final

from kurabito.db import Connection, Database, Queries
from kurabito.metadata.records import Details, TmdbKind

_SQL: Final = Queries("kurabito.metadata", "episodes.sql")
_AT_ONCE: Final = 2_000


class EpisodeSource(StrEnum):
    """Where a list of episodes comes from, the one that is believed first at the top."""

    BGM = "bgm"
    ARCHIVE = "archive"
    """The dump of bgm.tv."""
    TMDB = "tmdb"


@dataclass(frozen=True, slots=True)
class KnownEpisode:
    """An episode as a source lists it."""

    counted: int | float
    """Its number as the source counts, which for a second cour may begin at 13."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """By language: ja, en, zh-Hans, zh-Hant."""
    air_date: date | None = None
    number: int | float | None = None
    """Its number in the record, from 1; None before the list is complete."""

    def title(self, *languages: str) -> str | None:
        """Its title in the first of these languages that it has one in, else in any."""
        return next((self.titles[one] for one in (*languages, *self.titles) if one in self.titles), None)


@dataclass(frozen=True, slots=True)
class EpisodeList:
    """The episodes of an entry by one source, and when it was asked."""

    source: EpisodeSource
    episodes: tuple[KnownEpisode, ...]
    read_at: int


def key_of(source: EpisodeSource, details: Details) -> str | None:
    """What a source calls the list of a record's episodes; None when it has none."""
    if source is not EpisodeSource.TMDB:
        return None if details.bgm_id is None else str(details.bgm_id)
    if details.tmdb_id is None or details.tmdb_kind is not TmdbKind.TV:
        return None
    return f"{details.tmdb_id}/{1 if details.tmdb_season is None else details.tmdb_season}"


def keep_lists(conn: Connection, source: EpisodeSource, lists: Mapping[str, Sequence[KnownEpisode]]) -> None:
    """Store lists of episodes, each in the place of the one before."""
    rows = [{"entry": entry, "episodes": _as_stored(episodes)} for entry, episodes in lists.items()]
    for start in range(0, len(rows), _AT_ONCE):
        given = json.dumps(rows[start : start + _AT_ONCE], ensure_ascii=False)
        conn.run(_SQL.keep, {"source": source, "rows": given})


def forget_other_lists(database: Database, source: EpisodeSource, kept: Collection[str]) -> None:
    """Forget the lists of a source that it does not have any more, some at a time."""
    known = database.read_blocking(lambda conn: [entry for (entry,) in conn.all(_SQL.entries, {"source": source})])
    gone = [[entry] for entry in known if entry not in kept]
    for start in range(0, len(gone), _AT_ONCE):
        rows = json.dumps(gone[start : start + _AT_ONCE])
        database.write_blocking(lambda conn, rows=rows: conn.run(_SQL.forget, {"source": source, "rows": rows}))  # type: ignore[misc]


def lists_of(conn: Connection, details: Details) -> list[EpisodeList]:
    """What each source lists for a record, the one that is believed first at the beginning."""
    wanted = [(source, key) for source in EpisodeSource if (key := key_of(source, details)) is not None]
    rows = json.dumps([{"source": source, "entry": key} for source, key in wanted])
    found = {source: (episodes, read_at) for source, episodes, read_at in conn.all(_SQL.lists, {"rows": rows})}
    return [
        EpisodeList(source, tuple(_episodes(json.loads(found[source][0]))), found[source][1])
        for source, _ in wanted
        if source in found
    ]


def episodes_of(conn: Connection, details: Details, *, first_in_season: int | None = 1) -> list[KnownEpisode]:
    """The episodes of a record, in their order, with what all sources know of each.

    bgm.tv lists the episodes of the record itself. TMDB lists those of a season, in which the record may begin later:
    `first_in_season` says where. Where that is not known, TMDB's list is left out.
    """
    merged: dict[int | float, KnownEpisode] = {}
    count: int | None = None
    for listed in lists_of(conn, details):
        if listed.source is EpisodeSource.TMDB:
            numbered = [] if first_in_season is None else _from(listed.episodes, first_in_season, count)
        elif merged:
            continue
        else:
            first = min((episode.counted for episode in listed.episodes), default=1)
            numbered = _from(listed.episodes, max(int(first), 1), None)
            count = len(numbered) or None
        for episode in numbered:
            assert episode.number is not None
            known = merged.get(episode.number)
            merged[episode.number] = episode if known is None else _completed(known, episode)
    return [merged[number] for number in sorted(merged)]


def _from(episodes: Iterable[KnownEpisode], first: int, count: int | None) -> list[KnownEpisode]:
    """The episodes from one number on, counted from 1; no more than there are."""
    numbered = [replace(one, number=one.counted - first + 1) for one in episodes if one.counted >= first]
    return numbered if count is None else [one for one in numbered if (one.number or 0) <= count]


def _completed(known: KnownEpisode, other: KnownEpisode) -> KnownEpisode:
    return replace(known, titles={**other.titles, **known.titles}, air_date=known.air_date or other.air_date)


def _as_stored(episodes: Iterable[KnownEpisode]) -> str:
    stored = [[one.counted, dict(one.titles), one.air_date and one.air_date.isoformat()] for one in episodes]
    return json.dumps(stored, ensure_ascii=False)


def _episodes(stored: list[Any]) -> Iterable[KnownEpisode]:
    for counted, titles, day in stored:
        yield KnownEpisode(counted, titles, date.fromisoformat(day) if day else None)

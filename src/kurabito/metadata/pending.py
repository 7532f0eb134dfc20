"""The records that a sync takes, and how it stores what it found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

from kurabito.clock import SECOND
from kurabito.db import Connection, Queries
from kurabito.metadata.records import RECORD, Metadata, RecordCandidate, TmdbKind, candidates_as_stored, record_of

POSTER_URL_PREFIX: Final = "/posters/"
SYNC_CHUNK: Final = 100
TMDB_COOL_DOWN: Final = timedelta(days=7)
_COOL_DOWN: Final = TMDB_COOL_DOWN // timedelta(seconds=1) * SECOND

# The words of the partial indexes; a statement has to repeat them to be answered by one.
_CONDITIONS: Final = {
    "has_remote_poster": "poster_url IS NOT NULL AND poster_url <> '' AND substr(poster_url, 1, 9) <> '/posters/'",
    "lacks_tmdb": "tmdb_id IS NULL AND title_japanese IS NOT NULL AND title_japanese <> ''",
    "is_western": "tmdb_id IS NULL AND (title_japanese IS NULL OR title_japanese = '') AND title_english <> ''",
    "lacks_poster": "(poster_url IS NULL OR poster_url = '') AND (bgm_id IS NOT NULL OR tmdb_id IS NOT NULL)",
    # Without a key TMDB is not asked.
    "poster_can_be_asked": "(bgm_id IS NOT NULL OR :ids = 1)",
}
# SQLite would rather walk the whole table by its ids, so the indexes are named.
_PLACES: Final = {
    "with_remote_poster": "metadata {indexed_by ix_metadata_remote_poster}",
    "without_tmdb": "metadata {indexed_by ix_metadata_without_tmdb}",
    "western": "metadata {indexed_by ix_metadata_western}",
    "without_poster": "metadata {indexed_by ix_metadata_without_poster}",
}
_SQL: Final = Queries("kurabito.metadata", "pending.sql", record=RECORD, **_CONDITIONS, **_PLACES)


def _waiting(place: str, lacks: str, asked_at: str = "tmdb_lookup_at") -> Queries:
    parts = {"place": _PLACES[place], "lacks": lacks, "asked_at": asked_at}
    return Queries("kurabito.metadata", "waiting.sql", record=RECORD, **parts)


_LOOKUPS: Final = _waiting("without_tmdb", _CONDITIONS["lacks_tmdb"])
_WESTERN: Final = _waiting("western", _CONDITIONS["is_western"])
_POSTERS: Final = _waiting(
    "without_poster", f"{_CONDITIONS['lacks_poster']} AND {_CONDITIONS['poster_can_be_asked']}", "poster_lookup_at"
)


@dataclass(frozen=True, slots=True)
class Ids:
    """What an entry is called elsewhere."""

    bgm_id: int | None = None
    tmdb_id: int | None = None
    tmdb_kind: TmdbKind | None = None
    tmdb_season: int | None = None
    anidb_id: int | None = None
    anilist_id: int | None = None
    mal_id: int | None = None
    mikan_id: int | None = None

    def as_stored(self) -> dict[str, int | str]:
        """As the database keeps it: only what is known."""
        return {name: value for name in self.__dataclass_fields__ if (value := getattr(self, name)) is not None}

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> Self:
        """What `as_stored` wrote."""
        world = stored.get("tmdb_kind")
        return cls(**{**stored, "tmdb_kind": TmdbKind(world) if world else None})


@dataclass(frozen=True, slots=True)
class Lookup:
    """How a lookup ended: with an id, or with none and what it may be."""

    tmdb_id: int | None = None
    tmdb_kind: TmdbKind | None = None
    tmdb_season: int | None = None
    poster_url: str | None = None
    candidates: tuple[RecordCandidate, ...] = ()


def needs_poster_sync(record: Metadata) -> bool:
    """Whether its poster is still somewhere else."""
    url = record.details.poster_url
    return bool(url) and not is_local(url or "")


def needs_tmdb_sync(record: Metadata, now: datetime) -> bool:
    """Whether its TMDB id needs a lookup."""
    details = record.details
    return details.tmdb_id is None and bool(details.title_japanese) and should_retry_tmdb_lookup(record, now)


def should_retry_tmdb_lookup(record: Metadata, now: datetime) -> bool:
    """Whether the last lookup is more than seven days ago, or there was none."""
    return record.tmdb_lookup_at is None or now - record.tmdb_lookup_at > TMDB_COOL_DOWN


def is_local(url: str) -> bool:
    """Whether a poster is kept here. Letters count as they are written: paths of ours are."""
    return url.startswith(POSTER_URL_PREFIX)


def get_metadata_to_sync(
    conn: Connection, *, after: int = 0, limit: int = SYNC_CHUNK, ids: bool = True
) -> list[Metadata]:
    """The next records that need a poster or, if `ids` can be looked up, an id; in the order of their own ids."""
    values = {"after": after, "limit": limit, "ids": int(ids), "cool_down": _COOL_DOWN}
    return [record_of(row) for row in conn.all(_SQL.to_sync, values)]


def western_to_look_up(conn: Connection, after: int, limit: int = SYNC_CHUNK) -> list[Metadata]:
    """The next records that have only an English title to look them up by."""
    return _chunk(conn, _WESTERN, after, limit)


def without_poster(conn: Connection, after: int, limit: int = SYNC_CHUNK, *, asks_tmdb: bool = True) -> list[Metadata]:
    """The next records without a poster that bgm.tv, or TMDB if it is asked, can be asked for one."""
    return _chunk(conn, _POSTERS, after, limit, ids=asks_tmdb)


def count_work(conn: Connection, *, ids: bool) -> int:
    """How many records lack something that a sync can ask for; each is counted once."""
    return int(conn.value(_SQL.count_work, {"ids": int(ids), "cool_down": _COOL_DOWN}))


def count_lookups(conn: Connection) -> int:
    """How many records wait for a lookup at TMDB."""
    return _count(conn, _LOOKUPS) + _count(conn, _WESTERN)


def count_without_poster(conn: Connection) -> int:
    """How many records wait for bgm.tv to say where their poster is."""
    return _count(conn, _POSTERS)


def _chunk(conn: Connection, waiting: Queries, after: int, limit: int, *, ids: bool = True) -> list[Metadata]:
    values = {"after": after, "limit": limit, "ids": int(ids), "cool_down": _COOL_DOWN}
    return [record_of(row) for row in conn.all(waiting.chunk, values)]


def _count(conn: Connection, waiting: Queries) -> int:
    # For posters, only those that bgm.tv is asked for.
    return int(conn.value(waiting.count, {"ids": 0, "cool_down": _COOL_DOWN}))


def ask_for_poster(conn: Connection, metadata_id: int, url: str) -> None:
    """Write down where the poster of a record is to come from, so that a crash does not forget it."""
    conn.run(_SQL.ask_for_poster, {"id": metadata_id, "url": url})


def keep_poster(conn: Connection, metadata_id: int, url: str, path: str) -> bool:
    """Say that a poster is here now; false when the record has another one by now, or is gone."""
    return bool(conn.run(_SQL.keep_poster, {"id": metadata_id, "url": url, "path": path}))


def keep_poster_lookup(conn: Connection, metadata_id: int, url: str | None) -> bool:
    """Write down where a poster is, or that there is none; false when the record has one by now."""
    return bool(conn.run(_SQL.keep_poster_lookup, {"id": metadata_id, "url": url}))


def keep_lookup(conn: Connection, record: Metadata, found: Lookup) -> bool:
    """Write down how a lookup ended, and that it was made; false when the record asks something else by now."""
    values = {
        "id": record.id,
        "title": record.details.lookup_title,
        "tmdb_id": found.tmdb_id,
        "tmdb_kind": found.tmdb_kind,
        "tmdb_season": found.tmdb_season,
        "poster_url": found.poster_url,
        "candidates": candidates_as_stored(found.candidates),
    }
    return bool(conn.run(_SQL.keep_lookup, values))


def keep_ids(conn: Connection, given: Sequence[tuple[Metadata, Ids]]) -> int:
    """Give records the ids that they do not have, all at once; how many were changed.

    An id of bgm.tv goes to one record only, and ids to no record that has another title by now.
    """
    rows, taken = [], set[int]()
    for record, ids in given:
        row = {"id": record.id, "title_japanese": record.details.title_japanese, **asdict(ids)}
        if ids.bgm_id in taken:
            row["bgm_id"] = None
        elif ids.bgm_id is not None:
            taken.add(ids.bgm_id)
        rows.append(row)
    return conn.run(_SQL.keep_ids, {"rows": json.dumps(rows, ensure_ascii=False)})

"""The records that a sync takes, and how it stores what it found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from kurabito.clock import SECOND
from kurabito.db import Connection, Queries
from kurabito.metadata.records import RECORD, Metadata, RecordCandidate, TmdbKind, candidates_as_stored, record_of

POSTER_URL_PREFIX: Final = "/posters/"
SYNC_CHUNK: Final = 100
TMDB_COOL_DOWN: Final = timedelta(days=7)
_COOL_DOWN: Final = TMDB_COOL_DOWN // timedelta(seconds=1) * SECOND

# The words of the two partial indexes; a statement has to repeat them to be answered by one.
_CONDITIONS: Final = {
    "has_remote_poster": "poster_url IS NOT NULL AND poster_url <> '' AND substr(poster_url, 1, 9) <> '/posters/'",
    "lacks_tmdb": "tmdb_id IS NULL AND title_japanese IS NOT NULL AND title_japanese <> ''",
}
# SQLite would rather walk the whole table by its ids, so the indexes are named.
_PLACES: Final = {
    "with_remote_poster": "metadata {indexed_by ix_metadata_remote_poster}",
    "without_tmdb": "metadata {indexed_by ix_metadata_without_tmdb}",
}
_SQL: Final = Queries("kurabito.metadata", "pending.sql", record=RECORD, **_CONDITIONS, **_PLACES)


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


def count_metadata_to_sync(conn: Connection, *, ids: bool = True) -> int:
    """How many records `get_metadata_to_sync` would give in all."""
    return int(conn.value(_SQL.count_to_sync, {"ids": int(ids), "cool_down": _COOL_DOWN}))


def ask_for_poster(conn: Connection, metadata_id: int, url: str) -> None:
    """Write down where the poster of a record is to come from, so that a crash does not forget it."""
    conn.run(_SQL.ask_for_poster, {"id": metadata_id, "url": url})


def keep_poster(conn: Connection, metadata_id: int, url: str, path: str) -> bool:
    """Say that a poster is here now; false when the record has another one by now, or is gone."""
    return bool(conn.run(_SQL.keep_poster, {"id": metadata_id, "url": url, "path": path}))


def keep_lookup(conn: Connection, record: Metadata, found: Lookup) -> bool:
    """Write down how a lookup ended, and that it was made; false when the record asks something else by now."""
    values = {
        "id": record.id,
        "title_japanese": record.details.title_japanese,
        "tmdb_id": found.tmdb_id,
        "tmdb_kind": found.tmdb_kind,
        "tmdb_season": found.tmdb_season,
        "poster_url": found.poster_url,
        "candidates": candidates_as_stored(found.candidates),
    }
    return bool(conn.run(_SQL.keep_lookup, values))


def keep_ids(conn: Connection, metadata_id: int, ids: Ids) -> None:
    """Give a record the ids that it does not have; an id of bgm.tv only if no other record has it."""
    values = {name: getattr(ids, name) for name in ("bgm_id", "anidb_id", "anilist_id", "mal_id", "mikan_id")}
    conn.run(_SQL.keep_ids, {"id": metadata_id, **values})

"""Metadata records: the details of a show or a film, and the ids to look up the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Final

from kurabito.clock import optional_datetime, to_datetime
from kurabito.db import Connection, Queries, Query
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Row
from kurabito.metadata.errors import MetadataConflict, MetadataNotFound
from kurabito.titles import fold_title


class RecordKind(StrEnum):
    """How it was shown."""

    TV = "tv"
    WEB = "web"
    OVA = "ova"
    MOVIE = "movie"


class TmdbKind(StrEnum):
    """Which of TMDB's two worlds an id belongs to."""

    TV = "tv"
    MOVIE = "movie"


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The details of a show or a film that a user may change."""

    kind: RecordKind = RecordKind.TV
    title_japanese: str | None = None
    title_chinese: str | None = None
    title_english: str | None = None
    year: int | None = None
    season: int | None = None
    air_date: date | None = None
    air_weekday: int | None = None
    """1 is Monday."""
    episode_count: int | None = None
    summary: str | None = None
    poster_url: str | None = None
    """A path of ours (`/posters/…`), or where the poster is until it was fetched."""
    bgm_id: int | None = None
    tmdb_id: int | None = None
    tmdb_kind: TmdbKind | None = None
    tmdb_season: int | None = None
    anidb_id: int | None = None
    anilist_id: int | None = None
    mal_id: int | None = None
    mikan_id: int | None = None

    @property
    def titles(self) -> tuple[str, ...]:
        """Every title that is known."""
        return tuple(filter(None, (self.title_japanese, self.title_chinese, self.title_english)))

    @property
    def lookup_title(self) -> str | None:
        """The title that it is looked up by: the Japanese one, and for what has none the English one."""
        return self.title_japanese or self.title_english


@dataclass(frozen=True, slots=True)
class RecordCandidate:
    """A show or film of TMDB that may be the one; the user has to choose."""

    tmdb_id: int
    kind: TmdbKind
    name: str
    year: int | None
    is_animation: bool
    season: int | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """A metadata record."""

    id: int
    details: Details
    tmdb_lookup_at: datetime | None
    candidates: tuple[RecordCandidate, ...]
    created_at: datetime
    updated_at: datetime
    poster_lookup_at: datetime | None = None
    """When bgm.tv or TMDB was asked where its poster is."""


_DETAILS: Final = tuple(Details.__dataclass_fields__)
_TEXTS: Final = ("title_japanese", "title_chinese", "title_english", "summary", "poster_url")
# Another one of these makes it another question.
_ASKED_BY: Final = ("lookup_title", "year", "kind", "tmdb_id", "bgm_id")
RECORD: Final = f"id, {', '.join(_DETAILS)}, tmdb_lookup_at, tmdb_candidates, created_at, updated_at, poster_lookup_at"
OWN_RECORD: Final = ", ".join(f"metadata.{column}" for column in RECORD.split(", "))
"""The same with the table's name, for beside other tables."""
_LONGEST_FOLDED: Final = 200
_SQL: Final = Queries("kurabito.metadata", "records.sql", record=RECORD, own_record=OWN_RECORD)


def add(conn: Connection, details: Details) -> Metadata:
    """Store a record; raises MetadataConflict when another one has its id of bgm.tv."""
    _refuse_taken(conn, details.bgm_id)
    try:
        metadata_id = conn.value(_SQL.insert, _stored(details))
    except UniqueConflict:
        raise _taken(details.bgm_id) from None
    _name(conn, [(metadata_id, details)])
    return find(conn, metadata_id)


def add_all(conn: Connection, wanted: Sequence[Details]) -> list[int]:
    """Store records whose ids of bgm.tv no other has, all at once; their ids, in the same order."""
    if not wanted:
        return []
    rows = [{"place": place, **_stored(details)} for place, details in enumerate(wanted)]
    stored = conn.all(_SQL.insert_all, {"rows": json.dumps(rows, ensure_ascii=False)})
    # Ids are given out in the order of the rows; they may come back in any.
    ids = sorted(metadata_id for (metadata_id,) in stored)
    _name(conn, list(zip(ids, wanted, strict=True)))
    return ids


def find(conn: Connection, metadata_id: int) -> Metadata:
    """The record; raises MetadataNotFound."""
    row = conn.one(_SQL.get, {"id": metadata_id})
    if row is None:
        raise MetadataNotFound(f"no metadata record has the id {metadata_id}")
    return record_of(row)


def of_bgm(conn: Connection, bgm_id: int) -> Metadata | None:
    """The record of an entry of bgm.tv, if there is one."""
    row = conn.one(_SQL.of_bgm, {"bgm_id": bgm_id})
    return None if row is None else record_of(row)


def of_tmdb(conn: Connection, details: Details) -> Metadata | None:
    """The record with the same id at TMDB, and of the same season; the oldest where several have it."""
    values = {"tmdb_id": details.tmdb_id, "tmdb_kind": details.tmdb_kind, "tmdb_season": details.tmdb_season}
    row = conn.one(_SQL.of_tmdb, values)
    return None if row is None else record_of(row)


def of_bgms(conn: Connection, bgm_ids: Iterable[int]) -> list[Metadata]:
    """The records of some entries of bgm.tv."""
    return _of(conn, _SQL.of_bgms, bgm_ids)


def of_shows(conn: Connection, tmdb_ids: Iterable[int]) -> list[Metadata]:
    """The records that are seasons of some shows of TMDB."""
    return _of(conn, _SQL.of_shows, tmdb_ids)


def several(conn: Connection, ids: Iterable[int]) -> dict[int, Metadata]:
    """Some records by their ids; those that are gone are left out."""
    return {record.id: record for record in _of(conn, _SQL.several, ids)}


def named(conn: Connection, names: Iterable[str]) -> dict[str, list[Metadata]]:
    """The records that have each of these names, which are folded already."""
    rows = json.dumps([{"folded": name} for name in names], ensure_ascii=False)
    found: dict[str, list[Metadata]] = {}
    for name, *row in conn.all(_SQL.named, {"rows": rows}):
        found.setdefault(name, []).append(record_of(tuple(row)))
    return found


def folded_name(title: str) -> str:
    """What a name is compared by. An index holds no long texts."""
    return fold_title(title)[:_LONGEST_FOLDED]


def page(
    conn: Connection, *, after: int, limit: int, contains: str | None = None, year: int | None = None
) -> list[Metadata]:
    """Records in the order in which they were made; only those with a text in one of their titles, or of a year."""
    pattern = None if contains is None else f"%{_literal(contains)}%"
    values = {"after": after, "limit": limit, "contains": pattern, "year": year}
    return [record_of(row) for row in conn.all(_SQL.page, values)]


def change(conn: Connection, metadata_id: int, changes: Mapping[str, Any]) -> Metadata:
    """Change fields of `Details`; the others stay. A new title or year makes the next sync look it up again."""
    before = find(conn, metadata_id).details
    details = replace(before, **changes)
    if details.bgm_id != before.bgm_id:
        _refuse_taken(conn, details.bgm_id)
    conn.run(_SQL.update, {"id": metadata_id, **_stored(details)})
    if details.titles != before.titles:
        conn.run(_SQL.forget_titles, {"id": metadata_id})
        _name(conn, [(metadata_id, details)])
    if any(getattr(details, name) != getattr(before, name) for name in _ASKED_BY):
        conn.run(_SQL.forget_lookup, {"id": metadata_id})
    return find(conn, metadata_id)


def forget(conn: Connection, metadata_id: int) -> None:
    """Forget a record; raises MetadataNotFound. Its poster stays, as other records may show it."""
    conn.run(_SQL.leave_calendar, {"id": metadata_id})
    if not conn.run(_SQL.delete, {"id": metadata_id}):
        raise MetadataNotFound(f"no metadata record has the id {metadata_id}")


def record_of(row: Row) -> Metadata:
    """The record that a row of `RECORD` stands for."""
    metadata_id, *fields, looked_up, candidates, created, updated, poster_looked_up = row
    values = dict(zip(_DETAILS, fields, strict=True))
    values["kind"] = RecordKind(values["kind"])
    values["air_date"] = None if values["air_date"] is None else date.fromisoformat(values["air_date"])
    values["tmdb_kind"] = None if values["tmdb_kind"] is None else TmdbKind(values["tmdb_kind"])
    return Metadata(
        metadata_id,
        Details(**values),
        optional_datetime(looked_up),
        tuple(_candidate(found) for found in json.loads(candidates)),
        to_datetime(created),
        to_datetime(updated),
        optional_datetime(poster_looked_up),
    )


def candidates_as_stored(candidates: tuple[RecordCandidate, ...]) -> str:
    """Candidates as the database keeps them."""
    return json.dumps([asdict(candidate) for candidate in candidates], ensure_ascii=False)


def _of(conn: Connection, query: Query, ids: Iterable[int]) -> list[Metadata]:
    rows = [{"id": one} for one in ids]
    return [record_of(row) for row in conn.all(query, {"rows": json.dumps(rows)})] if rows else []


def _candidate(found: dict[str, Any]) -> RecordCandidate:
    return RecordCandidate(**{**found, "kind": TmdbKind(found["kind"])})


def _stored(details: Details) -> dict[str, Any]:
    values = asdict(details)
    for name in _TEXTS:
        # An empty text says nothing, so it is absent.
        values[name] = values[name] or None
    values["air_date"] = None if details.air_date is None else details.air_date.isoformat()
    return values


def _name(conn: Connection, given: Sequence[tuple[int, Details]]) -> None:
    """Have records found by their titles."""
    names = [(metadata_id, folded_name(title)) for metadata_id, details in given for title in details.titles]
    rows = [{"id": metadata_id, "folded": folded} for metadata_id, folded in names if folded]
    conn.run(_SQL.add_titles, {"rows": json.dumps(rows, ensure_ascii=False)})


def _refuse_taken(conn: Connection, bgm_id: int | None) -> None:
    if bgm_id is not None and conn.one(_SQL.of_bgm, {"bgm_id": bgm_id}) is not None:
        raise _taken(bgm_id)


def _taken(bgm_id: int | None) -> MetadataConflict:
    return MetadataConflict(f"another record has the id {bgm_id} of bgm.tv; change that one", field="bgm_id")


def _literal(text: str) -> str:
    """The text in a pattern of LIKE, standing for itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

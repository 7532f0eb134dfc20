"""Entries of the offline index as rows of the database."""

from __future__ import annotations

from datetime import date
from typing import Final

from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.metadata.pending import Ids
from kurabito.metadata.records import RecordKind, TmdbKind
from kurabito.metadata.sources.bangumi_data import OfflineEntry

ENTRY: Final = ColumnList(
    "kind, title, title_chinese, title_english, language, air_date, bgm_id, tmdb_id, tmdb_kind, tmdb_season, anidb_id, "
    "anilist_id, mal_id, mikan_id, year, last_date"
)


def entry_of(row: Row) -> OfflineEntry:
    """The entry that a row of these columns is."""
    entry = ENTRY.row(row)
    return OfflineEntry(
        title=entry.title,
        kind=RecordKind(entry.kind),
        language=entry.language,
        ids=Ids(
            bgm_id=entry.bgm_id,
            tmdb_id=entry.tmdb_id,
            tmdb_kind=None if entry.tmdb_kind is None else TmdbKind(entry.tmdb_kind),
            tmdb_season=entry.tmdb_season,
            anidb_id=entry.anidb_id,
            anilist_id=entry.anilist_id,
            mal_id=entry.mal_id,
            mikan_id=entry.mikan_id,
        ),
        air_date=None if entry.air_date is None else date.fromisoformat(entry.air_date),
        title_chinese=entry.title_chinese,
        title_english=entry.title_english,
        year=entry.year,
        last_date=None if entry.last_date is None else date.fromisoformat(entry.last_date),
    )

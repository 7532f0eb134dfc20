"""Missing metadata: what a record still lacks, as codes that say why."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from kurabito.metadata.health import MetadataSource
from kurabito.metadata.pending import needs_poster_sync
from kurabito.metadata.records import Metadata


class MissingMetadata(StrEnum):
    """The poster or the TMDB id, and why it is missing."""

    POSTER_WAITS = "poster_waits"
    """The poster's URL is known, and the picture could not be fetched yet."""
    POSTER = "poster"
    """No id is known that a poster could be asked for by."""
    POSTER_NOT_ASKED = "poster_not_asked"
    POSTER_HELD_BACK = "poster_held_back"
    """bgm.tv would be asked, and does not answer."""
    POSTER_HELD_BACK_BY_TMDB = "poster_held_back_by_tmdb"
    """TMDB alone can be asked, and does not answer."""
    POSTER_WITHOUT_KEY = "poster_without_key"
    """TMDB alone can be asked, and there is no key for it."""
    POSTER_NOT_FOUND = "poster_not_found"
    ID_TO_CHOOSE = "id_to_choose"
    """TMDB has several candidates."""
    ID_NOT_ASKED = "id_not_asked"
    """There is no key for TMDB, and no imported index has the record."""
    ID_WAITS = "id_waits"
    """It was not looked up yet."""
    ID_HELD_BACK = "id_held_back"
    """It would be looked up, and TMDB does not answer."""
    ID_NOT_FOUND = "id_not_found"
    ID_WITHOUT_TITLE = "id_without_title"
    """A record without a Japanese or English title cannot be looked up."""


def missing_metadata(
    record: Metadata, *, asks_tmdb: bool, failing: Collection[MetadataSource] = ()
) -> list[MissingMetadata]:
    """What a record lacks, its poster first; nothing when it is complete. `failing` are the sources that do not answer."""
    missing = []
    if needs_poster_sync(record):
        missing.append(MissingMetadata.POSTER_WAITS)
    elif not record.details.poster_url:
        missing.append(_missing_poster(record, asks_tmdb=asks_tmdb, failing=failing))
    if record.details.tmdb_id is None:
        missing.append(_missing_id(record, asks_tmdb=asks_tmdb, failing=failing))
    return missing


def _missing_poster(record: Metadata, *, asks_tmdb: bool, failing: Collection[MetadataSource]) -> MissingMetadata:
    details = record.details
    if details.bgm_id is None and details.tmdb_id is None:
        return MissingMetadata.POSTER
    if record.poster_lookup_at is not None:
        return MissingMetadata.POSTER_NOT_FOUND
    if details.bgm_id is not None:
        is_held_back = MetadataSource.BGM in failing
        return MissingMetadata.POSTER_HELD_BACK if is_held_back else MissingMetadata.POSTER_NOT_ASKED
    if not asks_tmdb:
        return MissingMetadata.POSTER_WITHOUT_KEY
    is_held_back = MetadataSource.TMDB in failing
    return MissingMetadata.POSTER_HELD_BACK_BY_TMDB if is_held_back else MissingMetadata.POSTER_NOT_ASKED


def _missing_id(record: Metadata, *, asks_tmdb: bool, failing: Collection[MetadataSource]) -> MissingMetadata:
    if record.candidates:
        return MissingMetadata.ID_TO_CHOOSE
    if not record.details.lookup_title:
        return MissingMetadata.ID_WITHOUT_TITLE
    if record.tmdb_lookup_at is not None:
        return MissingMetadata.ID_NOT_FOUND
    if not asks_tmdb:
        return MissingMetadata.ID_NOT_ASKED
    return MissingMetadata.ID_HELD_BACK if MetadataSource.TMDB in failing else MissingMetadata.ID_WAITS

"""Missing metadata: what a record still lacks, as codes that say why."""

from __future__ import annotations

from enum import StrEnum

from kurabito.metadata.pending import needs_poster_sync
from kurabito.metadata.records import Metadata


class MissingMetadata(StrEnum):
    """The poster or the TMDB id, and why it is missing."""

    POSTER_WAITS = "poster_waits"
    """The poster's URL is known, and the picture could not be fetched yet."""
    POSTER = "poster"
    ID_TO_CHOOSE = "id_to_choose"
    """TMDB has several candidates."""
    ID_NOT_ASKED = "id_not_asked"
    """There is no key for TMDB, and no imported index has the record."""
    ID_WAITS = "id_waits"
    """It was not looked up yet."""
    ID_NOT_FOUND = "id_not_found"
    ID_WITHOUT_TITLE = "id_without_title"
    """A record without a Japanese title cannot be looked up."""


def missing_metadata(record: Metadata, *, asks_tmdb: bool) -> list[MissingMetadata]:
    """What a record lacks, its poster first; nothing when it is complete."""
    missing = []
    if needs_poster_sync(record):
        missing.append(MissingMetadata.POSTER_WAITS)
    elif not record.details.poster_url:
        missing.append(MissingMetadata.POSTER)
    if record.details.tmdb_id is None:
        missing.append(_missing_id(record, asks_tmdb=asks_tmdb))
    return missing


def _missing_id(record: Metadata, *, asks_tmdb: bool) -> MissingMetadata:
    if record.candidates:
        return MissingMetadata.ID_TO_CHOOSE
    if not record.details.title_japanese:
        return MissingMetadata.ID_WITHOUT_TITLE
    if record.tmdb_lookup_at is not None:
        return MissingMetadata.ID_NOT_FOUND
    return MissingMetadata.ID_WAITS if asks_tmdb else MissingMetadata.ID_NOT_ASKED

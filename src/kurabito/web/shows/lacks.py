"""What a metadata record still lacks: codes, which the page puts into words that say what to do."""

from __future__ import annotations

from enum import StrEnum

from kurabito.metadata import needs_poster_sync
from kurabito.metadata.records import Metadata


class Lack(StrEnum):
    """The value is the message's key below `lack`."""

    POSTER_WAITS = "poster_waits"
    """It is known where the poster is, and it could not be fetched yet."""
    POSTER = "poster"
    ID_TO_CHOOSE = "id_to_choose"
    """TMDB has several that it may be."""
    ID_NOT_ASKED = "id_not_asked"
    """There is no key for TMDB, and no index knows it."""
    ID_WAITS = "id_waits"
    """It was not looked up yet."""
    ID_NOT_FOUND = "id_not_found"
    ID_WITHOUT_TITLE = "id_without_title"
    """Nothing can be looked up without the Japanese title."""


def lacks_of(record: Metadata, *, asks_tmdb: bool) -> list[Lack]:
    """What a record lacks, its poster first; nothing when it is whole."""
    lacks = []
    if needs_poster_sync(record):
        lacks.append(Lack.POSTER_WAITS)
    elif not record.details.poster_url:
        lacks.append(Lack.POSTER)
    if record.details.tmdb_id is None:
        lacks.append(_lacking_id(record, asks_tmdb=asks_tmdb))
    return lacks


def _lacking_id(record: Metadata, *, asks_tmdb: bool) -> Lack:
    if record.candidates:
        return Lack.ID_TO_CHOOSE
    if not record.details.title_japanese:
        return Lack.ID_WITHOUT_TITLE
    if record.tmdb_lookup_at is not None:
        return Lack.ID_NOT_FOUND
    return Lack.ID_WAITS if asks_tmdb else Lack.ID_NOT_ASKED

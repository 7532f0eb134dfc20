"""A show or a film as lists of them name it: what was found by a search, and what a folder may be about."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from kurabito.metadata.records import Details, RecordKind, TmdbKind


class KnownTitleAnswer(BaseModel):
    """A show or a film, whether it has a record or not."""

    metadata_id: int | None = Field(description="its record; null while it has none")
    kind: RecordKind
    title_japanese: str | None
    title_chinese: str | None
    title_english: str | None
    year: int | None
    season: int | None
    poster_url: str | None
    bgm_id: int | None
    tmdb_id: int | None
    tmdb_kind: TmdbKind | None

    @classmethod
    def named_in(cls, details: Details) -> dict[str, Any]:
        """Those of the fields that details have."""
        return {name: getattr(details, name) for name in cls.model_fields if hasattr(details, name)}

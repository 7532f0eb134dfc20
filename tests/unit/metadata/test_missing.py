"""What a record lacks has a code that says why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kurabito.metadata.health import MetadataSource
from kurabito.metadata.missing import MissingMetadata, missing_metadata
from kurabito.metadata.records import Details, Metadata, RecordCandidate, TmdbKind

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHOLE = Details(title_japanese="蔵の夜", poster_url="/posters/0123456789abcdef.jpg", tmdb_id=7)
MAYBE = RecordCandidate(7, TmdbKind.TV, "蔵の夜", 2022, is_animation=True)


def _record(details: Details, looked_up: datetime | None = None, *candidates: RecordCandidate) -> Metadata:
    return Metadata(1, details, looked_up, candidates, NOW, NOW)


@pytest.mark.parametrize(
    ("record", "asks_tmdb", "missing"),
    [
        (_record(WHOLE), False, []),
        (_record(replace(WHOLE, poster_url=None)), True, [MissingMetadata.POSTER_NOT_ASKED]),
        (_record(replace(WHOLE, poster_url=None)), False, [MissingMetadata.POSTER_WITHOUT_KEY]),
        (_record(replace(WHOLE, poster_url=None, bgm_id=3)), False, [MissingMetadata.POSTER_NOT_ASKED]),
        (_record(replace(WHOLE, poster_url="https://x.example/p.jpg")), True, [MissingMetadata.POSTER_WAITS]),
        (_record(replace(WHOLE, tmdb_id=None)), True, [MissingMetadata.ID_WAITS]),
        (_record(replace(WHOLE, tmdb_id=None)), False, [MissingMetadata.ID_NOT_ASKED]),
        (_record(replace(WHOLE, tmdb_id=None), NOW), True, [MissingMetadata.ID_NOT_FOUND]),
        (_record(replace(WHOLE, tmdb_id=None), NOW, MAYBE), True, [MissingMetadata.ID_TO_CHOOSE]),
        (_record(WHOLE, NOW, MAYBE), True, []),
        (
            _record(Details(title_chinese="藏之夜")),
            True,
            [MissingMetadata.POSTER, MissingMetadata.ID_WITHOUT_TITLE],
        ),
    ],
)
def test_a_record_lacks(record: Metadata, asks_tmdb: bool, missing: list[MissingMetadata]) -> None:
    assert missing_metadata(record, asks_tmdb=asks_tmdb) == missing


@pytest.mark.parametrize(
    ("details", "poster_looked_up", "missing"),
    [
        (Details(title_japanese="蔵"), None, [MissingMetadata.POSTER, MissingMetadata.ID_HELD_BACK]),
        (Details(title_japanese="蔵", bgm_id=3, tmdb_id=7), None, [MissingMetadata.POSTER_HELD_BACK]),
        (Details(title_japanese="蔵", tmdb_id=7), None, [MissingMetadata.POSTER_HELD_BACK_BY_TMDB]),
        (Details(title_japanese="蔵", bgm_id=3, tmdb_id=7), NOW, [MissingMetadata.POSTER_NOT_FOUND]),
    ],
)
def test_a_source_that_does_not_answer_is_named_as_the_reason(
    details: Details, poster_looked_up: datetime | None, missing: list[MissingMetadata]
) -> None:
    record = replace(_record(details), poster_lookup_at=poster_looked_up)
    assert missing_metadata(record, asks_tmdb=True, failing=tuple(MetadataSource)) == missing

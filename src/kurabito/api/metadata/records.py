"""Metadata records: look at them, find them, change them, have them filled in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any, Self

from fastapi import Path, Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.errors import InvalidInput
from kurabito.metadata import MetadataHandle, MetadataService, PosterService
from kurabito.metadata.errors import MetadataStopped
from kurabito.metadata.health import SourceHealths
from kurabito.metadata.missing import MissingMetadata, missing_metadata
from kurabito.metadata.pending import POSTER_URL_PREFIX, is_local
from kurabito.metadata.posters.pictures import MEDIA_TYPES
from kurabito.metadata.records import Details, Metadata, RecordKind, TmdbKind
from kurabito.metadata.runner import SYNC
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

MetadataId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the record's id")]
ForeignId = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
Title = Annotated[str, Field(max_length=1000, pattern=r"^[^\x00]*$")]
Year = Annotated[int, Field(ge=1900, le=2100), WHOLE]
Count = Annotated[int, Field(ge=0, le=100_000), WHOLE]
PosterUrl = Annotated[
    str,
    Field(
        max_length=2000,
        pattern=rf"^(https?://[!-~]+|/posters/[0-9a-f]{{16}}\.({'|'.join(MEDIA_TYPES)}))?$",
        description="where the poster is; once it was fetched, a path of ours",
    ),
]


class _Known(StrictBody):
    """What may be known of a show or a film."""

    title_japanese: Title | None = Field(None, description="what TMDB is asked for")
    title_chinese: Title | None = None
    title_english: Title | None = None
    year: Year | None = Field(None, description="in which it began")
    season: Count | None = None
    air_date: Annotated[date, Field(strict=False)] | None = Field(None, description="the first day, in Japan")
    air_weekday: Annotated[int, Field(ge=1, le=7), WHOLE] | None = Field(None, description="1 is Monday")
    episode_count: Count | None = None
    summary: Annotated[str, Field(max_length=20_000, pattern=r"^[^\x00]*$")] | None = None
    poster_url: PosterUrl | None = None
    bgm_id: ForeignId | None = None
    tmdb_id: ForeignId | None = None
    tmdb_kind: Annotated[TmdbKind, Field(strict=False)] | None = None
    tmdb_season: Count | None = None
    anidb_id: ForeignId | None = None
    anilist_id: ForeignId | None = None
    mal_id: ForeignId | None = None
    mikan_id: ForeignId | None = None


class MetadataOrder(_Known):
    """A record to keep. It needs a title."""

    kind: Annotated[RecordKind, Field(strict=False)] = RecordKind.TV


class MetadataChange(_Known):
    """What is to change; what is not named stays. null takes a value away."""

    # Made, not given: the documentation must not name a value for what is left out.
    kind: Annotated[RecordKind, Field(strict=False)] = Field(default_factory=lambda: RecordKind.TV)


class CandidateAnswer(BaseModel):
    """An entry of TMDB that may be the one."""

    tmdb_id: int
    kind: TmdbKind
    name: str
    year: int | None
    is_animation: bool
    season: int | None


class MetadataAnswer(BaseModel):
    """A record. Times are UTC."""

    id: int
    kind: RecordKind
    title_japanese: str | None
    title_chinese: str | None
    title_english: str | None
    year: int | None
    season: int | None
    air_date: date | None
    air_weekday: int | None
    episode_count: int | None
    summary: str | None
    poster_url: str | None
    bgm_id: int | None
    tmdb_id: int | None
    tmdb_kind: TmdbKind | None
    tmdb_season: int | None
    anidb_id: int | None
    anilist_id: int | None
    mal_id: int | None
    mikan_id: int | None
    tmdb_lookup_at: datetime | None = Field(description="when TMDB was asked last; it is asked again after seven days")
    poster_lookup_at: datetime | None = Field(description="when bgm.tv or TMDB was asked where its poster is")
    tmdb_candidates: list[CandidateAnswer] = Field(description="what it may be; choose by setting `tmdb_id`")
    missing: list[MissingMetadata] = Field(description="what it still lacks, and why; empty when it is complete")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, record: Metadata, missing: list[MissingMetadata]) -> Self:
        return cls(
            id=record.id,
            **asdict(record.details),
            tmdb_lookup_at=record.tmdb_lookup_at,
            poster_lookup_at=record.poster_lookup_at,
            tmdb_candidates=[CandidateAnswer(**asdict(candidate)) for candidate in record.candidates],
            missing=missing,
            created_at=record.created_at,
            updated_at=record.updated_at,
        )


class SyncAccepted(BaseModel):
    """A sync that was asked for."""

    task_type: str = Field(description="of the task that a sync is; `GET /tasks?task_type=` shows it")


def router(metadata: MetadataService, handle: MetadataHandle, sources: SourceHealths, posters: PosterService) -> Router:
    """The routes of the records."""
    routes = Router(prefix="/api/v1/metadata", tags=["metadata"])

    async def answers(records: Sequence[Metadata]) -> list[MetadataAnswer]:
        failing = await sources.failing()
        return [
            MetadataAnswer.of(record, missing_metadata(record, asks_tmdb=metadata.asks_tmdb, failing=failing))
            for record in records
        ]

    async def answer(record: Metadata) -> MetadataAnswer:
        (answered,) = await answers([record])
        return answered

    @routes.post("", status_code=201, responses=documented(409, *WITH_BODY))
    async def create_metadata(order: MetadataOrder) -> MetadataAnswer:
        """Keep a record. Its poster and its id at TMDB are filled in soon after."""
        record = await metadata.create(Details(**_named(order, posters)))
        await _fill_in_soon(handle)
        return await answer(record)

    @routes.get("", responses=documented(422))
    async def list_metadata(
        contains: Annotated[ShortText | None, Query(description="only with this text in a title")] = None,
        year: Annotated[int | None, Query(ge=1900, le=2100)] = None,
        limit: Limit = 50,
        cursor: IdCursor = None,
    ) -> PageAnswer[MetadataAnswer]:
        """Records, a page at a time."""
        page = await metadata.search(contains=contains, year=year, limit=limit, cursor=cursor)
        answered = dict(zip((record.id for record in page), await answers(list(page)), strict=True))
        return PageAnswer[MetadataAnswer].of(page, lambda record: answered[record.id])

    @routes.post("/sync", status_code=202, responses=documented())
    async def sync_metadata() -> SyncAccepted:
        """Have all records looked through for what is missing, now and not within the hour."""
        await handle.trigger_sync()
        return SyncAccepted(task_type=SYNC)

    @routes.get("/{metadata_id}", responses=documented(404, 422))
    async def get_metadata(metadata_id: MetadataId) -> MetadataAnswer:
        """One record."""
        return await answer(await metadata.get(metadata_id))

    @routes.patch("/{metadata_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_metadata(metadata_id: MetadataId, change: MetadataChange) -> MetadataAnswer:
        """Change a record. A new title or year makes the next sync look it up again."""
        record = await metadata.change(metadata_id, _named(change, posters))
        await _fill_in_soon(handle)
        return await answer(record)

    @routes.delete("/{metadata_id}", status_code=204, responses=documented(404, 422))
    async def delete_metadata(metadata_id: MetadataId) -> None:
        """Forget a record. Its poster stays, as others may show it."""
        await metadata.delete(metadata_id)

    return routes


async def _fill_in_soon(handle: MetadataHandle) -> None:
    # While we stop nothing is filled in any more; the sync of the next start takes it.
    with suppress(MetadataStopped):
        await handle.trigger_sync()


def _named(body: MetadataOrder | MetadataChange, posters: PosterService) -> dict[str, Any]:
    """The fields of `Details` that a body names; a poster of ours has to be here."""
    fields = body.model_dump(exclude_unset=True)
    poster = fields.get("poster_url") or ""
    if is_local(poster) and not posters.has(poster.removeprefix(POSTER_URL_PREFIX)):
        raise InvalidInput("poster_url", "no poster of that name is kept here; give the address of the picture")
    return fields

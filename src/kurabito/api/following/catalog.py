"""The catalog: items of feeds, links, series and their episodes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.paging import PAGE_BEFORE, IdCursor, Limit, PageAnswer
from kurabito.api.reasons import WhyAnswer, sentence_of
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.download_types import DownloadType
from kurabito.catalog.identity.aliases import AliasSource
from kurabito.catalog.identity.evidence import Clue
from kurabito.catalog.links import Link
from kurabito.catalog.series import Alias, Series
from kurabito.catalog.states import (
    EpisodeState,
    HeldReason,
    SeriesKind,
    SeriesOrder,
    SeriesShelf,
    SeriesState,
    SeriesWish,
)
from kurabito.feeds.raw_items import RawReason, RawStatus
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router
from kurabito.titles import ReleaseKind

SeriesId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the series' id")]
Id = Annotated[int, Query(ge=1, le=BIGGEST_ID)]
GivenId = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
EpisodeCursor = Annotated[
    str,
    Query(pattern=rf"^({'|'.join(ReleaseKind)})-[0-9]{{1,6}}(\.[0-9]{{1,6}})?$", description=PAGE_BEFORE),
]
Count = Annotated[int, Field(ge=0, le=100_000), WHOLE]


class RawItemAnswer(BaseModel):
    """An item of a feed as it came, and what became of it. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    subscription_id: int
    title: str
    description: str | None
    download_url: str | None
    pub_date: datetime | None
    size_bytes: int | None
    fetcher_source: str | None
    status: RawStatus
    reason: RawReason | None = Field(description="why it is no link; a title rule can help where it is `no_title`")
    release_key: str | None = Field(description="that of the links it made, or that were there already")
    created_at: datetime


class LinkAnswer(BaseModel):
    """One downloadable release of one episode. Times are UTC."""

    id: int
    release_key: str = Field(description="the same for every link of one release, a batch's among them")
    raw_item_id: int | None
    series_id: int
    episode_id: int | None
    episode_kind: ReleaseKind | None
    episode: float | None
    group: str | None
    title: str
    url: str
    hash: str | None = Field(description="null while only a downloader can tell")
    download_type: DownloadType | None
    resolution: int | None
    source: str | None
    languages: list[str]
    version: int | None
    size_bytes: int | None
    is_batch: bool
    held_reason: HeldReason | None = Field(description="why it is not downloaded automatically")
    is_filtered: bool
    filter_reason: str | None = Field(description="which rule excludes it, in words")
    filter_why: WhyAnswer | None = Field(description="the same as a code with facts")
    held_why: WhyAnswer | None = Field(description="what is doubtful about its title, where that holds it back")
    clues: list[Clue] = Field(description="what spoke for its series")
    question_id: int | None = Field(description="the question that holds it back; see `/questions`")
    created_at: datetime

    @classmethod
    def of(cls, link: Link) -> Self:
        return cls(
            id=link.id,
            release_key=link.release_key,
            raw_item_id=link.raw_item_id,
            series_id=link.series_id,
            episode_id=link.episode_id,
            episode_kind=link.episode_kind,
            episode=link.episode_number,
            group=link.group,
            title=link.title,
            url=link.url,
            hash=link.hash,
            download_type=link.download_type,
            resolution=link.resolution,
            source=link.source,
            languages=list(link.languages),
            version=link.version,
            size_bytes=link.size_bytes,
            is_batch=link.is_batch,
            held_reason=link.held_reason,
            is_filtered=link.is_filtered,
            filter_reason=sentence_of(link.filter_reason),
            filter_why=WhyAnswer.of(link.filter_reason),
            held_why=WhyAnswer.of(link.held_why),
            clues=list(link.clues),
            question_id=link.question_id,
            created_at=link.created_at,
        )


class AliasBody(StrictBody):
    """A name that titles give a series."""

    name: ShortText
    season: Count = Field(1, description="the season that titles say beside the name; 1 when they say none")
    year: Annotated[int, Field(ge=1800, le=2999), WHOLE] | None = Field(
        None, description="the year that they say beside it, where that tells it from a remake"
    )
    country: Annotated[str, Field(pattern="^[a-z]{2}$")] | None = Field(
        None, description="the country that they say beside it"
    )


class SeriesChange(StrictBody):
    """What is to change; what is not named stays."""

    # Made, not given: the documentation must not name values for what is left out.
    title: ShortText = Field(default_factory=str)
    season: Count = Field(default_factory=int)
    episode_offset: Count = Field(
        default_factory=int,
        description="what titles count on from: their 27 is episode 3 when it is 24; links that are there are counted again",
    )
    state: Annotated[SeriesState, Field(strict=False)] = Field(default_factory=lambda: SeriesState.FOLLOWED)
    aliases: Annotated[list[AliasBody], Field(max_length=200)] = Field(default_factory=list)
    wanted: Annotated[SeriesWish, Field(strict=False)] = Field(
        default_factory=lambda: SeriesWish.ALL,
        description="which episodes are downloaded; `none` ends following it, and anything else follows it",
    )
    library_id: GivenId | None = Field(
        default_factory=lambda: None, description="the library that its files go into; null: as the libraries say"
    )

    def changes(self) -> dict[str, Any]:
        """The fields of `Series` that are named."""
        named = self.model_dump(exclude_unset=True)
        if "aliases" in named:
            named["aliases"] = tuple(
                Alias(alias.name, alias.season, alias.year, alias.country) for alias in self.aliases
            )
        return named


class AliasAnswer(BaseModel):
    """A name that titles give a series."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    season: int
    year: int | None
    country: str | None
    source: AliasSource = Field(description="where it was learnt")


class SeriesAnswer(BaseModel):
    """One season of one show, or a film. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    title: str
    season: int
    kind: SeriesKind
    year: int | None
    country: str | None = Field(description="whose version of a show it is, where titles say so")
    episode_offset: int
    state: SeriesState
    aliases: list[AliasAnswer]
    metadata_id: int | None = Field(description="its metadata record; null while it has none")
    merged_into: int | None = Field(description="the series that it became part of")
    wanted: SeriesWish = Field(description="which of its episodes are downloaded")
    library_id: int | None = Field(description="the library that its files go into, where one was chosen")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, series: Series) -> Self:
        return cls.model_validate(series)


class EpisodeAnswer(BaseModel):
    """A number of a series. Times are UTC."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: ReleaseKind
    number: float
    state: EpisodeState
    aired_at: datetime | None
    link_count: int = Field(description="how many releases of it were seen")


def router(catalog: Catalog) -> Router:
    """The routes of the catalog."""
    routes = Router(prefix="/api/v1", tags=["following"])
    _release_routes(routes, catalog)
    _series_routes(routes, catalog)
    return routes


def _release_routes(routes: Router, catalog: Catalog) -> None:
    @routes.get("/raw-items", responses=documented(422))
    async def list_raw_items(
        status: Annotated[RawStatus | None, Query(description="only those that became this")] = None,
        subscription_id: Annotated[Id | None, Query(description="only those of this subscription")] = None,
        limit: Limit = 50,
        cursor: IdCursor = None,
    ) -> PageAnswer[RawItemAnswer]:
        """Items of feeds, the newest first."""
        page = await catalog.raw_items(limit=limit, cursor=cursor, status=status, subscription_id=subscription_id)
        return PageAnswer[RawItemAnswer].of(page, RawItemAnswer.model_validate)

    @routes.get("/links", responses=documented(422))
    async def list_links(
        series_id: Annotated[Id | None, Query(description="only those of this series")] = None,
        held: Annotated[bool, Query(description="only those that are held back")] = False,
        limit: Limit = 50,
        cursor: IdCursor = None,
    ) -> PageAnswer[LinkAnswer]:
        """Links, the newest first."""
        page = await catalog.links(limit=limit, cursor=cursor, series_id=series_id, held=held)
        return PageAnswer[LinkAnswer].of(page, LinkAnswer.of)


def _series_routes(routes: Router, catalog: Catalog) -> None:
    @routes.get("/series", responses=documented(422))
    async def list_series(
        state: Annotated[SeriesState | None, Query(description="only series in this state")] = None,
        shelf: Annotated[
            SeriesShelf | None,
            Query(description="only what is followed or in a library, in a library only, or neither and not followed"),
        ] = None,
        kind: Annotated[SeriesKind | None, Query(description="only series of this kind")] = None,
        name: Annotated[
            str | None, Query(max_length=200, description="only series that have a name with this text in it")
        ] = None,
        year: Annotated[int | None, Query(ge=0, le=9999, description="only series that began in this year")] = None,
        library_id: Annotated[Id | None, Query(description="only series whose files are in this library")] = None,
        order: Annotated[SeriesOrder, Query(description="the same for all pages")] = SeriesOrder.NEWEST,
        limit: Limit = 50,
        cursor: IdCursor = None,
    ) -> PageAnswer[SeriesAnswer]:
        """Series, the newest first unless another order is asked for."""
        page = await catalog.series(
            limit=limit,
            cursor=cursor,
            state=state,
            shelf=shelf,
            kind=kind,
            name=name,
            year=year,
            library_id=library_id,
            order=order,
        )
        return PageAnswer[SeriesAnswer].of(page, SeriesAnswer.of)

    @routes.get("/series/{series_id}", responses=documented(404, 422))
    async def get_series(series_id: SeriesId) -> SeriesAnswer:
        """One series."""
        return SeriesAnswer.of(await catalog.get(series_id))

    @routes.patch("/series/{series_id}", responses=documented(404, 409, *WITH_BODY))
    async def change_series(series_id: SeriesId, change: SeriesChange) -> SeriesAnswer:
        """Change a series. Following it frees its links to be downloaded; ignoring it holds them back."""
        return SeriesAnswer.of(await catalog.change(series_id, change.changes()))

    @routes.get("/series/{series_id}/episodes", responses=documented(404, 422))
    async def list_episodes(
        series_id: SeriesId, limit: Limit = 100, cursor: EpisodeCursor | None = None
    ) -> PageAnswer[EpisodeAnswer]:
        """The episodes of a series that are known, the regular ones first."""
        page = await catalog.episodes(series_id, limit=limit, cursor=cursor)
        return PageAnswer[EpisodeAnswer].of(page, EpisodeAnswer.model_validate)

"""Search for a title wherever it is known, and choose it for folders or a series."""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import Path, Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, ShortText, StrictBody
from kurabito.api.metadata.matches import MatchAnswer
from kurabito.api.metadata.titles import KnownTitleAnswer
from kurabito.catalog.matching.service import Matches
from kurabito.metadata.search import FoundTitle, MetadataSearch, SearchSource
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

Key = Annotated[
    str, Field(pattern=r"^(record|bgm|tmdb:tv|tmdb:movie):[1-9][0-9]{0,14}$", description="the `key` of a found title")
]
MatchIds = Annotated[list[Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]], Field(min_length=1, max_length=200)]


class FoundTitleAnswer(KnownTitleAnswer):
    """A show or a film that was found."""

    key: str = Field(description="give it as `key` to choose it")
    source: SearchSource

    @classmethod
    def of(cls, title: FoundTitle) -> Self:
        details = cls.named_in(title.details)
        return cls(key=title.key, source=title.source, metadata_id=title.metadata_id, **details)


class FailedSource(BaseModel):
    """A source that did not answer."""

    source: SearchSource
    problem: str


class FoundAnswer(BaseModel):
    """What was found, the surest first."""

    items: list[FoundTitleAnswer]
    failed: list[FailedSource] = Field(description="the sources that could not be asked, and why")


class TitleChoice(StrictBody):
    """What some folders are about."""

    match_ids: MatchIds
    key: Key


class RecordOfSeries(StrictBody):
    """What a series is about."""

    key: Key


class SeriesRecordAnswer(BaseModel):
    """The record that a series has now."""

    series_id: int
    metadata_id: int


def router(search: MetadataSearch, matches: Matches) -> Router:
    """The routes of search and correction."""
    routes = Router(prefix="/api/v1", tags=["metadata"])

    @routes.get("/metadata/search", responses=documented(422))
    async def search_metadata(
        text: Annotated[ShortText, Query(description="a part of a name, in any language")],
        source: Annotated[list[SearchSource] | None, Query(description="only these; left out: all of them")] = None,
    ) -> FoundAnswer:
        """Search by name among the records, in the index, at bgm.tv and at TMDB. What does not answer is named."""
        found = await search.search(text, source)
        return FoundAnswer(
            items=[FoundTitleAnswer.of(title) for title in found.titles],
            failed=[FailedSource(source=one.source, problem=one.message) for one in found.failed],
        )

    @routes.post("/matches/choose-title", responses=documented(404, 502, *WITH_BODY))
    async def choose_title(choice: TitleChoice) -> list[MatchAnswer]:
        """Say what one or more folders are about, matched or not. The next folders of these names are matched by it."""
        chosen = await matches.choose_title(choice.match_ids, await search.details_of(choice.key))
        return [MatchAnswer.of(match) for match in chosen]

    @routes.put("/series/{series_id}/record", responses=documented(404, 502, *WITH_BODY))
    async def choose_for_series(
        series_id: Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the series' id")], choice: RecordOfSeries
    ) -> SeriesRecordAnswer:
        """Say what a series is about: its record has the poster, the ids and more names. `POST /series/{id}/undo` undoes it."""
        record = await matches.choose_for_series(series_id, await search.details_of(choice.key))
        return SeriesRecordAnswer(series_id=series_id, metadata_id=record)

    return routes

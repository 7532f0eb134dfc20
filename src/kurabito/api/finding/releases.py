"""Search for releases, and take one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Annotated, Final, Self

from fastapi import Header, Query
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field
from starlette.responses import Response

from kurabito.api.bodies import StrictBody
from kurabito.api.following.previews import OfferedReleaseAnswer
from kurabito.api.reasons import WhyAnswer, sentence_of
from kurabito.downloads.profiles.score import ScoreName
from kurabito.downloads.search.decisions import FoundRelease
from kurabito.downloads.search.grab import Grabbed, ReleaseGrabs
from kurabito.downloads.search.pasted_links import LONGEST
from kurabito.downloads.search.service import FoundSoFar, ReleaseSearch
from kurabito.errors import InvalidInput
from kurabito.indexers.port import SearchKind, SearchQuery
from kurabito.indexers.service import LONGEST_TEXT, IndexerOutcome
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

_STREAM: Final = "text/event-stream"
_LIST: Final = "application/json"
_WHAT: Final = (
    f"a name of at most {LONGEST_TEXT} characters; or a magnet link, or the URL of a torrent, a page or a feed"
)
_TEXT: Final = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"


class ScorePartAnswer(BaseModel):
    """What one thing adds to a score."""

    name: ScoreName
    points: int
    what: str


class FoundReleaseAnswer(BaseModel):
    """A release that indexers have. Its URL is not shown: it may have the key of an indexer in it. Times are UTC."""

    key: str = Field(description="what to grab it by")
    title: str
    indexers: list[str] = Field(description="the names of those that have it")
    size_bytes: int | None
    pub_date: datetime | None
    seeders: int | None
    leechers: int | None
    release: OfferedReleaseAnswer | None = Field(description="null when its title cannot be read")
    series_id: int | None = Field(description="the series that it is of; null when it would be a new one")
    score: int | None = Field(
        description="what it is worth by the preferences of its show; null when it cannot be read"
    )
    score_parts: list[ScorePartAnswer] = Field(description="what gives it that")
    is_taken: bool = Field(description="whether a feed with it would have it downloaded")
    reason: str | None = Field(description="why not, in words")
    why: WhyAnswer | None = Field(description="the same as a code with facts")

    @classmethod
    def of(cls, found: FoundRelease) -> Self:
        item = found.item
        return cls(
            key=found.key,
            title=item.title,
            indexers=list(found.indexers),
            size_bytes=item.size_bytes,
            pub_date=item.pub_date,
            seeders=item.seeders,
            leechers=item.leechers,
            release=None if found.release is None else OfferedReleaseAnswer.of(found.release),
            series_id=None if found.series is None else found.series.id,
            score=None if found.score is None else found.score.total,
            score_parts=[ScorePartAnswer(**part._asdict()) for part in (found.score.parts if found.score else ())],
            is_taken=found.reason is None,
            reason=sentence_of(found.reason),
            why=WhyAnswer.of(found.reason),
        )


class SearchedIndexerAnswer(BaseModel):
    """What one indexer said."""

    indexer_id: int
    name: str
    results: int
    is_whole: bool = Field(description="false when it has more than was taken")
    error_code: str | None
    message: str | None = Field(description="what went wrong, in English")

    @classmethod
    def of(cls, outcome: IndexerOutcome) -> Self:
        error = outcome.error
        return cls(
            indexer_id=outcome.indexer.id,
            name=outcome.indexer.settings.name,
            results=len(outcome.items),
            is_whole=outcome.is_whole,
            error_code=None if error is None else error.code,
            message=None if error is None else str(error),
        )


class SearchAnswer(BaseModel):
    """What the indexers have, what would be taken first at the front."""

    indexers: list[SearchedIndexerAnswer] = Field(description="those that answered, or failed, so far")
    items: list[FoundReleaseAnswer]
    feed_url: str | None = Field(None, description="the text leads to a feed, which is followed and not searched for")


GrabKey = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[0-9a-z:]+$")]


class GrabOrder(StrictBody):
    """A release to download."""

    key: GrabKey = Field(description="of a result of `GET /search`; it is known until the server stops")


class GrabAnswer(BaseModel):
    """What is downloaded."""

    link_ids: list[int]
    download_ids: list[int]

    @classmethod
    def of(cls, grabbed: Grabbed) -> Self:
        return cls(link_ids=list(grabbed.link_ids), download_ids=list(grabbed.download_ids))


def router(search: ReleaseSearch, grabs: ReleaseGrabs) -> Router:
    """The routes of the search."""
    routes = Router(prefix="/api/v1", tags=["finding"])

    @routes.get("/search", response_model=SearchAnswer, responses={200: _documented(), **documented(422)})
    async def search_releases(
        q: Annotated[str | None, Query(min_length=1, max_length=LONGEST, pattern=_TEXT, description=_WHAT)] = None,
        series_id: Annotated[
            int | None, Query(ge=1, le=BIGGEST_ID, description="instead of a text: a series, in its known spellings")
        ] = None,
        kind: Annotated[SearchKind, Query(description="what it is")] = SearchKind.ANY,
        season: Annotated[int | None, Query(ge=0, le=10_000)] = None,
        episode: Annotated[int | None, Query(ge=0, le=100_000)] = None,
        accept: Annotated[str, Header(max_length=1_000)] = _LIST,
    ) -> Response:
        """Ask every indexer that is on, and decide about what they have. Nothing is downloaded.

        With `Accept: text/event-stream` each answer is an event `found` with everything so far, and `done` is the last one.
        """
        if series_id is not None:
            query = await search.for_series(series_id, episode)
        elif q is not None:
            query = SearchQuery(text=q, kind=kind, season=season, episode=episode)
        else:
            raise InvalidInput("q", "must be a text to look for, where no `series_id` is given")
        if _STREAM in accept:
            headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
            return StreamingResponse(_events(search, query), media_type=_STREAM, headers=headers)
        asked: list[SearchedIndexerAnswer] = []
        found: tuple[FoundRelease, ...] = ()
        feed_url: str | None = None
        async for progress in search.search(query):
            asked += _said(progress)
            found, feed_url = progress.releases, progress.feed_url
        return JSONResponse(_answer(asked, found, feed_url).model_dump(mode="json"))

    @routes.post("/releases/grab", status_code=202, responses=documented(404, 409, 502, 504, *WITH_BODY))
    async def grab_release(order: GrabOrder) -> GrabAnswer:
        """Download a release that a search found, whatever was decided about it. Its series is not followed for it."""
        return GrabAnswer.of(await grabs.grab(order.key))

    return routes


def _documented() -> dict[str, object]:
    return {"content": {_STREAM: {"schema": {"type": "string"}}}}


def _answer(
    asked: list[SearchedIndexerAnswer], found: Iterable[FoundRelease], feed_url: str | None = None
) -> SearchAnswer:
    return SearchAnswer(indexers=asked, items=[FoundReleaseAnswer.of(one) for one in found], feed_url=feed_url)


def _said(progress: FoundSoFar) -> list[SearchedIndexerAnswer]:
    return [] if progress.outcome is None else [SearchedIndexerAnswer.of(progress.outcome)]


async def _events(search: ReleaseSearch, query: SearchQuery) -> AsyncIterator[str]:
    asked: list[SearchedIndexerAnswer] = []
    async for progress in search.search(query):
        asked += _said(progress)
        answer = _answer(asked, progress.releases, progress.feed_url)
        yield f"event: found\ndata: {answer.model_dump_json()}\n\n"
    yield "event: done\ndata: {}\n\n"

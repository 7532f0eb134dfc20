"""Matches: which show or film the folders of a library are about, and what a person says of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from fastapi import Path, Query
from pydantic import BaseModel, Field

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.api.metadata.titles import KnownTitleAnswer
from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.catalog.matching.model import FolderMatch, MatchCandidate, MatchedBy, MatchReason, MatchState
from kurabito.catalog.matching.service import Matches
from kurabito.catalog.states import SeriesKind
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

MatchId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the id of the folder's match")]


class CandidateChoice(StrictBody):
    """A folder is about one of its candidates."""

    choice: Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^\x00]*$")] = Field(
        description="the `key` of the candidate"
    )


class RecordChoice(StrictBody):
    """A folder is about a record, whether it is a candidate or not."""

    metadata_id: Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]


class NoChoice(StrictBody):
    """A folder is none of what is known, and is not to be asked about."""

    none: Literal[True]


class MatchCandidateAnswer(KnownTitleAnswer):
    """What a folder may be about."""

    key: str = Field(description="give it as `choice`")
    tmdb_season: int | None
    reasons: list[MatchReason] = Field(description="what speaks for it, and what against")

    @classmethod
    def of(cls, candidate: MatchCandidate) -> Self:
        details = cls.named_in(candidate.details)
        return cls(key=candidate.key, metadata_id=candidate.metadata_id, reasons=list(candidate.reasons), **details)


class ReadingAnswer(BaseModel):
    """What the name of a folder was understood as."""

    names: list[str]
    season: int | None
    year: int | None
    kind: SeriesKind | None = Field(description="null where nothing tells a film from a show")


class MatchAnswer(BaseModel):
    """A folder of a library, and what it is about. Times are UTC."""

    id: int
    library_id: int
    folder: str = Field(description="its path in the library")
    read_as: ReadingAnswer
    state: MatchState
    metadata_id: int | None
    series_id: int | None
    matched_by: MatchedBy | None
    reasons: list[MatchReason] = Field(description="why it was matched")
    candidates: list[MatchCandidateAnswer] = Field(description="what it may be")
    asked_at: datetime | None = Field(description="when it was looked for online; it is again after seven days")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, match: FolderMatch) -> Self:
        return cls(
            id=match.id,
            library_id=match.library_id,
            folder=match.folder,
            read_as=ReadingAnswer(
                names=[name.shown for name in match.reading.names],
                season=match.reading.season,
                year=match.reading.year,
                kind=match.reading.kind,
            ),
            state=match.state,
            metadata_id=match.metadata_id,
            series_id=match.series_id,
            matched_by=match.matched_by,
            reasons=list(match.reasons),
            candidates=[MatchCandidateAnswer.of(candidate) for candidate in match.candidates],
            asked_at=match.asked_at,
            created_at=match.created_at,
            updated_at=match.updated_at,
        )


class LookAccepted(BaseModel):
    """The task that looks again; one that waits or runs already is the answer to a second request."""

    task_id: UUID


def router(matches: Matches) -> Router:
    """The routes of the matches."""
    routes = Router(prefix="/api/v1/matches", tags=["metadata"])

    @routes.get("", responses=documented(422))
    async def list_matches(
        state: Annotated[MatchState, Query(description="how far the folders are")] = MatchState.OPEN,
        library_id: Annotated[int | None, Query(ge=1, le=BIGGEST_ID, description="only of this library")] = None,
        limit: Limit = 50,
        cursor: IdCursor = None,
    ) -> PageAnswer[MatchAnswer]:
        """Folders, a page at a time: without `state` those that wait for a person to say what they are."""
        page = await matches.page(state=state, library_id=library_id, limit=limit, cursor=cursor)
        return PageAnswer[MatchAnswer].of(page, MatchAnswer.of)

    @routes.post("/look", status_code=202, responses=documented())
    async def look_again() -> LookAccepted:
        """Have all open folders looked for once more: in what is known here, then at TMDB."""
        return LookAccepted(task_id=await matches.look_again())

    @routes.get("/{match_id}", responses=documented(404, 422))
    async def get_match(match_id: MatchId) -> MatchAnswer:
        """One folder."""
        return MatchAnswer.of(await matches.get(match_id))

    @routes.post("/{match_id}/choose", responses=documented(404, *WITH_BODY))
    async def choose_match(match_id: MatchId, choice: CandidateChoice | RecordChoice | NoChoice) -> MatchAnswer:
        """Say what a folder is about. Neither a scan nor a sync changes that afterwards."""
        if isinstance(choice, CandidateChoice):
            return MatchAnswer.of(await matches.choose(match_id, choice.choice))
        if isinstance(choice, RecordChoice):
            return MatchAnswer.of(await matches.choose_record(match_id, choice.metadata_id))
        return MatchAnswer.of(await matches.ignore(match_id))

    return routes

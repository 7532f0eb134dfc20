"""Questions about releases that may be of several series, and their answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.following.catalog import SeriesAnswer
from kurabito.api.following.corrections import EffectAnswer, RowId
from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.catalog.catalog import Catalog
from kurabito.catalog.identity.answers import Answer, Answered
from kurabito.catalog.identity.evidence import SPEAK_AGAINST, Clue
from kurabito.catalog.identity.questions import QuestionStatus
from kurabito.catalog.identity.service import AskedQuestion, Questions
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.errors import InvalidInput
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

QuestionId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the question's id")]


class QuestionCandidateAnswer(BaseModel):
    """A series that may be meant."""

    series: SeriesAnswer
    speaks_for: list[Clue]
    speaks_against: list[Clue]


class QuestionAnswer(BaseModel):
    """Releases that say the same, and the series that they may be of. Times are UTC."""

    id: int
    status: QuestionStatus
    names: list[str] = Field(description="what the releases call their series")
    kind: SeriesKind
    season: int | None
    year: int | None
    country: str | None
    releases: int = Field(description="how many releases wait for the answer")
    titles: list[str] = Field(description="some of their titles, the newest first")
    candidates: list[QuestionCandidateAnswer] = Field(
        description="the likeliest first; a new series is always possible too"
    )
    also: list[int] = Field(description="other open questions about one of the same names")
    created_at: datetime

    @classmethod
    def of(cls, asked: AskedQuestion) -> Self:
        question, reading = asked.question, asked.question.reading
        return cls(
            id=question.id,
            status=question.status,
            names=[name.shown for name in reading.names],
            kind=reading.kind,
            season=reading.season,
            year=reading.year,
            country=reading.country,
            releases=question.releases,
            titles=list(question.titles),
            candidates=[
                QuestionCandidateAnswer(
                    series=SeriesAnswer.of(series),
                    speaks_for=[clue for clue in one.clues if clue not in SPEAK_AGAINST],
                    speaks_against=[clue for clue in one.clues if clue in SPEAK_AGAINST],
                )
                for one, series in zip(question.candidates, asked.candidates, strict=True)
            ],
            also=[other.id for other in asked.also],
            created_at=question.created_at,
        )


class AnswerBody(StrictBody):
    """The series that the releases are of, or what is wanted of a new one."""

    series_id: RowId | None = Field(None, description="one of the catalog's series, a candidate or not")
    new_series: Annotated[SeriesState, Field(strict=False)] | None = Field(
        None, description="they are of a series of their own, and this is wanted of it"
    )
    preview: bool = Field(False, description="say what it would do, and do nothing")

    def said(self) -> Answer:
        """The answer; raises InvalidInput unless exactly one is given."""
        if (self.series_id is None) == (self.new_series is None):
            raise InvalidInput("series_id", "say either a series or what is wanted of a new one")
        return Answer(self.series_id, self.new_series or SeriesState.ASKED)


class AnsweredAnswer(EffectAnswer):
    """What an answer did, or would do."""

    also: list[int] = Field(description="other questions that it answers")

    @classmethod
    def of_answered(cls, answered: Answered, *, is_preview: bool) -> Self:
        effect = EffectAnswer.of(answered.effect, is_preview=is_preview)
        return cls(**effect.model_dump(), also=list(answered.also))


class MissingOffsetAnswer(BaseModel):
    """A season whose titles probably count on from earlier ones."""

    model_config = ConfigDict(from_attributes=True)

    series_id: int
    title: str
    season: int
    offset: int = Field(description="`PATCH /series/{id}` with it as `episode_offset` accepts it, with 0 declines it")
    example: float = Field(description="a number that such a title says")


class MissingOffsetsAnswer(BaseModel):
    """All of them; one page has them all."""

    items: list[MissingOffsetAnswer]
    next_cursor: None = None


def router(questions: Questions, catalog: Catalog) -> Router:
    """The routes of questions."""
    routes = Router(prefix="/api/v1/questions", tags=["following"])

    @routes.get("/offsets", responses=documented())
    async def list_missing_offsets() -> MissingOffsetsAnswer:
        """Seasons whose titles probably count on from earlier ones, and for which no person set an offset."""
        found = await catalog.missing_offsets()
        return MissingOffsetsAnswer(items=[MissingOffsetAnswer.model_validate(one) for one in found])

    @routes.get("", responses=documented(422))
    async def list_questions(
        status: Annotated[QuestionStatus, Query(description="only those that are so far")] = QuestionStatus.OPEN,
        limit: Limit = 50,
        cursor: IdCursor = None,
    ) -> PageAnswer[QuestionAnswer]:
        """What is asked, the newest first."""
        page = await questions.page(status=status, limit=limit, cursor=cursor)
        return PageAnswer[QuestionAnswer].of(page, QuestionAnswer.of)

    @routes.get("/{question_id}", responses=documented(404, 422))
    async def get_question(question_id: QuestionId) -> QuestionAnswer:
        """One question."""
        return QuestionAnswer.of(await questions.get(question_id))

    @routes.post("/{question_id}/answer", responses=documented(404, 409, *WITH_BODY))
    async def answer_question(question_id: QuestionId, body: AnswerBody) -> AnsweredAnswer:
        """Say which series the releases are of. They are linked, and so is what comes later under the same names."""
        said = body.said()
        answered = await (questions.foresee if body.preview else questions.answer)(question_id, said)
        return AnsweredAnswer.of_answered(answered, is_preview=body.preview)

    @routes.post("/{question_id}/dismiss", responses=documented(404, 422))
    async def dismiss_question(question_id: QuestionId) -> QuestionAnswer:
        """Leave a question without an answer. It is not asked again, and its releases stay held."""
        return QuestionAnswer.of(await questions.dismiss(question_id))

    return routes

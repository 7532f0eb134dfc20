"""Questions about files that a plan could not decide about, and their answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import Path
from pydantic import BaseModel, Field

from kurabito.api.bodies import StrictBody
from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.api.reasons import WhyAnswer
from kurabito.placements.filing.answers import AnswerChoice, FilingAnswer
from kurabito.placements.filing.questions import FileQuestion, FileQuestions
from kurabito.placements.plans.model import WorkKind
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router

QuestionId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the question's id")]
Season = Annotated[int, Field(ge=0, le=999)]
EpisodeNumber = Annotated[float, Field(ge=0, le=100_000)]


class FileAnswerBody(StrictBody):
    """What a file is, or what becomes of it."""

    choice: Annotated[AnswerChoice, Field(strict=False)] = Field(
        description="`file`: it is what the answer says; `leave`: it stays where it is; `library`: all files go into this one"
    )
    library_id: int | None = Field(None, ge=1, le=BIGGEST_ID, description="for `library`")
    kind: Annotated[WorkKind, Field(strict=False)] = WorkKind.EPISODE
    season: Season | None = Field(None, description="the series' own when it is left out")
    episodes: Annotated[list[EpisodeNumber], Field(max_length=100)] = Field(
        default_factory=list, description="for an episode: its number, or several that follow each other"
    )
    label: Annotated[str, Field(min_length=1, max_length=100)] | None = Field(
        None, description="for a special: what it is called, such as `OVA 2` or `SP 1`"
    )
    is_numbered: bool = Field(
        False, description="season and number are those that the library uses, and not as the series counts"
    )

    def answer(self) -> FilingAnswer:
        numbers = tuple(int(number) if number.is_integer() else number for number in self.episodes)
        return FilingAnswer(
            choice=self.choice,
            library_id=self.library_id,
            kind=self.kind,
            season=self.season,
            episodes=numbers,
            label=self.label,
            is_numbered=self.is_numbered,
        )


class FileQuestionAnswer(BaseModel):
    """A question about a file, or with no path about all files of a download. Times are UTC."""

    id: int
    download_id: int | None
    series_id: int | None
    series: str | None
    title: str | None = Field(description="what the feed called the release")
    path: str | None = Field(description="the file, below the folder of the download; null: all of them")
    why: WhyAnswer | None
    candidates: list[dict[str, Any]] = Field(description="what it may be: kind, season, episodes, label")
    answer: dict[str, Any] | None = Field(description="what was said; null while it is open")
    created_at: datetime
    answered_at: datetime | None

    @classmethod
    def of(cls, question: FileQuestion) -> Self:
        return cls(
            id=question.id,
            download_id=question.download_id,
            series_id=question.series_id,
            series=question.series,
            title=question.title,
            path=question.path,
            why=WhyAnswer.of(question.reason),
            candidates=[dict(one) for one in question.candidates],
            answer=None if question.answer is None else question.answer.as_facts(),
            created_at=question.created_at,
            answered_at=question.answered_at,
        )


def router(questions: FileQuestions) -> Router:
    """The routes of questions about files."""
    routes = Router(prefix="/api/v1/placements/questions", tags=["filing"])

    @routes.get("", responses=documented(422))
    async def list_file_questions(limit: Limit = 50, cursor: IdCursor = None) -> PageAnswer[FileQuestionAnswer]:
        """Files that a person has to identify, the newest first."""
        page = await questions.page(limit=limit, cursor=cursor)
        return PageAnswer[FileQuestionAnswer].of(page, FileQuestionAnswer.of)

    @routes.post("/{question_id}/answer", responses=documented(404, 409, *WITH_BODY))
    async def answer_file_question(question_id: QuestionId, body: FileAnswerBody) -> FileQuestionAnswer:
        """Say what a file is. What belongs to it goes along, and other files of the same episode are left."""
        return FileQuestionAnswer.of(await questions.answer(question_id, body.answer()))

    @routes.post("/{question_id}/retry", responses=documented(404, 422))
    async def ask_file_question_again(question_id: QuestionId) -> FileQuestionAnswer:
        """Plan the files of its download again, after a library or a template was changed."""
        return FileQuestionAnswer.of(await questions.ask_again(question_id))

    @routes.post("/{question_id}/undo", responses=documented(404, 409, 422))
    async def take_file_answer_back(question_id: QuestionId) -> FileQuestionAnswer:
        """Take an answer back, as long as its file is not in a library."""
        return FileQuestionAnswer.of(await questions.take_back(question_id))

    return routes

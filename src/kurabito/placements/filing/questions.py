"""Questions about files: listed, answered, asked again, and answers taken back.

An answer is kept beside its question and the plan is made again by what was said: in one transaction the answer is stored and the
download is due to be planned. So an answer survives a crash, and what follows from it (subtitles go along with their video, the
other file of the same episode is left) is decided where everything is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Database, Queries
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.errors import InvalidInput
from kurabito.placements.errors import FilingQuestionNotFound, PlacementConflict
from kurabito.placements.filing.answers import AnswerChoice, FilingAnswer
from kurabito.placements.filing.reasons import FilingReason, question_reason
from kurabito.placements.plans.reasons import PlanReason
from kurabito.reasons import InputReason, Reason, refused
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before

_QUESTION: Final = ColumnList(
    "question.id, question.inspection_id, question.path, question.reason, question.candidates, question.answer, "
    "question.created_at, question.answered_at, inspection.download_id, inspection.folder, link.series_id, "
    "series.title AS series, link.title"
)
_SQL: Final = Queries("kurabito.placements.filing", "questions.sql", question=_QUESTION)
_MOST: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuestion:
    """What a person has to say of one file, or without a path of all files of a download."""

    id: int
    inspection_id: int
    download_id: int | None
    series_id: int | None
    series: str | None
    title: str | None
    """What the feed called the release."""
    path: str | None
    reason: Reason[FilingReason] | Reason[PlanReason]
    candidates: tuple[Mapping[str, Any], ...]
    answer: FilingAnswer | None
    created_at: datetime
    answered_at: datetime | None

    @property
    def is_about_library(self) -> bool:
        """Whether a library has to be chosen."""
        return self.path is None and self.reason.code in (FilingReason.NO_LIBRARY, FilingReason.SEVERAL_LIBRARIES)


class FileQuestions:
    """The questions about files of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, *, limit: int = 50, cursor: str | None = None) -> Page[FileQuestion]:
        """Questions that are open, the newest first."""
        values = {"before": id_before(cursor), "limit": limit + 1}

        def look(conn: Connection) -> list[FileQuestion]:
            return [_question(row) for row in conn.all(_SQL.page, values)]

        return Page.cut(await self._database.read(look), limit, lambda last: str(last.id))

    async def libraries(self) -> list[tuple[int, str]]:
        """The libraries that files can go into, by id and name."""
        return await self._database.read(choosable_libraries)

    async def answer(self, question_id: int, answer: FilingAnswer) -> FileQuestion:
        """Say what becomes of a file; raises FilingQuestionNotFound, InvalidInput, or PlacementConflict when it was answered."""

        def write(conn: Connection) -> FileQuestion:
            found = find(conn, question_id)
            _check(conn, found, answer)
            if not conn.run(_SQL.answer, {"id": question_id, "answer": answer.stored()}):
                raise PlacementConflict(f"question {question_id} is answered already; take the answer back first")
            _plan_again(conn, found)
            if answer.choice is AnswerChoice.LIBRARY:
                _answer_for_the_show(conn, found, answer)
            return find(conn, question_id)

        return await self._database.write(write)

    async def ask_again(self, question_id: int) -> FileQuestion:
        """Plan the files of the download again, by what is known now; raises FilingQuestionNotFound."""

        def write(conn: Connection) -> FileQuestion:
            found = find(conn, question_id)
            _plan_again(conn, found)
            return found

        return await self._database.write(write)

    async def take_back(self, question_id: int) -> FileQuestion:
        """Take an answer back; raises FilingQuestionNotFound, or PlacementConflict once its file is in a library."""

        def write(conn: Connection) -> FileQuestion:
            found = find(conn, question_id)
            about = {"inspection_id": found.inspection_id, "path": found.path}
            if found.answer is None:
                raise PlacementConflict(f"question {question_id} was not answered; there is nothing to take back")
            if found.answer.choice is not AnswerChoice.LEAVE and conn.one(_SQL.begun, about):
                raise PlacementConflict(
                    f"the file of question {question_id} is in its library already, or about to be; rename or remove it there"
                )
            conn.run(_SQL.reopen, {"id": question_id})
            conn.run(_SQL.withdraw, about)
            _plan_again(conn, found)
            return find(conn, question_id)

        return await self._database.write(write)


def find(conn: Connection, question_id: int) -> FileQuestion:
    """The question; raises FilingQuestionNotFound."""
    row = conn.one(_SQL.get, {"id": question_id})
    if row is None:
        raise FilingQuestionNotFound(f"no question about files has the id {question_id}")
    return _question(row)


def of_inspection(conn: Connection, inspection_id: int) -> list[FileQuestion]:
    """The questions about the files of one download: those that are open, and those with an answer."""
    rows = conn.all(_SQL.of_inspection, {"inspection_id": inspection_id, "most": _MOST})
    return [_question(row) for row in rows]


def choosable_libraries(conn: Connection) -> list[tuple[int, str]]:
    """The libraries that files can go into, by id and name."""
    return [(found, name) for found, name in conn.all(_SQL.libraries)]


def decide_libraries_again(conn: Connection) -> None:
    """Have the downloads planned again that wait for a library: what libraries take has changed."""
    conn.run(_SQL.plan_undecided)


def _plan_again(conn: Connection, question: FileQuestion) -> None:
    conn.run(_SQL.plan_again, {"inspection_id": question.inspection_id})
    conn.notify()


def _answer_for_the_show(conn: Connection, answered: FileQuestion, answer: FilingAnswer) -> None:
    """Its other episodes go into the same library: those that come later do, because the show lies there then."""
    for (other,) in conn.all(_SQL.same_show, {"series_id": answered.series_id, "id": answered.id}):
        question = find(conn, other)
        if question.is_about_library:
            conn.run(_SQL.answer, {"id": other, "answer": answer.stored()})
            _plan_again(conn, question)


def _check(conn: Connection, question: FileQuestion, answer: FilingAnswer) -> None:
    """Refuse an answer to another question."""
    if (answer.choice is AnswerChoice.LIBRARY) is not question.is_about_library:
        asked = "a library" if question.is_about_library else "`file` or `leave`"
        raise InvalidInput("choice", f"must be {asked} for this question", refused(InputReason.CHOICE))
    if answer.choice is AnswerChoice.LIBRARY:
        known = dict(choosable_libraries(conn))
        if answer.library_id not in known:
            problem = f"must be a library that takes files in, got {answer.library_id}"
            raise InvalidInput("library_id", problem, refused(InputReason.NO_LIBRARY))
    answer.check()


def _question(values: Row) -> FileQuestion:
    row = _QUESTION.row(values)
    return FileQuestion(
        id=row.id,
        inspection_id=row.inspection_id,
        download_id=row.download_id,
        series_id=row.series_id,
        series=row.series,
        title=row.title,
        path=row.path,
        reason=question_reason(row.reason),
        candidates=tuple(json.loads(row.candidates)),
        answer=None if row.answer is None else FilingAnswer.read(row.answer),
        created_at=to_datetime(row.created_at),
        answered_at=None if row.answered_at is None else to_datetime(row.answered_at),
    )

"""What can be asked of questions: the list, one of them, what an answer would do, and the answer."""

from __future__ import annotations

from dataclasses import dataclass

from kurabito.catalog import series
from kurabito.catalog.corrections.service import foreseen
from kurabito.catalog.identity import questions
from kurabito.catalog.identity.answers import Answer, Answered, answer
from kurabito.catalog.identity.questions import QuestionStatus, SeriesQuestion
from kurabito.catalog.link_sink import LinkSink
from kurabito.catalog.linker import lock_catalog
from kurabito.catalog.series import Series
from kurabito.db import Connection, Database
from kurabito.runtime.model import Page
from kurabito.runtime.paging import id_before


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its candidates as they are now."""

    question: SeriesQuestion
    candidates: tuple[Series, ...]
    """In the order of the question's own; one that was merged is the series that it became part of."""
    also: tuple[SeriesQuestion, ...] = ()
    """Other open questions about one of the same names."""


class Questions:
    """Releases that may be of several series."""

    def __init__(self, database: Database, sink: LinkSink | None = None) -> None:
        self._database = database
        self._sink = sink

    async def page(
        self, *, status: QuestionStatus = QuestionStatus.OPEN, limit: int = 50, cursor: str | None = None
    ) -> Page[AskedQuestion]:
        """Questions, the newest first."""
        before = id_before(cursor)

        def look(conn: Connection) -> Page[AskedQuestion]:
            found = questions.page(conn, status, before=before, limit=limit + 1)
            return Page.cut([_asked(conn, one) for one in found], limit, lambda last: str(last.question.id))

        return await self._database.read(look)

    async def get(self, question_id: int) -> AskedQuestion:
        """One question; raises QuestionNotFound."""
        return await self._database.read(lambda conn: _asked(conn, questions.find(conn, question_id)))

    async def count_open(self) -> int:
        """How many wait for an answer."""
        return await self._database.read(questions.count_open)

    async def answer(self, question_id: int, said: Answer) -> Answered:
        """Answer a question: its releases go where they belong, and are downloaded as their series is wanted."""

        def store(conn: Connection) -> Answered:
            lock_catalog(conn)
            answered = answer(conn, question_id, said)
            if self._sink is not None and answered.effect.freed:
                self._sink.accept(conn, sorted(answered.effect.freed))
            return answered

        return await self._database.write(store)

    async def foresee(self, question_id: int, said: Answer) -> Answered:
        """What an answer would do; nothing is stored."""

        def store(conn: Connection) -> Answered:
            lock_catalog(conn)
            return answer(conn, question_id, said)

        return await foreseen(self._database, store)

    async def dismiss(self, question_id: int) -> AskedQuestion:
        """Leave a question without an answer: it is not asked again, and its releases stay held."""

        def store(conn: Connection) -> AskedQuestion:
            found = questions.find(conn, question_id)
            if found.status is QuestionStatus.OPEN:
                questions.settle(conn, question_id, QuestionStatus.DISMISSED, found.series_id)
            return _asked(conn, questions.find(conn, question_id))

        return await self._database.write(store)


def _asked(conn: Connection, question: SeriesQuestion) -> AskedQuestion:
    candidates = tuple(series.find_current(conn, one.series_id) for one in question.candidates)
    is_open = question.status is QuestionStatus.OPEN
    return AskedQuestion(question, candidates, tuple(questions.others_open(conn, question)) if is_open else ())

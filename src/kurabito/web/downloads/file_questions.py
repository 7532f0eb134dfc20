"""Files that a person has to identify, and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Final

from fastapi import Request, Response

from kurabito.errors import InvalidInput
from kurabito.placements.filing.answers import AnswerChoice, FilingAnswer
from kurabito.placements.filing.questions import FileQuestions
from kurabito.placements.plans.model import WorkKind
from kurabito.reasons import InputReason, refused
from kurabito.site.routing import Router
from kurabito.titles import Episode
from kurabito.web.forms import CHECKED, fields_of, id_cursor, id_of, one_of
from kurabito.web.pages import Pages

_PATH: Final = "/downloads/questions"
_QUESTIONS: Final = 50
_LARGEST: Final = 100_000


def router(pages: Pages, questions: FileQuestions) -> Router:
    """The page of questions about files; they are also shown on the page of their download."""
    routes = Router()

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        cursor = id_cursor(request)
        page = await questions.page(limit=_QUESTIONS, cursor=cursor)
        return pages.show(
            request,
            "file_questions.html",
            questions=page.items,
            libraries=await questions.libraries(),
            cursor=cursor,
            next_cursor=page.next_cursor,
        )

    @routes.post(f"{_PATH}/{{question_id}}/answer")
    async def answer(request: Request, question_id: str) -> Response:
        asked = await fields_of(request)
        await questions.answer(id_of(question_id), answer_of(asked))
        return pages.go_back(asked, _PATH)

    @routes.post(f"{_PATH}/{{question_id}}/retry")
    async def ask_again(request: Request, question_id: str) -> Response:
        asked = await fields_of(request)
        await questions.ask_again(id_of(question_id))
        return pages.go_back(asked, _PATH)

    @routes.post(f"{_PATH}/{{question_id}}/undo")
    async def take_back(request: Request, question_id: str) -> Response:
        asked = await fields_of(request)
        await questions.take_back(id_of(question_id))
        return pages.go_back(asked, _PATH)

    return routes


def answer_of(asked: Mapping[str, str]) -> FilingAnswer:
    """What a form says; raises InvalidInput."""
    choice = one_of(AnswerChoice, "choice", asked.get("choice") or "")
    if choice is AnswerChoice.LIBRARY:
        return FilingAnswer(choice=choice, library_id=id_of(asked.get("library_id") or ""))
    if choice is AnswerChoice.LEAVE:
        return FilingAnswer(choice=choice)
    season = (asked.get("season") or "").strip()
    return FilingAnswer(
        choice=choice,
        kind=one_of(WorkKind, "kind", asked.get("kind") or WorkKind.EPISODE.value),
        season=int(_number("season", season)) if season else None,
        episodes=_episodes(asked.get("episodes") or ""),
        label=(asked.get("label") or "").strip() or None,
        is_numbered=asked.get("is_numbered") == CHECKED,
    )


def _episodes(text: str) -> tuple[Episode, ...]:
    """`7`, `7-8` or `7.5`."""
    first, dash, last = (part.strip() for part in text.partition("-"))
    if not first:
        return ()
    begin = _number("episodes", first)
    end = _number("episodes", last) if dash else begin
    if begin == end:
        return (begin,)
    return tuple(range(int(begin), int(end) + 1))


def _number(field: str, text: str) -> Episode:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not 0 <= number <= _LARGEST:
        problem = f"must be a number from 0 to {_LARGEST:,}, got {text[:20]!r}"
        raise InvalidInput(field, problem, refused(InputReason.NUMBER, least=0, most=_LARGEST))
    return int(number) if number.is_integer() else number

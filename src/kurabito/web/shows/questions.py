"""*Matches*: releases that may belong to several series; a person says to which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Request, Response

from kurabito.catalog.catalog import Catalog
from kurabito.catalog.identity.answers import Answer
from kurabito.catalog.identity.evidence import SPEAK_AGAINST
from kurabito.catalog.identity.questions import QuestionStatus
from kurabito.catalog.identity.relink import Relinker
from kurabito.catalog.identity.service import Questions
from kurabito.catalog.states import SeriesState
from kurabito.placements.filing.service import Placements
from kurabito.site.routing import Router
from kurabito.web.forms import count_of, fields_of, id_cursor, id_of, one_of
from kurabito.web.pages import Pages
from kurabito.web.shows.named import series_named

_QUESTIONS: Final = 20
_RELINKS: Final = 3
_COUNTED: Final = 100
_OTHERS: Final = 200
_MOVED: Final = 100
_PATH: Final = "/questions"
_ASKED: Final = (QuestionStatus.OPEN, QuestionStatus.DISMISSED)


def router(pages: Pages, questions: Questions, relinker: Relinker, catalog: Catalog, placements: Placements) -> Router:
    """The questions, and what can be said to each."""
    routes = _relinks(pages, relinker)

    @routes.get(_PATH)
    async def overview(request: Request) -> Response:
        asked, cursor = request.query_params, id_cursor(request)
        shown = one_of(QuestionStatus, "status", asked.get("status") or QuestionStatus.OPEN)
        return pages.show(
            request,
            "questions.html",
            page=await questions.page(status=shown, limit=_QUESTIONS, cursor=cursor),
            shown=shown,
            statuses=_ASKED,
            cursor=cursor,
            against=SPEAK_AGAINST,
            others=(await catalog.series(limit=_OTHERS)).items,
            unclear_files=(await placements.count_waiting(_COUNTED))[1],
            read_again=await relinker.count_waiting(),
            relinks=(await relinker.page(limit=_RELINKS)).items if shown is QuestionStatus.OPEN else [],
            offsets=await catalog.missing_offsets() if shown is QuestionStatus.OPEN else [],
        )

    @routes.post("/series/{series_id}/offset")
    async def say_offset(request: Request, series_id: str) -> Response:
        asked = await fields_of(request)
        await catalog.change(id_of(series_id), {"episode_offset": count_of("offset", asked.get("offset", ""))})
        return back(asked)

    @routes.post(f"{_PATH}/{{question_id}}/answer")
    async def answer(request: Request, question_id: str) -> Response:
        asked = await fields_of(request)
        if new := asked.get("new"):
            said = Answer(new_state=one_of(SeriesState, "new", new))
        else:
            said = Answer((await series_named(catalog, "series", asked.get("series", ""))).id)
        await questions.answer(id_of(question_id), said)
        return back(asked)

    @routes.post(f"{_PATH}/{{question_id}}/dismiss")
    async def dismiss(request: Request, question_id: str) -> Response:
        await questions.dismiss(id_of(question_id))
        return back(await fields_of(request))

    def back(asked: Mapping[str, str]) -> Response:
        """Where the button stood."""
        return pages.go_back(asked, _PATH)

    return routes


def _relinks(pages: Pages, relinker: Relinker) -> Router:
    """What was read again, and the word that lets it be downloaded."""
    routes = Router()

    @routes.get(f"{_PATH}/relinks/{{relink_id}}")
    async def relink(request: Request, relink_id: str) -> Response:
        page = await relinker.moved(id_of(relink_id), limit=_MOVED, cursor=id_cursor(request))
        return pages.show(request, "relink.html", page=page, cursor=id_cursor(request))

    @routes.post("/links/confirm")
    async def confirm() -> Response:
        await relinker.confirm()
        return pages.go(_PATH)

    return routes

"""Errors as pages that say what happened and what to do, in the reader's language."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from kurabito import logs
from kurabito.errors import InvalidInput, KurabitoError, StateConflict
from kurabito.reasons import Reason
from kurabito.site.errors import status_of
from kurabito.web.pages import Pages

log = logs.get_logger(__name__)

_UNFORESEEN: Final = "internal"


def install(web: FastAPI, pages: Pages) -> None:
    """Answer every error of the pages with a page; a client that asked for none gets the one shape of the API."""

    def answer(
        request: Request,
        status: int,
        code: str,
        message: str,
        headers: dict[str, str] | None = None,
        reason: Reason[Any] | None = None,
    ) -> Response:
        if not _wants_page(request, pages.addresses.path_of(request)):
            return JSONResponse({"error": {"code": code, "message": message}}, status, headers)
        words = pages.words(request)
        key = code if words.catalogue.has(f"failure.{code}.what") else _UNFORESEEN
        return pages.show(
            request, "failure.html", status=status, headers=headers, code=key, detail=message, reason=reason
        )

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, KurabitoError)
        status = status_of(error)
        if status >= 500:
            log.error("page failed", code=error.code, error=error)
        reason = error.reason if isinstance(error, InvalidInput | StateConflict) else None
        return answer(request, status, error.code, logs.mask_text(str(error)), reason=reason)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        return answer(request, error.status_code, code, str(error.detail), dict(error.headers or {}))

    async def unforeseen(request: Request, error: Exception) -> Response:
        log.error("page failed unexpectedly", exc_info=error)
        return answer(request, 500, _UNFORESEEN, "something went wrong here; the log says what")

    web.add_exception_handler(KurabitoError, ours)
    web.add_exception_handler(HTTPException, http)
    web.add_exception_handler(Exception, unforeseen)


def _wants_page(request: Request, path: str) -> bool:
    return not path.startswith("/api/") and "text/html" in request.headers.get("accept", "")

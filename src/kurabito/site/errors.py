"""Every error leaves in one shape: `{"error": {"code": …, "message": …}}`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kurabito import logs
from kurabito.errors import GuessedTooOften, InvalidInput, KurabitoError

log = logs.get_logger(__name__)

# An answer 401 has to name a way to authenticate.
_HEADERS: Final = {401: {"WWW-Authenticate": "X-Api-Key"}}

_MEANINGS: Final = {
    400: "The request makes no sense, or not now; nothing was changed",
    401: "Log in, or send a key as `X-Api-Key`",
    403: "The key may not do this, or a page of another site asked",
    404: "There is no such thing",
    408: "The body did not arrive in time",
    409: "The present state does not allow it; nothing was changed",
    413: "The body, the payload or the result is too large",
    421: "The name in the Host header is not one of ours",
    422: "A value was refused; the message names the field",
    429: "Too much at once, or too soon; try again later",
    502: "Something outside did not answer as it should; nothing was changed",
    503: "The database does not answer; try again later",
    504: "Something outside took too long; nothing was changed",
}
# What the gate in front of every route may answer, and what may happen to any request.
_ANYWHERE: Final = (400, 401, 403, 421, 429, 503)
WITH_BODY: Final = (408, 413, 422)
"""The errors that a request with a body may have besides."""


class ErrorDetail(BaseModel):
    """What went wrong."""

    code: str = Field(description="stable; what an interface translates")
    message: str = Field(description="what happened, to what, and what to do, in English")


class ErrorAnswer(BaseModel):
    """The one shape of an error."""

    error: ErrorDetail


_SCHEMAS: Final = "#/components/schemas/"
_SHAPE: Final = {"$ref": f"{_SCHEMAS}{ErrorAnswer.__name__}"}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """These errors and those that any route may have, as a route's `responses`.

    They point to the one shape. Were it given with each of them, a validator would be built for each, a thousand in all,
    before the first request is answered.
    """
    return {
        status: {"description": _MEANINGS[status], "content": {"application/json": {"schema": _SHAPE}}}
        for status in sorted({*_ANYWHERE, *statuses})
    }


def error_body(code: str, message: str) -> dict[str, dict[str, str]]:
    """The one shape."""
    return {"error": {"code": code, "message": message}}


def install(api: FastAPI) -> None:
    """Answer every error of this application in the one shape, and describe that shape."""
    api.add_exception_handler(KurabitoError, _any)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(Exception, _any)
    describe = api.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
        shapes = document.setdefault("components", {}).setdefault("schemas", {})
        whole = ErrorAnswer.model_json_schema(ref_template=_SCHEMAS + "{model}")
        shapes.update(whole.pop("$defs"), **{ErrorAnswer.__name__: whole})
        return document

    api.openapi = openapi  # type: ignore[method-assign]  # as its documentation says


def answer_to(error: Exception) -> JSONResponse:
    """The answer that tells of an error: of one of ours what it says, of any other only that there was one."""
    if not isinstance(error, KurabitoError):
        log.error("request failed unexpectedly", exc_info=error)
        return JSONResponse(error_body("internal", "something went wrong here; the log says what"), 500)
    if error.status >= 500:
        log.error("request failed", code=error.code, error=error)
    headers = _HEADERS.get(error.status)
    if isinstance(error, GuessedTooOften):
        headers = {"Retry-After": str(error.seconds)}
    return JSONResponse(error_body(error.code, logs.mask_text(str(error))), error.status, headers)


async def _any(_request: Request, error: Exception) -> JSONResponse:
    return answer_to(error)


async def _http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return JSONResponse(error_body(code, str(error.detail)), status_code=error.status_code, headers=error.headers)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = []
    for problem in error.errors():
        place, *within = problem["loc"]
        problems.append(f"{'.'.join(map(str, within)) or place}: {problem['msg']}")
    return JSONResponse(error_body(InvalidInput.code, "; ".join(problems)), status_code=422)

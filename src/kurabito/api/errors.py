"""Every error leaves in one shape: `{"error": {"code": …, "message": …}}`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from kurabito import logs
from kurabito.errors import (
    DatabaseUnavailable,
    InvalidInput,
    KurabitoError,
    LeaseLost,
    PayloadTooLarge,
    TaskConflict,
    TaskFinished,
    TaskNotFound,
)

log = logs.get_logger(__name__)

# The nearest class of an error decides.
STATUS: Final[dict[type[KurabitoError], int]] = {
    InvalidInput: 422,
    PayloadTooLarge: 413,
    TaskNotFound: 404,
    TaskFinished: 400,
    TaskConflict: 409,
    LeaseLost: 409,
    DatabaseUnavailable: 503,
}


def error_body(code: str, message: str) -> dict[str, dict[str, str]]:
    """The one shape."""
    return {"error": {"code": code, "message": message}}


def install(api: FastAPI) -> None:
    """Answer every error of this application in the one shape."""
    api.add_exception_handler(KurabitoError, _ours)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(Exception, _unforeseen)


async def _ours(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, KurabitoError)
    status = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)
    if status >= 500:
        log.error("request failed", code=error.code, error=error)
    return JSONResponse(error_body(error.code, logs.mask_text(str(error))), status_code=status)


async def _http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return JSONResponse(error_body(code, str(error.detail)), status_code=error.status_code, headers=error.headers)


async def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = [f"{'.'.join(map(str, problem['loc'][1:]))}: {problem['msg']}" for problem in error.errors()]
    return JSONResponse(error_body(InvalidInput.code, "; ".join(problems)), status_code=422)


async def _unforeseen(_request: Request, error: Exception) -> JSONResponse:
    log.error("request failed unexpectedly", exc_info=error)
    return JSONResponse(error_body("internal", "something went wrong here; the log says what"), status_code=500)

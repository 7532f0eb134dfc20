"""How HTTP calls an error. Every error leaves in one shape: `{"error": {"code": …, "message": …}}`."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from kurabito import logs
from kurabito.access.errors import AccessError, GuessedTooOften, NotAuthenticated, ScopeMissing
from kurabito.downloads.errors import DownloaderError, DownloaderUnavailable, NothingPasted, TransferNotFound
from kurabito.errors import DatabaseUnavailable, InvalidInput, KurabitoError, NotFound, PayloadTooLarge, StateConflict
from kurabito.feeds.errors import FeedUnreadable, FetcherRefused
from kurabito.http.errors import OutboundError, TimedOut, UrlNotAllowed
from kurabito.indexers.errors import IndexerRefused, IndexerResting, IndexerUnreadable, SiteInvalid
from kurabito.library.errors import DeletionNotAllowed
from kurabito.maintenance.errors import CheckpointTooSoon
from kurabito.media_servers.errors import FolderUnknownThere, MediaServerRefused
from kurabito.metadata.errors import (
    BgmtvError,
    MetadataStopped,
    PosterError,
    PosterNameInvalid,
    PosterNotStored,
    TmdbError,
)
from kurabito.modules.errors import KeyOfAnotherModule
from kurabito.notifications.errors import DestinationRefused
from kurabito.protocol.errors import WorkerProtocolMismatch
from kurabito.runtime.errors import TaskFinished
from kurabito.settings.errors import SettingLocked
from kurabito.thumbnails.errors import ThumbnailNotReady, ThumbnailsFull

log = logs.get_logger(__name__)


class UnknownHost(AccessError):
    """The request is for a name that is not ours."""

    code = "unknown_host"


class ForeignOrigin(AccessError):
    """A page of another site sent the request."""

    code = "foreign_origin"


class BodyTooSlow(KurabitoError):
    """The rest of a request did not come in time."""

    code = "body_too_slow"


class BodyCutShort(KurabitoError):
    """The client left before the whole body of its request had arrived."""

    code = "body_cut_short"


STATUSES: Final[Mapping[type[KurabitoError], int]] = {
    KurabitoError: 500,
    InvalidInput: 422,
    PayloadTooLarge: 413,
    NotFound: 404,
    StateConflict: 409,
    DatabaseUnavailable: 503,
    NothingPasted: 422,
    TaskFinished: 400,
    WorkerProtocolMismatch: 400,
    NotAuthenticated: 401,
    ScopeMissing: 403,
    GuessedTooOften: 429,
    UnknownHost: 421,
    ForeignOrigin: 403,
    BodyTooSlow: 408,
    BodyCutShort: 400,
    OutboundError: 502,
    UrlNotAllowed: 422,
    TimedOut: 504,
    KeyOfAnotherModule: 403,
    FeedUnreadable: 502,
    FetcherRefused: 502,
    IndexerUnreadable: 502,
    IndexerRefused: 502,
    IndexerResting: 429,
    SiteInvalid: 422,
    MediaServerRefused: 502,
    DestinationRefused: 502,
    FolderUnknownThere: 502,
    DownloaderError: 502,
    DownloaderUnavailable: 503,
    TransferNotFound: 404,
    MetadataStopped: 503,
    BgmtvError: 502,
    TmdbError: 502,
    PosterError: 502,
    PosterNotStored: 500,
    PosterNameInvalid: 404,
    DeletionNotAllowed: 403,
    ThumbnailNotReady: 404,
    ThumbnailsFull: 429,
    CheckpointTooSoon: 429,
    SettingLocked: 409,
}
"""How HTTP calls an error, on the page and in the API alike. A class that is not here is called as the nearest above it."""

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


def status_of(error: KurabitoError) -> int:
    """How HTTP calls this error."""
    return status_of_kind(type(error))


def status_of_kind(kind: type[KurabitoError]) -> int:
    """How HTTP calls errors of this class."""
    return next(STATUSES[above] for above in kind.__mro__ if above in STATUSES)


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
    status = status_of(error)
    if status >= 500:
        log.error("request failed", code=error.code, error=error)
    headers = _HEADERS.get(status)
    if isinstance(error, GuessedTooOften):
        headers = {"Retry-After": str(error.seconds)}
    return JSONResponse(error_body(error.code, logs.mask_text(str(error))), status, headers)


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

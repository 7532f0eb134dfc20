"""Thumbnails: asked for one by one or many at once, looked up, shown, and removed by the group."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from fastapi import Header, Path, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field, model_validator

from kurabito.api.bodies import WHOLE, StrictBody
from kurabito.protocol.enums import CleanupStatus, MediaType, ThumbnailFormat, ThumbnailStatus
from kurabito.protocol.leased.thumbnails import LARGEST, SMALLEST
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import WITH_BODY, ErrorDetail, documented
from kurabito.site.routing import Router
from kurabito.thumbnails.admission import MOST_AT_ONCE, Answer, Thumbnail, ThumbnailRefused, Thumbnails
from kurabito.thumbnails.cleanup import GROUP_PATTERN, Cleanups, GroupCleanup
from kurabito.thumbnails.file_server import Pictures
from kurabito.thumbnails.keys import Drawing
from kurabito.thumbnails.metrics import ThumbnailMetrics

# A key stands for one thumbnail for ever, so a browser never asks twice. Not for shared caches.
_FOR_EVER: Final = "private, max-age=31536000, immutable"

FileNumber = Annotated[int, Field(ge=1, le=BIGGEST_ID), WHOLE]
Key = Annotated[str, Path(pattern="^[0-9a-f]{1,64}$", description="as the request gave it")]


class ThumbnailOrder(StrictBody):
    """Pictures that are asked for: of one file, or of many."""

    file_id: FileNumber | None = Field(None, description="either this or `file_ids`")
    file_ids: list[FileNumber] | None = Field(None, min_length=1, max_length=MOST_AT_ONCE)
    max_dimension: Annotated[int, Field(ge=SMALLEST, le=LARGEST), WHOLE] = Field(
        320, description="the longer side has at most so many pixels"
    )
    format: ThumbnailFormat = Field(ThumbnailFormat.JPEG, strict=False)

    @model_validator(mode="after")
    def _one_or_many(self) -> Self:
        if (self.file_id is None) is (self.file_ids is None):
            raise ValueError("give either file_id or file_ids")
        return self


class ThumbnailAnswer(BaseModel):
    """A thumbnail at one moment. Times are UTC."""

    key: str = Field(description="stands for this one picture for ever; a file that changed has another")
    file_id: int
    group_key: str = Field(description="which thumbnails are removed together")
    media_type: MediaType
    format: ThumbnailFormat
    max_dimension: int
    output_path: str = Field(description="where it is, or will be, below `thumbs` in the state folder")
    status: ThumbnailStatus
    width: int | None
    height: int | None
    bytes_size: int | None
    error_code: str | None = Field(description="stable; what an interface translates")
    error_message: str | None
    error_count: int
    retry_after: datetime | None = Field(description="asked for again after this moment, it is tried again")
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, thumbnail: Thumbnail) -> Self:
        return cls(**{name: getattr(thumbnail, name) for name in cls.model_fields})


class ThumbnailItem(BaseModel):
    """The result for one of many files."""

    file_id: int
    status: ThumbnailStatus | Literal["refused"]
    key: str | None = None
    error: ErrorDetail | None = Field(None, description="why it is refused, or failed")

    @classmethod
    def of(cls, answer: Answer) -> Self:
        if isinstance(answer, ThumbnailRefused):
            error = ErrorDetail(code=answer.error.code, message=str(answer.error))
            return cls(file_id=answer.file_id, status="refused", error=error)
        failed = answer.status is ThumbnailStatus.FAILED and answer.error_code is not None
        error = ErrorDetail(code=answer.error_code or "", message=answer.error_message or "")
        return cls(file_id=answer.file_id, status=answer.status, key=answer.key, error=error if failed else None)


class ThumbnailItems(BaseModel):
    """An answer for each file, in the order in which they were asked for."""

    items: list[ThumbnailItem]


class CleanupOrder(StrictBody):
    """A group whose thumbnails to delete."""

    group_key: str = Field(pattern=f"^({GROUP_PATTERN})$", description="as a thumbnail or a group of duplicates has it")


class CleanupAnswer(BaseModel):
    """The removal of a group's thumbnails. Times are UTC."""

    id: int
    group_key: str
    status: CleanupStatus
    execute_after: datetime
    error_code: str | None
    error_message: str | None
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, cleanup: GroupCleanup) -> Self:
        return cls(**{name: getattr(cleanup, name) for name in cls.model_fields})


class ThumbnailMetricsAnswer(BaseModel):
    """How the thumbnails are doing."""

    depth: int = Field(description="how many wait to be drawn")
    capacity: int = Field(description="how many may")
    running: int
    ready: int
    failed: int
    retry_backlog: int = Field(description="how many of those that failed may be asked for again")
    cleanup_waiting: int
    cleanup_lag_seconds: float = Field(description="for how long a removal is due that was not begun")
    bytes_stored: int


def router(
    thumbnails: Thumbnails,
    pictures: Pictures,
    cleanups: Cleanups,
    measure: Callable[[], Awaitable[ThumbnailMetrics]],
) -> Router:
    """The routes of the thumbnails."""
    routes = Router(prefix="/api/v1/thumbs", tags=["thumbnails"])
    described: dict[int | str, dict[str, Any]] = {
        200: {"content": {"image/*": {"schema": {"type": "string", "format": "binary"}}}, "description": "The picture"},
        304: {"description": "You have it already"},
    }

    @routes.post("/request", status_code=202, responses=documented(404, 409, 429, *WITH_BODY))
    async def request_thumbnails(order: ThumbnailOrder) -> ThumbnailAnswer | ThumbnailItems:
        """Ask for the picture of a file, or for those of up to 500. What is drawn already is not drawn again.

        Of one file: 404 when it is not known or missing, 409 when it is neither image nor video, 429 when too many wait. Of
        many: each has its own answer.
        """
        drawing = Drawing(order.max_dimension, order.format)
        if order.file_id is not None:
            return ThumbnailAnswer.of(await thumbnails.request(order.file_id, drawing))
        answers = await thumbnails.request_many(order.file_ids or [], drawing)
        return ThumbnailItems(items=[ThumbnailItem.of(answer) for answer in answers])

    @routes.get("/metrics", responses=documented())
    async def get_thumbnail_metrics() -> ThumbnailMetricsAnswer:
        """How many wait, run, are ready or failed, and how late their removal is."""
        found = await measure()
        return ThumbnailMetricsAnswer(**{name: getattr(found, name) for name in ThumbnailMetricsAnswer.model_fields})

    @routes.post("/cleanup/group", status_code=202, responses=documented(*WITH_BODY))
    async def clean_up_thumbnail_group(order: CleanupOrder) -> CleanupAnswer:
        """Have the thumbnails of a group removed after a while; files of libraries are never touched."""
        return CleanupAnswer.of(await cleanups.schedule(order.group_key))

    @routes.get("/{key}", responses=documented(404, 422))
    async def get_thumbnail(key: Key) -> ThumbnailAnswer:
        """One thumbnail."""
        return ThumbnailAnswer.of(await thumbnails.get(key))

    @routes.get("/{key}/content", response_class=FileResponse, responses={**described, **documented(404, 422)})
    async def get_thumbnail_content(
        key: Key, if_none_match: Annotated[str | None, Header(description="the `ETag` of what you have")] = None
    ) -> Response:
        """The picture itself, once it is ready."""
        found = await pictures.find(key)
        headers = {"ETag": f'"{key}"', "Cache-Control": _FOR_EVER}
        if if_none_match is not None and headers["ETag"] in if_none_match:
            return Response(status_code=304, headers=headers)
        return FileResponse(found.path, media_type=found.media_type, headers=headers)

    return routes

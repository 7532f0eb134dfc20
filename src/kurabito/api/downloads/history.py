"""The history: what happened to releases and files, and all of it as a file."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Self

from fastapi import Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime, BaseModel, Field

from kurabito.api.downloads.history_export import as_csv, as_json
from kurabito.api.paging import PAGE_BEFORE, Limit, PageAnswer
from kurabito.api.reasons import WhyAnswer, sentence_of
from kurabito.downloads.history.entry import HistoryEntry, HistoryFilter, HistoryKind
from kurabito.downloads.history.service import History
from kurabito.modules.services import BIGGEST_MODULE_ID
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import documented
from kurabito.site.routing import Router

_CURSOR: Final = r"^[0-9]{1,18}-[a-z]{1,20}-[0-9a-f]{1,32}$"
_NO_NUL: Final = r"^[^\x00]*$"


class HistoryAnswer(BaseModel):
    """Something that happened. Times are UTC."""

    kind: HistoryKind
    at: datetime
    series_id: int | None
    series: str | None
    season: int | None
    episode: float | None = Field(description="null where it has several, or none that is known")
    episodes: int = Field(description="how many a batch has")
    title: str = Field(description="that of the release; the path of a file that came without one")
    download_id: int | None
    downloader: str | None
    reason: str | None = Field(description="why it failed or was cancelled, in words")
    why: WhyAnswer | None = Field(description="the same as a code with facts")
    path: str | None = Field(description="of a file, in its library")
    size_bytes: int | None

    @classmethod
    def of(cls, entry: HistoryEntry) -> Self:
        own = {name: getattr(entry, name) for name in cls.model_fields if name not in ("reason", "why")}
        return cls(**own, reason=sentence_of(entry.reason), why=WhyAnswer.of(entry.reason))


class ExportFormat(StrEnum):
    """How a file is written."""

    CSV = "csv"
    JSON = "json"


def wanted_entries(
    series_id: Annotated[int | None, Query(ge=1, le=BIGGEST_ID, description="only of this show")] = None,
    module_id: Annotated[
        int | None, Query(ge=1, le=BIGGEST_MODULE_ID, description="only what this downloader had")
    ] = None,
    kind: Annotated[list[HistoryKind] | None, Query(description="only these; left out: all")] = None,
    text: Annotated[
        str, Query(max_length=200, pattern=_NO_NUL, description="only entries with this in their titles or paths")
    ] = "",
    since: Annotated[AwareDatetime | None, Query(description="not before this time")] = None,
    until: Annotated[AwareDatetime | None, Query(description="before this time")] = None,
) -> HistoryFilter:
    """The entries that a request is about."""
    return HistoryFilter(
        series_id=series_id, module_id=module_id, kinds=kind or (), text=text.strip(), since=since, until=until
    )


Wanted = Annotated[HistoryFilter, Depends(wanted_entries)]


def router(history: History) -> Router:
    """The routes of the history."""
    routes = Router(prefix="/api/v1/history", tags=["finding"])

    @routes.get("", responses=documented(422))
    async def list_history(
        wanted: Wanted,
        limit: Limit = 50,
        cursor: Annotated[str | None, Query(pattern=_CURSOR, description=PAGE_BEFORE)] = None,
    ) -> PageAnswer[HistoryAnswer]:
        """What happened, the newest first. A batch is one entry."""
        page = await history.page(wanted, limit=limit, cursor=cursor)
        return PageAnswer[HistoryAnswer].of(page, HistoryAnswer.of)

    @routes.get("/export", responses=documented(422), response_class=StreamingResponse)
    async def export_history(
        wanted: Wanted,
        file_format: Annotated[ExportFormat, Query(alias="format", description="of the file")] = ExportFormat.CSV,
    ) -> StreamingResponse:
        """The same as a file. Cells that a spreadsheet would take for formulas begin with an apostrophe."""
        return export_answer(history, wanted, file_format)

    return routes


def export_answer(history: History, wanted: HistoryFilter, file_format: ExportFormat) -> StreamingResponse:
    """The history as a file, sent while it is read."""
    write, media_type = _WRITERS[file_format]
    headers = {"Content-Disposition": f'attachment; filename="kurabito-history.{file_format.value}"'}
    answers = (HistoryAnswer.of(entry).model_dump(mode="json") async for entry in history.everything(wanted))
    return StreamingResponse(write(answers), media_type=media_type, headers=headers)


_WRITERS: Final = {
    ExportFormat.CSV: (as_csv, "text/csv; charset=utf-8"),
    ExportFormat.JSON: (as_json, "application/json"),
}

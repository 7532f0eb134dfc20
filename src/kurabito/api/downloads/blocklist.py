"""Releases that failed and are not taken again before a time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from fastapi import Path
from pydantic import BaseModel, Field

from kurabito.api.paging import IdCursor, Limit, PageAnswer
from kurabito.api.reasons import WhyAnswer, sentence_of
from kurabito.downloads.blocklist.service import Blocklist
from kurabito.downloads.blocklist.store import BlockedRelease
from kurabito.runtime.paging import BIGGEST_ID
from kurabito.site.errors import documented
from kurabito.site.routing import Router

BlockId = Annotated[int, Path(ge=1, le=BIGGEST_ID, description="the id of a blocked release")]


class BlockedReleaseAnswer(BaseModel):
    """A release that failed. Times are UTC."""

    id: int
    title: str
    release_key: str
    series_id: int | None
    download_id: int | None = Field(description="the download that failed")
    reason: str | None = Field(description="why, in words")
    why: WhyAnswer | None = Field(description="the same as a code with facts")
    blocked_until: datetime | None = Field(description="it is not taken before this; null is for good")
    created_at: datetime

    @classmethod
    def of(cls, block: BlockedRelease) -> Self:
        own = {name: getattr(block, name) for name in cls.model_fields if name not in ("reason", "why")}
        return cls(**own, reason=sentence_of(block.reason), why=WhyAnswer.of(block.reason))


class ClearedAnswer(BaseModel):
    """What was cleared."""

    cleared: int


def router(blocklist: Blocklist) -> Router:
    """The routes of the blocklist."""
    routes = Router(prefix="/api/v1/blocklist", tags=["finding"])

    @routes.get("", responses=documented(422))
    async def list_blocked(limit: Limit = 50, cursor: IdCursor = None) -> PageAnswer[BlockedReleaseAnswer]:
        """Releases that failed and are not taken now, the newest first."""
        page = await blocklist.page(limit=limit, cursor=cursor)
        return PageAnswer[BlockedReleaseAnswer].of(page, BlockedReleaseAnswer.of)

    @routes.delete("", responses=documented())
    async def clear_blocklist() -> ClearedAnswer:
        """Let all of them be taken again. Nothing is downloaded because of it."""
        return ClearedAnswer(cleared=await blocklist.clear_all())

    @routes.delete("/{block_id}", status_code=204, responses=documented(404, 422))
    async def unblock_release(block_id: BlockId) -> None:
        """Let a release be taken again."""
        await blocklist.clear(block_id)

    return routes

"""`GET /api/v1/attention`: what needs a person, and what of it is hidden."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from kurabito.attention import ActionId, AttentionAction, AttentionCode, Fact, Severity
from kurabito.maintenance.notices import Notice, NoticeBoard
from kurabito.site.errors import WITH_BODY, documented
from kurabito.site.routing import Router


class ActionAnswer(BaseModel):
    """What helps."""

    id: ActionId
    target: int | str | None = Field(description="the id of the row, or the path, that it is about")

    @classmethod
    def of(cls, action: AttentionAction) -> Self:
        return cls(id=action.id, target=action.target)


class AttentionAnswer(BaseModel):
    """One thing that needs a person. Times are UTC."""

    code: AttentionCode = Field(description="stable; what an interface translates")
    severity: Severity
    facts: dict[str, Fact] = Field(description="what the words of the code need")
    since: datetime | None = Field(description="since when, where that is known")
    action: ActionAnswer | None
    key: str = Field(description="the same until it changes: graver, larger, or of another cause")
    is_hidden: bool = Field(description="whether its keeper hid it until it changes")

    @classmethod
    def of(cls, notice: Notice) -> Self:
        item = notice.item
        return cls(
            code=item.code,
            severity=item.severity,
            facts=dict(item.facts),
            since=item.since,
            action=None if item.action is None else ActionAnswer.of(item.action),
            key=item.key,
            is_hidden=notice.is_hidden,
        )


class AttentionPage(BaseModel):
    """The gravest first. One page has them all."""

    items: list[AttentionAnswer]
    next_cursor: None = None


class HiddenChange(BaseModel):
    """Whether it is hidden until it changes."""

    is_hidden: bool


def router(board: NoticeBoard) -> Router:
    """The routes of the list of attention."""
    routes = Router(prefix="/api/v1", tags=["system"])

    @routes.get("/attention", responses=documented())
    async def get_attention() -> AttentionPage:
        """What does not work, may soon not work, or waits for a decision; and what helps. Empty while all is well."""
        return AttentionPage(items=[AttentionAnswer.of(notice) for notice in await board.list()])

    @routes.put("/attention/{key}", status_code=204, responses=documented(404, *WITH_BODY))
    async def change_attention(key: str, change: HiddenChange) -> None:
        """Hide one from the first page until it changes, or show it again."""
        await (board.hide(key) if change.is_hidden else board.show(key))

    return routes

"""`GET /api/v1/attention`: what needs a person."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from kurabito.attention import ActionId, Attention, AttentionAction, AttentionCode, AttentionItem, Fact, Severity
from kurabito.site.errors import documented


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

    @classmethod
    def of(cls, item: AttentionItem) -> Self:
        return cls(
            code=item.code,
            severity=item.severity,
            facts=dict(item.facts),
            since=item.since,
            action=None if item.action is None else ActionAnswer.of(item.action),
        )


class AttentionPage(BaseModel):
    """The gravest first. One page has them all."""

    items: list[AttentionAnswer]
    next_cursor: None = None


def router(attention: Attention) -> APIRouter:
    """The route of the list of attention."""
    routes = APIRouter(prefix="/api/v1", tags=["system"])

    @routes.get("/attention", responses=documented())
    async def get_attention() -> AttentionPage:
        """What does not work, may soon not work, or waits for a decision; and what helps. Empty while all is well."""
        return AttentionPage(items=[AttentionAnswer.of(item) for item in await attention.list()])

    return routes

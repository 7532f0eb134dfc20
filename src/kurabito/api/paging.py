"""Pages of lists, as clients ask for them and get them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Final, Generic, Self, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from kurabito.runtime.model import Page
from kurabito.runtime.paging import MAX_PAGE

Item = TypeVar("Item")
Answer = TypeVar("Answer", bound=BaseModel)

PAGE_BEFORE: Final = "`next_cursor` of the page before"

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
IdCursor = Annotated[str | None, Query(pattern=r"^[1-9][0-9]{0,17}$", description=PAGE_BEFORE)]
"""For lists in the order of their ids."""


class PageAnswer(BaseModel, Generic[Answer]):
    """Some items of a list, and where the next page begins."""

    items: list[Answer]
    next_cursor: str | None = Field(description="give it as `cursor` for the next page; null at the end")

    @classmethod
    def of(cls, page: Page[Item], answer: Callable[[Item], Answer]) -> Self:
        """A page of the domain, each of its items as an answer."""
        return cls(items=[answer(item) for item in page], next_cursor=page.next_cursor)

    @classmethod
    def whole(cls, items: Iterable[Answer]) -> Self:
        """A list that is short enough for one page."""
        return cls(items=list(items), next_cursor=None)

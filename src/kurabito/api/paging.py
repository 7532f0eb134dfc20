"""Pages of lists, as clients ask for them and get them."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query
from pydantic import Field

from kurabito.runtime.paging import MAX_PAGE

PAGE_BEFORE: Final = "`next_cursor` of the page before"

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
IdCursor = Annotated[str | None, Query(pattern=r"^[1-9][0-9]{0,17}$", description=PAGE_BEFORE)]
"""For lists in the order of their ids."""
NextCursor = Annotated[str | None, Field(description="give it as `cursor` for the next page; null at the end")]

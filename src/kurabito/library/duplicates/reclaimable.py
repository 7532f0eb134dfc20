"""Groups of duplicates by the space that they waste.

The order of the interface is by the number of files; a user wants to see the largest savings first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kurabito.db import Connection, Database, Queries
from kurabito.library.duplicates.groups import DuplicateGroup, GroupFile, GroupKey, files_of, group_of
from kurabito.runtime.model import Page
from kurabito.runtime.paging import check_limit, not_a_cursor

COUNTED: Final = 10_000
"""How many groups are added up: as many as one plan takes. To count a million would take longer than a page may."""
_CURSOR: Final = re.compile("([0-9]{1,18})-([a-z0-9]+:[0-9a-f]+)")
SQL: Final = Queries(
    "kurabito.library.duplicates", "reclaimable.sql", waste="(total_size_bytes / file_count * (copies - 1))"
)


@dataclass(frozen=True, slots=True)
class ReclaimableGroup:
    """A group and the first few of its files."""

    group: DuplicateGroup
    files: list[GroupFile]


@dataclass(frozen=True, slots=True)
class ReclaimableTotal:
    """What all groups waste together, or the largest of them when there are very many."""

    groups: int
    reclaimable_bytes: int
    is_all: bool


class Reclaimable:
    """The groups of one database from which room can be reclaimed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def groups(self, *, limit: int = 20, cursor: str | None = None, files: int = 4) -> Page[ReclaimableGroup]:
        """A page of groups, the most wasteful first, each with its first `files`."""
        check_limit(limit)
        after = None if cursor is None else _place(cursor)

        def look(conn: Connection) -> Page[ReclaimableGroup]:
            found = _groups_after(conn, after, limit + 1)
            page = Page.cut(found, limit, _cursor_after)
            shown = tuple(ReclaimableGroup(one, files_of(conn, one.key, limit=files)) for one in page)
            return Page(shown, page.next_cursor)

        return await self._database.read(look)

    async def total(self) -> ReclaimableTotal:
        """How much could be reclaimed."""
        ((groups, waste),) = await self._database.read(lambda conn: conn.all(SQL.total, {"limit": COUNTED}))
        return ReclaimableTotal(groups, int(waste), groups < COUNTED)


def _groups_after(conn: Connection, after: tuple[int, GroupKey] | None, limit: int) -> list[DuplicateGroup]:
    if after is None:
        rows = conn.all(SQL.first_groups, {"limit": limit})
    else:
        waste, key = after
        place = {"waste": waste, "hash_algorithm": key.hash_algorithm.value, "content_hash": key.content_hash}
        rows = conn.all(SQL.groups_after, {**place, "limit": limit})
    return [group_of(row) for row in rows]


def _cursor_after(group: DuplicateGroup) -> str:
    return f"{group.reclaimable_bytes}-{group.key}"


def _place(cursor: str) -> tuple[int, GroupKey]:
    if (found := _CURSOR.fullmatch(cursor)) is None:
        raise not_a_cursor(cursor)
    return int(found[1]), GroupKey.parse(found[2], "cursor")

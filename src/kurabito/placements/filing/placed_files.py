"""Notes that files are in their place: from then on their episodes are in the library."""

from __future__ import annotations

from typing import Final

from kurabito.db import Connection, Queries

_SQL: Final = Queries("kurabito.placements.filing", "placed_files.sql")


def unnoted(conn: Connection) -> list[int]:
    """The placements that are done, and whose episodes do not know it yet."""
    return [found for (found,) in conn.all(_SQL.unnoted)]


def note(conn: Connection, placement_ids: list[int]) -> None:
    """Note that the episodes of these files are in the library."""
    given = {"ids": placement_ids}
    conn.run(_SQL.add_files, given)
    conn.run(_SQL.are_had, given)
    conn.run(_SQL.follow_renamed, given)
    conn.run(_SQL.note, given)

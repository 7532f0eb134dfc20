"""Files go with what they are of: those of a link to its new episode, those of a series to the one that it becomes part of.

Only what is known of them changes; where they lie on a disk stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from kurabito.catalog.corrections.changes import RowChanges
from kurabito.db import Connection, Queries

_SQL: Final = Queries("kurabito.catalog.corrections", "files.sql")


def carry_files_of_links(
    conn: Connection, changes: RowChanges, links: Iterable[tuple[int, int | None, int | None]]
) -> None:
    """Files that were downloaded for links go along: each link, the episode that it was for, and that which it is for."""
    rows = [
        {"link": link, "before": before, "after": after}
        for link, before, after in links
        if before is not None and after is not None and before != after
    ]
    if rows:
        given = {"rows": json.dumps(rows)}
        changes.owned("episode_files", _three(conn.all(_SQL.files_of_links, given)))
        changes.owned("placement_episodes", _three(conn.all(_SQL.placed_for_links, given)))


def carry_files_of_episodes(conn: Connection, changes: RowChanges, episodes: Iterable[tuple[int, int]]) -> None:
    """All files of episodes go to others: each episode, and the other one."""
    rows = [{"before": before, "after": after} for before, after in episodes]
    if rows:
        given = {"rows": json.dumps(rows)}
        changes.owned("episode_files", _three(conn.all(_SQL.files_of_episodes, given)))
        changes.owned("placement_episodes", _three(conn.all(_SQL.placed_for_episodes, given)))


def carry_place(conn: Connection, changes: RowChanges, series_id: int, *, into: int) -> None:
    """The folder of a series goes to one that has none."""
    found = conn.all(_SQL.place, {"id": series_id, "into": into})
    changes.owned("series_places", ((library_id, series_id, into) for (library_id,) in found))


def _three(rows: Iterable[tuple[int, ...]]) -> list[tuple[int, int, int]]:
    return [(key, before, after) for key, before, after in rows]

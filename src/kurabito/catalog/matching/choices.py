"""What keepers chose for folders of a name: evidence for the next folder of that name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries

_SQL: Final = Queries("kurabito.catalog.matching", "choices.sql")
_NO_SEASON: Final = 0

ChosenKey = tuple[str, int, bool]
"""A name, folded; the season that stands beside it; and whether it is a film."""


def keys_of(reading: FolderReading) -> list[ChosenKey]:
    """What a choice for a folder is known again by: each of its names, with its season."""
    is_film = reading.kind is SeriesKind.MOVIE
    return [(name.folded, reading.season or _NO_SEASON, is_film) for name in reading.names]


def learn(conn: Connection, readings: Iterable[FolderReading], metadata_id: int) -> None:
    """Remember a choice. The last one for a name counts."""
    rows = [
        {"folded": name, "season": season, "is_film": int(film)}
        for one in readings
        for name, season, film in keys_of(one)
    ]
    conn.run(_SQL.learn, {"rows": json.dumps(_distinct(rows), ensure_ascii=False), "metadata_id": metadata_id})


def forget(conn: Connection, reading: FolderReading) -> None:
    """Forget what was chosen for folders like this one."""
    rows = [{"folded": name, "season": season, "is_film": int(film)} for name, season, film in keys_of(reading)]
    conn.run(_SQL.forget, {"rows": json.dumps(rows, ensure_ascii=False)})


def chosen(conn: Connection, names: Iterable[str]) -> dict[ChosenKey, int]:
    """The records that were chosen for some names."""
    rows = json.dumps([{"folded": name} for name in names], ensure_ascii=False)
    found = conn.all(_SQL.chosen, {"rows": rows})
    return {(folded, season, bool(is_film)): metadata_id for folded, season, is_film, metadata_id in found}


def _distinct(rows: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    return list({tuple(row.values()): row for row in rows}.values())

"""The names of series as they are stored, with what titles say beside them and where each was learnt."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import romaji_of
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection, Queries

SQL: Final = Queries("kurabito.catalog.identity", "aliases.sql")
NO_YEAR: Final = 0
NO_COUNTRY: Final = ""


class AliasSource(StrEnum):
    """Where a name was learnt."""

    EARLIER = "earlier"
    """In a version that did not note it."""
    TITLE = "title"
    """The title of a release that was recognised has it."""
    RECORD = "record"
    """The metadata record has it."""
    KEEPER = "keeper"


def alias_row(
    name: Name, kind: SeriesKind, season: int, year: int | None = None, country: str | None = None
) -> dict[str, Any]:
    """A name as it is stored, but whose it is."""
    return {
        "folded": name.folded,
        "kind": kind.value,
        "season": season,
        "year": year or NO_YEAR,
        "country": country or NO_COUNTRY,
        "name": name.shown,
        "romaji": romaji_of(name.shown),
    }


def add(conn: Connection, rows: Iterable[dict[str, Any]], source: AliasSource) -> None:
    """Store names that no series has yet; each row with its `series_id`."""
    if listed := list(rows):
        conn.run(SQL.add_aliases, {"rows": json.dumps(listed, ensure_ascii=False), "source": source})


def add_series(conn: Connection, reading: Reading, state: SeriesState) -> int:
    """Make the series that a reading says, without a name that leads to it yet; its id."""
    values = {
        "title": reading.names[0].shown,
        "season": reading.said_season,
        "kind": reading.kind,
        "year": reading.year,
        "country": reading.country,
        "state": state,
    }
    return int(conn.value(SQL.add_series, values))

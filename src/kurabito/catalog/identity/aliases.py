"""The names of series as they are stored, with what titles say beside them and where each was learnt."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from kurabito.catalog.identity.reading import FIRST_SEASON, Reading
from kurabito.catalog.releases import Name
from kurabito.catalog.spellings import bare_title, likeness_of
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection, Queries
from kurabito.metadata.lookup import read_sequel
from kurabito.metadata.records import Details, RecordKind

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
        "romaji": likeness_of(name),
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


def make_film(conn: Connection, series_id: int) -> None:
    """Make a film of a series that nothing said to be a show, with its names; a name that a film has already is left behind."""
    for query in (SQL.names_of_film, SQL.shadowed_names, SQL.make_film):
        conn.run(query, {"id": series_id})


def names_of_record(details: Details) -> tuple[list[Name], int]:
    """The names that releases may have, the one to show first, and the season that they say beside them.

    A name that ends with the mark of a season is read as the name and that season; where none of them does, titles say none.
    """
    titles = [title for title in (details.title_english, details.title_japanese, details.title_chinese) if title]
    is_film = details.kind is RecordKind.MOVIE
    names = [Name.of(title) if is_film else bare_title(title) for title in titles]
    sequels = [None if is_film else read_sequel(title) for title in titles]
    season = next((sequel.season for sequel in sequels if sequel), FIRST_SEASON)
    return list({name.folded: name for name in reversed(names)}.values())[::-1], season

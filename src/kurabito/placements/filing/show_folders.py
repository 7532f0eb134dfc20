"""Which show has a folder of a library: two shows of one name, as a first version and its remake, never share one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kurabito.catalog.series import Series
from kurabito.db import Connection, Queries
from kurabito.placements.filing.destination import spelling_of
from kurabito.placements.filing.reasons import FilingReason, because
from kurabito.placements.filing.show_facts import NamedShow
from kurabito.placements.naming.safe_names import safe_name, twin_key
from kurabito.reasons import Reason

_SQL: Final = Queries("kurabito.placements.filing", "show_folders.sql")


class ShowSeason(NamedTuple):
    """A season of a show, as far as it tells the show from another one of the same name."""

    series_id: int
    season: int
    tmdb_id: int | None
    year: int | None = None
    folder: str | None = None
    """The folder of the library that it has."""


def is_other(one: ShowSeason, other: ShowSeason) -> bool:
    """Whether two seasons of one name are of two shows: no show has a season twice.

    >>> is_other(ShowSeason(1, 1, None), ShowSeason(2, 2, None)), is_other(ShowSeason(1, 1, 7), ShowSeason(2, 2, 8))
    (False, True)
    """
    if one.tmdb_id is not None and other.tmdb_id is not None:
        return one.tmdb_id != other.tmdb_id
    return one.season == other.season


def season_of(series: Series, named: NamedShow, folder: str | None = None) -> ShowSeason:
    """The same of a series."""
    return ShowSeason(series.id, series.season, named.facts.tmdb_id, named.facts.year, folder)


def folder_for(conn: Connection, library_id: int, folder: str, season: ShowSeason) -> str | Reason[FilingReason]:
    """The folder that a show is given which is to have this one: as the library spells it, with the year where another show has it."""
    own = spelling_of(conn, library_id, folder)
    if not _is_taken(conn, library_id, own, season):
        return own
    if season.year is not None:
        own = spelling_of(conn, library_id, _with_year(folder, season.year))
        if not _is_taken(conn, library_id, own, season):
            return own
    return because(FilingReason.FOLDER_OF_OTHER, folder=folder)


def told_apart(seasons: Iterable[tuple[str, ShowSeason]]) -> dict[int, str]:
    """The folders of the series that a naming would give the folder of another show, by their ids.

    The show that has the folder keeps it, else the one that came first. The others have their year in it, or stay where they are.

    >>> told_apart([("Koji", ShowSeason(1, 1, 7, 1989)), ("Koji", ShowSeason(2, 1, 8, 2024)), ("Koji", ShowSeason(3, 2, 8))])
    {2: 'Koji (2024)', 3: 'Koji (2024)'}
    """
    by_folder: dict[str, list[tuple[str, ShowSeason]]] = defaultdict(list)
    for folder, season in seasons:
        by_folder[twin_key(folder)].append((folder, season))
    return {
        series_id: own for alike in by_folder.values() if len(alike) > 1 for series_id, own in _apart(alike).items()
    }


def _apart(alike: Sequence[tuple[str, ShowSeason]]) -> dict[int, str]:
    ordered = sorted(alike, key=lambda one: (one[1].folder != one[0], one[1].series_id))
    shows: list[list[ShowSeason]] = []
    for _, season in ordered:
        show = next((found for found in shows if not any(is_other(season, one) for one in found)), None)
        if show is None:
            shows.append([season])
        else:
            show.append(season)
    template, found = ordered[0][0], {}
    for show in shows[1:]:
        year = next((one.year for one in show if one.year is not None), None)
        for season in show:
            own = season.folder if year is None else _with_year(template, year)
            if own is not None:
                found[season.series_id] = own
    return found


def _is_taken(conn: Connection, library_id: int, folder: str, season: ShowSeason) -> bool:
    values = {"library_id": library_id, "folder": folder, "series_id": season.series_id}
    return any(is_other(ShowSeason(*row), season) for row in conn.all(_SQL.shows_in, values)) or any(
        season.tmdb_id is not None and tmdb_id != season.tmdb_id for (tmdb_id,) in conn.all(_SQL.matched_to, values)
    )


def _with_year(folder: str, year: int) -> str:
    return folder if folder.endswith(f"({year})") else safe_name(f"{folder} ({year})")

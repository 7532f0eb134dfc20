"""Some names and links of a series become a series of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.merge import NAME, SQL, find_series
from kurabito.catalog.corrections.model import CorrectionEffect, CorrectionKind
from kurabito.catalog.corrections.moves import find_links, place_links
from kurabito.catalog.errors import CorrectionConflict
from kurabito.catalog.identity import aliases, rulings
from kurabito.catalog.identity.reading import Reading
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind, SeriesState
from kurabito.db import Connection


def split(
    conn: Connection,
    series_id: int,
    *,
    names: Collection[str],
    links: Mapping[int, Reading],
    title: str | None = None,
    is_wanted: bool = True,
) -> CorrectionEffect:
    """Make a series of these names, folded, and of these links, each with what its title says.

    The new series is wanted as the old one is, so nothing starts and nothing is held back by it; unless it is not said to
    be wanted, then it is asked about where the old one is followed. Raises SeriesNotFound, LinkNotFound or
    CorrectionConflict. The caller has locked the catalog.
    """
    series = find_series(conn, series_id)
    known = [NAME.row(row) for row in conn.all(SQL.names, {"id": series_id})]
    moved = [name for name in known if name.folded in names]
    rows = find_links(conn, links)
    _refuse(series, known, moved, rows)
    called = title or (moved[0].name if moved else _name_of(links))
    is_asked = not is_wanted and series.state == SeriesState.FOLLOWED
    new = find_series(conn, _add(conn, series, called, SeriesState.ASKED if is_asked else SeriesState(series.state)))
    correction_id = journal.add(
        conn, CorrectionKind.SPLIT, series_id, other_id=new.id, title=series.title, other=new.title
    )
    changes = RowChanges(conn)
    changes.names((name._asdict(), series_id, new.id) for name in moved)
    place_links(conn, changes, rows, new)
    changes.column("anime_links", "is_fixed", ((one.id, one.is_fixed, 1) for one in rows))
    changes.column("series", "merged_into", [(new.id, series_id, None)])
    readings = [
        Reading((Name.of(one.name),), SeriesKind(one.kind), one.season, one.year or None, one.country or None)
        for one in moved
    ]
    rulings.add(conn, correction_id, readings, new.id)
    if not moved:
        rulings.add(conn, correction_id, links.values(), new.id, of_group=True)
    journal.keep(conn, correction_id, changes)
    return changes.effect(correction_id, new.id, (name.name for name in moved))


def _refuse(series: Any, known: Collection[Any], moved: Collection[Any], links: Collection[Any]) -> None:
    if not moved and not links:
        raise CorrectionConflict(f"nothing of {series.title!r} would be split off; choose names or links of it")
    if moved and len(moved) == len(known):
        raise CorrectionConflict(f"these are all names of {series.title!r}; leave it one, or rename it")
    if strangers := [link.id for link in links if link.series_id != series.id]:
        raise CorrectionConflict(f"link {strangers[0]} is not of {series.title!r}; look at it again")
    if asked := [link for link in links if link.question_id is not None]:
        raise CorrectionConflict(f"link {asked[0].id} waits for question {asked[0].question_id}; answer that")


def _name_of(links: Mapping[int, Reading]) -> str:
    return next(iter(links.values())).names[0].shown


def _add(conn: Connection, series: Any, title: str, state: SeriesState) -> int:
    """The new series, which only the journal's change brings out of the old one: undoing that puts it back."""
    values = {
        "title": title,
        "season": series.season,
        "kind": series.kind,
        "year": None,
        "country": None,
        "state": state,
    }
    new = int(conn.value(aliases.SQL.add_series, values))
    RowChanges(conn).column("series", "episode_offset", [(new, 0, series.episode_offset)])
    return new

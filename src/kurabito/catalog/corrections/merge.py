"""Two series become one: names, links, episodes, files, feeds, folders and filter rules of the one go to the other."""

from __future__ import annotations

from typing import Any, Final

from kurabito.catalog.corrections import journal
from kurabito.catalog.corrections.changes import RowChanges
from kurabito.catalog.corrections.files import carry_files_of_episodes, carry_place
from kurabito.catalog.corrections.model import CorrectionEffect, CorrectionKind, MadeBy
from kurabito.catalog.errors import CorrectionConflict, SeriesNotFound
from kurabito.catalog.states import HELD_BY_SERIES, HeldReason, SeriesState
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList

_SERIES: Final = ColumnList(
    "id, title, season, kind, year, country, episode_offset, state, metadata_id, is_record_said, merged_into"
)
NAME: Final = ColumnList("folded, kind, season, year, country, name, romaji, source")
SQL: Final = Queries("kurabito.catalog.corrections", "merge.sql", series=_SERIES, name=NAME)
_OF_SERIES: Final = (HeldReason.SERIES_ASKED, HeldReason.SERIES_IGNORED)
REFERRING: Final = (
    ("subscriptions", "series_id", SQL.subscriptions),
    ("folder_matches", "series_id", SQL.folder_matches),
    ("identity_rulings", "series_id", SQL.identity_rulings),
    ("identity_questions", "series_id", SQL.identity_questions),
    ("filter_rules", "target_id", SQL.filter_rules),
    ("series", "merged_into", SQL.merged),
)
"""What refers to a series beside its links, names and episodes."""


def find_series(conn: Connection, series_id: int) -> Any:
    """A series by the names of its columns; raises SeriesNotFound, also when it was merged into another."""
    row = conn.one(SQL.series, {"id": series_id})
    if row is None:
        raise SeriesNotFound(f"no series has the id {series_id}")
    found = _SERIES.row(row)
    if found.merged_into is not None:
        raise SeriesNotFound(f"series {series_id} was merged into {found.merged_into}; use that one")
    return found


def held_in(state: SeriesState, held: HeldReason | None) -> HeldReason | None:
    """Why a link is held in a series of this state: for the series' sake, or for its own as before."""
    return HELD_BY_SERIES[state] if held is None or held in _OF_SERIES else held


def merge(conn: Connection, *, into: int, other_id: int, made_by: MadeBy = MadeBy.KEEPER) -> CorrectionEffect:
    """Merge one series into another; raises SeriesNotFound, or CorrectionConflict when the two cannot be one.

    The caller has locked the catalog.
    """
    series, other = find_series(conn, into), find_series(conn, other_id)
    _refuse(conn, series, other)
    correction_id = journal.add(
        conn, CorrectionKind.MERGE, into, other_id=other_id, made_by=made_by, title=series.title, other=other.title
    )
    changes = RowChanges(conn)
    both = {"id": other_id, "into": into}
    names = [NAME.row(row) for row in conn.all(SQL.names, both)]
    changes.names((name._asdict(), other_id, into) for name in names)
    _move_links(conn, changes, series, both)
    _move_episodes(conn, changes, both)
    for table, column, referring in REFERRING:
        changes.column(table, column, ((row_id, other_id, into) for (row_id,) in conn.all(referring, both)))
    carry_place(conn, changes, other_id, into=into)
    _complete(changes, series, other)
    changes.column("series", "merged_into", [(other_id, None, into)])
    journal.keep(conn, correction_id, changes)
    return changes.effect(correction_id, into, (name.name for name in names))


def _refuse(conn: Connection, series: Any, other: Any) -> None:
    if series.id == other.id:
        raise CorrectionConflict(f"series {series.id} cannot be merged into itself; choose another")
    if series.kind != other.kind:
        raise CorrectionConflict(
            f"{other.title!r} is a {other.kind} and {series.title!r} a {series.kind}; move its links"
        )
    twice = conn.value(SQL.twice, {"id": other.id, "into": series.id})
    if twice is not None:
        raise CorrectionConflict(f"both have {twice!r} for the same episode; move that link to its own episode first")


def _move_links(conn: Connection, changes: RowChanges, series: Any, both: dict[str, int]) -> None:
    """Links go to the same episode of the other series, or with their own."""
    links = conn.all(SQL.links, both)
    same = {mine: other for mine, other in conn.all(SQL.episodes, both) if other is not None}
    state = SeriesState(series.state)
    before = {link: None if held is None else HeldReason(held) for link, _, held in links}
    after = {link: held_in(state, held) for link, held in before.items()}
    changes.column("anime_links", "series_id", ((link, both["id"], both["into"]) for link, *_ in links))
    changes.column("anime_links", "episode_id", ((link, mine, same.get(mine, mine)) for link, mine, _ in links))
    changes.column("anime_links", "held_reason", ((link, before[link], after[link]) for link in before))


def _move_episodes(conn: Connection, changes: RowChanges, both: dict[str, int]) -> None:
    """Episodes that the other does not have go over as they are; of the rest, conflicts and files do."""
    for conflict, episode, status, same, is_open in conn.all(SQL.conflicts, both):
        if is_open:
            changes.column("conflicts", "status", [(conflict, status, "resolved")])
        else:
            changes.column("conflicts", "episode_id", [(conflict, episode, same)])
    episodes = conn.all(SQL.episodes, both)
    carry_files_of_episodes(conn, changes, ((mine, other) for mine, other in episodes if other is not None))
    changes.column(
        "episodes", "series_id", ((mine, both["id"], both["into"]) for mine, other in episodes if other is None)
    )


def _complete(changes: RowChanges, series: Any, other: Any) -> None:
    """What the one knows and the other does not. The record goes with it, so that it fills in one series only."""
    for column in ("year", "country"):
        mine, theirs = getattr(series, column), getattr(other, column)
        if mine is None and theirs is not None:
            changes.column("series", column, [(series.id, None, theirs)])
    # A record that a person chose outweighs one that was found.
    if other.metadata_id is not None and (series.metadata_id is None or other.is_record_said > series.is_record_said):
        changes.column("series", "metadata_id", [(series.id, series.metadata_id, other.metadata_id)])
        changes.column("series", "is_record_said", [(series.id, series.is_record_said, other.is_record_said)])
    changes.column("series", "metadata_id", [(other.id, other.metadata_id, None)])

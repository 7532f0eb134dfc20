"""Edits as they are stored, and the columns of series that they write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from kurabito.catalog.errors import SeriesNotFound
from kurabito.catalog.states import SeriesState, SeriesWish
from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.edits.model import SeriesChoices, SeriesEdit, StoredEdit
from kurabito.downloads.errors import SeriesEditNotFound, SeriesEditUndone
from kurabito.downloads.profiles import store as profiles
from kurabito.feeds.preferences import Policy, Preferences
from kurabito.library import libraries

_EDIT: Final = ColumnList("id, edit, before, series_count, created_at, undone_at")
_CHOICES: Final = ColumnList("id, state, wanted, wanted_since, library_id, profile_id")
_OWN: Final = ColumnList("series_id, conflict_policy, upgrade, wait_minutes, preferences")
_SQL: Final = Queries("kurabito.downloads.edits", "store.sql", edit=_EDIT, choices=_CHOICES, own=_OWN)
KEPT: Final = 50
"""How many edits can be undone."""


def choices(conn: Connection, series_ids: Sequence[int]) -> list[SeriesChoices]:
    """What each of these series has; raises SeriesNotFound."""
    rows = (_CHOICES.row(row) for row in conn.all(_SQL.choices, {"ids": list(series_ids)}))
    found = {
        row.id: SeriesChoices(
            id=row.id,
            state=SeriesState(row.state),
            wanted=SeriesWish(row.wanted),
            wanted_since=row.wanted_since,
            library_id=row.library_id,
            profile_id=row.profile_id,
        )
        for row in rows
    }
    for series_id in series_ids:
        if series_id not in found:
            raise SeriesNotFound(f"no series has the id {series_id}, or it was merged into another")
    for values in conn.all(_SQL.own, {"ids": list(series_ids)}):
        own = _OWN.row(values)._asdict()
        series_id = own.pop("series_id")
        found[series_id] = replace(found[series_id], own=own)
    return list(found.values())


def add(conn: Connection, edit: SeriesEdit, before: Iterable[SeriesChoices]) -> StoredEdit:
    """Keep an edit with what the series have, and forget the oldest ones."""
    had = [one.stored() for one in before]
    values = {"edit": json.dumps(edit), "before": json.dumps(had, ensure_ascii=False), "series_count": len(had)}
    made = int(conn.value(_SQL.add, values))
    conn.run(_SQL.prune, {"id": made - KEPT})
    return find(conn, made)


def find(conn: Connection, edit_id: int) -> StoredEdit:
    """The edit; raises SeriesEditNotFound."""
    values = conn.one(_SQL.get, {"id": edit_id})
    if values is None:
        raise SeriesEditNotFound(f"no edit has the id {edit_id}, or it is forgotten; the last {KEPT} are kept")
    row = _EDIT.row(values)
    edit: SeriesEdit = json.loads(row.edit)
    if "wanted" in edit:
        edit["wanted"] = SeriesWish(edit["wanted"])
    return StoredEdit(
        id=row.id,
        edit=edit,
        changed=row.series_count,
        before=tuple(SeriesChoices.read(one) for one in json.loads(row.before)),
        created_at=to_datetime(row.created_at),
        undone_at=None if row.undone_at is None else to_datetime(row.undone_at),
    )


def note_undone(conn: Connection, edit_id: int) -> None:
    """Say that an edit was undone; raises SeriesEditUndone when it was before."""
    if conn.one(_SQL.note_undone, {"id": edit_id}) is None:
        raise SeriesEditUndone(f"edit {edit_id} was undone already")


def restore(conn: Connection, made: StoredEdit, now: Iterable[SeriesChoices]) -> list[SeriesChoices]:
    """Give series back what they had, where they still have what an edit gave them; those series as they were."""
    before = {one.id: one for one in made.before}
    kept = {library.id for library in libraries.everything(conn)}
    named = {profile.id for profile in profiles.named(conn)}
    rows: list[SeriesChoices] = []
    for current in now:
        had, stands = before[current.id], {name for name in made.edit if current.has(made.edit, name)}
        back = {name: getattr(had, name) for name in stands}
        if "wanted" in stands:
            back |= {"state": had.state, "wanted_since": had.wanted_since}
        if "library_id" in stands and had.library_id not in kept:
            back["library_id"] = None
        if "profile_id" in stands:
            back |= {"profile_id": had.profile_id if had.profile_id in named else None, "own": had.own}
        if stands:
            rows.append(replace(current, **back))
    conn.run(_SQL.restore, {"rows": json.dumps([one.stored() for one in rows], ensure_ascii=False)})
    for one in rows:
        if one.own is not None:
            profiles.set_own(conn, one.id, _preferences(one.own))
    return rows


def _preferences(own: dict[str, Any]) -> ReleasePreferences:
    return ReleasePreferences(
        policy=Policy(own["conflict_policy"]),
        upgrade=bool(own["upgrade"]),
        wait_minutes=own["wait_minutes"],
        preferred=Preferences.read(own["preferences"]),
    )

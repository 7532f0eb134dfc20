"""Profiles as they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kurabito.clock import to_datetime
from kurabito.db import Connection, Queries
from kurabito.db.errors import UniqueConflict
from kurabito.db.port import Row
from kurabito.db.rows import ColumnList
from kurabito.downloads.choice import ReleasePreferences
from kurabito.downloads.errors import ProfileConflict, ProfileNotFound
from kurabito.downloads.profiles.model import ReleaseProfile, check
from kurabito.errors import InvalidInput
from kurabito.feeds.preferences import Policy, Preferences
from kurabito.reasons import InputReason, refused

_PROFILE: Final = ColumnList(
    "id, name, series_id, is_default, conflict_policy, upgrade, wait_minutes, preferences, created_at, updated_at"
)
_SQL: Final = Queries("kurabito.downloads.profiles", "store.sql", profile=_PROFILE)
_LONGEST_NAME: Final = 100


def add(conn: Connection, name: str, preferences: ReleasePreferences) -> ReleaseProfile:
    """Store a profile under a name; raises InvalidInput or ProfileConflict."""
    _check_name(conn, name)
    return find(conn, _add(conn, name, None, preferences))


def change(conn: Connection, profile_id: int, name: str, preferences: ReleasePreferences) -> ReleaseProfile:
    """Change a profile that has a name; raises ProfileNotFound, InvalidInput or ProfileConflict."""
    _named(conn, profile_id)
    _check_name(conn, name, profile_id)
    conn.run(_SQL.change, {"id": profile_id, "name": name, **_stored(preferences)})
    return find(conn, profile_id)


def make_default(conn: Connection, profile_id: int | None) -> None:
    """Have a profile hold for every show that has no other; None is no profile."""
    if profile_id is not None:
        _named(conn, profile_id)
    conn.run(_SQL.undo_default)
    if profile_id is not None:
        conn.run(_SQL.make_default, {"id": profile_id})


def named(conn: Connection) -> list[ReleaseProfile]:
    """Every profile that has a name."""
    return [_profile(row) for row in conn.all(_SQL.named)]


def of_series(conn: Connection, series_id: int) -> ReleaseProfile | None:
    """The profile that a show uses; None where it has none of its own choice."""
    row = conn.one(_SQL.of_series, {"series_id": series_id})
    return None if row is None else _profile(row)


def find(conn: Connection, profile_id: int) -> ReleaseProfile:
    """The profile; raises ProfileNotFound."""
    row = conn.one(_SQL.get, {"id": profile_id})
    if row is None:
        raise ProfileNotFound(f"no profile has the id {profile_id}")
    return _profile(row)


def default(conn: Connection) -> ReleaseProfile | None:
    """The profile of all other shows."""
    row = conn.one(_SQL.default)
    return None if row is None else _profile(row)


def use(conn: Connection, series_ids: Sequence[int], profile_id: int | None) -> None:
    """Have shows use a profile that has a name, or none; their own ones are forgotten. Raises ProfileNotFound."""
    if profile_id is not None:
        _named(conn, profile_id)
    conn.run(_SQL.use, {"ids": list(series_ids), "profile_id": profile_id})
    conn.run(_SQL.remove_own, {"ids": list(series_ids)})


def set_own(conn: Connection, series_id: int, preferences: ReleasePreferences) -> ReleaseProfile:
    """Give a show preferences of its own; raises InvalidInput."""
    own = conn.value(_SQL.own, {"series_id": series_id})
    if own is None:
        own = _add(conn, None, series_id, preferences)
    else:
        conn.run(_SQL.change, {"id": own, "name": None, **_stored(preferences)})
    conn.run(_SQL.use, {"ids": [series_id], "profile_id": own})
    return find(conn, own)


def remove(conn: Connection, profile_id: int) -> None:
    """Forget a profile; its shows have none then. Raises ProfileNotFound."""
    _named(conn, profile_id)
    conn.run(_SQL.remove, {"id": profile_id})


def _add(conn: Connection, name: str | None, series_id: int | None, preferences: ReleasePreferences) -> int:
    try:
        made: int = conn.value(_SQL.add, {"name": name, "series_id": series_id, **_stored(preferences)})
    except UniqueConflict:
        raise _taken() from None
    return made


def _named(conn: Connection, profile_id: int) -> ReleaseProfile:
    found = find(conn, profile_id)
    if found.name is None:
        raise ProfileNotFound(f"profile {profile_id} belongs to one show; change it there")
    return found


def _check_name(conn: Connection, name: str, own: int | None = None) -> None:
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        problem = f"must be a text of 1 to {_LONGEST_NAME} characters that can be seen"
        raise InvalidInput("name", problem, refused(InputReason.TEXT, most=_LONGEST_NAME))
    if conn.value(_SQL.by_name, {"name": name}) not in (None, own):
        raise _taken()


def _taken() -> ProfileConflict:
    problem = "another profile has this name already; choose another"
    return ProfileConflict(problem, field="name", reason=refused(InputReason.NAME_TAKEN))


def _stored(preferences: ReleasePreferences) -> dict[str, Any]:
    check(preferences)
    return {
        "conflict_policy": preferences.policy.value,
        "upgrade": int(preferences.upgrade),
        "wait_minutes": preferences.wait_minutes,
        "preferences": preferences.preferred.stored(),
    }


def _profile(row: Row) -> ReleaseProfile:
    of = _PROFILE.row(row)
    return ReleaseProfile(
        id=of.id,
        name=of.name,
        series_id=of.series_id,
        is_default=bool(of.is_default),
        preferences=ReleasePreferences(
            policy=Policy(of.conflict_policy),
            upgrade=bool(of.upgrade),
            wait_minutes=of.wait_minutes,
            preferred=Preferences.read(of.preferences),
        ),
        created_at=to_datetime(of.created_at),
        updated_at=to_datetime(of.updated_at),
    )

"""An edit of several series, and what a series had before. Pure values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self, TypedDict

from kurabito.catalog.states import SeriesState, SeriesWish


class SeriesEdit(TypedDict, total=False):
    """What several series are given; what is not named stays as it is."""

    wanted: SeriesWish
    library_id: int | None
    """None: the library that takes such series."""
    profile_id: int | None
    """None: the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesChoices:
    """What one series has of what an edit can set."""

    id: int
    state: SeriesState
    wanted: SeriesWish
    wanted_since: int | None
    library_id: int | None
    profile_id: int | None
    own: dict[str, Any] | None = None
    """Its own preferences as they are stored, where it has some."""

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Self:
        """As it was kept with an edit."""
        chosen = {"state": SeriesState(stored["state"]), "wanted": SeriesWish(stored["wanted"])}
        return cls(**{**stored, **chosen})

    def stored(self) -> dict[str, Any]:
        """As it is kept with an edit."""
        return asdict(self)

    @property
    def wish(self) -> SeriesWish:
        """Which episodes are downloaded; the stored wish counts only while the series is followed."""
        return self.wanted if self.state is SeriesState.FOLLOWED else SeriesWish.NONE

    def has(self, edit: SeriesEdit, name: str) -> bool:
        """Whether it has what an edit gives under this name."""
        return bool((self.wish if name == "wanted" else getattr(self, name)) == edit.get(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEdit:
    """An edit that was made."""

    id: int
    edit: SeriesEdit
    changed: int
    """How many series it was made of."""
    before: tuple[SeriesChoices, ...]
    created_at: datetime
    undone_at: datetime | None

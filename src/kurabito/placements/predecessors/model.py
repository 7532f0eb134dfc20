"""What another program knows of shows, feeds and files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirShow:
    """One season of one show, as the other program has it."""

    titles: tuple[str, ...]
    """The one to show first."""
    season: int = 1
    is_film: bool = False
    year: int | None = None
    tmdb_id: int | None = None
    folder: str | None = None
    """Where its files lie, as the other program sees it."""
    files: int = 0
    episode_offset: int = 0
    """What its releases count on from."""
    is_wanted: bool = True
    """Whether the other program fetches it."""


@dataclass(frozen=True, slots=True)
class TheirFeed:
    """A feed that the other program reads."""

    name: str
    url: str
    is_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirCollection:
    """Everything that was read."""

    program: str
    version: str | None = None
    shows: tuple[TheirShow, ...] = ()
    feeds: tuple[TheirFeed, ...] = ()
    folders: tuple[str, ...] = ()
    """The folders that it keeps shows in."""
    unreadable: tuple[str, ...] = ()
    """Rows that make no sense, each with what is wrong."""

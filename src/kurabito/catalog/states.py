"""The words for series, episodes and links."""

from __future__ import annotations

from enum import StrEnum

from kurabito.titles import ReleaseKind


class SeriesKind(StrEnum):
    """What a series is."""

    TV = "tv"
    """One season of a show, with its specials."""
    MOVIE = "movie"

    @classmethod
    def of(cls, kind: ReleaseKind) -> SeriesKind:
        return cls.MOVIE if kind is ReleaseKind.MOVIE else cls.TV


class SeriesState(StrEnum):
    """What the keeper wants of a series."""

    FOLLOWED = "followed"
    ASKED = "asked"
    """It turned up in a feed, and waits for its keeper to say whether it is wanted."""
    IGNORED = "ignored"


class EpisodeState(StrEnum):
    """How far an episode is."""

    HAVE = "have"
    DOWNLOADING = "downloading"
    WANTED = "wanted"
    UNAIRED = "unaired"


class FilterReason(StrEnum):
    """Why a link is filtered; the value is the message's key below `filter_reason`, and is stored."""

    OTHER = "other"
    """In the words of an earlier version: `text`."""
    EXCLUDED = "excluded"
    """`rule` excludes it."""
    NOT_INCLUDED = "not_included"
    """`rule` includes others, and not this one."""


class HeldReason(StrEnum):
    """Why a link is not downloaded automatically."""

    NO_EPISODE = "no_episode"
    """Its title names no episode, and it is neither a film nor a batch."""
    SERIES_ASKED = "series_asked"
    SERIES_IGNORED = "series_ignored"

"""The words for series, episodes and links."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

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


class SeriesWish(StrEnum):
    """Which episodes of a series are downloaded."""

    NONE = "none"
    """It is not followed."""
    FUTURE = "future"
    """What is shown from now on."""
    MISSING = "missing"
    """What has no file, and what comes."""
    ALL = "all"
    """The same, and better releases of what is in the library."""


class SeriesShelf(StrEnum):
    """Which series a list has, by what is followed and what a library has files of."""

    COLLECTION = "collection"
    """What is followed, and what a library has a file of."""
    LIBRARY_ONLY = "library_only"
    """What a library has a file of, and is not followed."""
    NOT_FOLLOWED = "not_followed"
    """What the user does not follow, and no library has a file of."""


class SeriesOrder(StrEnum):
    """In which order series are listed."""

    NEWEST = "newest"
    OLDEST = "oldest"
    TITLE = "title"


SERIES_ORDERS: Final = {
    SeriesOrder.NEWEST: ("id < :beyond", "id DESC"),
    SeriesOrder.OLDEST: ("id > :beyond", "id"),
    SeriesOrder.TITLE: (
        "(lower(title), id) > ((SELECT lower(last.title) FROM series AS last WHERE last.id = :beyond), :beyond)",
        "lower(title), id",
    ),
}
"""SQL: which rows of `series` are beyond the last one of a page, and their order."""

SERIES_FILTERS: Final = {
    "state": "AND state = :state",
    "kind": "AND kind = :kind",
    "name": "AND EXISTS (SELECT 1 FROM series_aliases AS alias WHERE alias.series_id = series.id AND alias.folded LIKE :name)",
    "year": "AND coalesce(year, (SELECT known.year FROM metadata AS known WHERE known.id = series.metadata_id)) = :year",
    "quarter": "AND (SELECT CAST(substr(known.air_date, 6, 2) AS integer) FROM metadata AS known WHERE known.id = series.metadata_id) "
    "BETWEEN 3 * CAST(:quarter AS integer) - 2 AND 3 * CAST(:quarter AS integer)",
    "lacks": "AND CAST(:lacks AS integer) = CASE WHEN EXISTS (SELECT 1 FROM episodes AS lacking WHERE lacking.series_id = series.id "
    "AND lacking.kind IN ('tv', 'movie') AND lacking.state = 'wanted' AND lacking.is_unwanted = 0 "
    "AND coalesce(lacking.aired_at, 0) <= :now) THEN 1 ELSE 0 END",
    "library_id": "AND (library_id = :library_id OR EXISTS (SELECT 1 FROM episodes AS had CROSS JOIN episode_files AS its "
    "CROSS JOIN library_files AS file WHERE had.series_id = series.id AND its.episode_id = had.id AND file.id = its.file_id "
    "AND file.is_missing = 0 AND file.library_id = :library_id))",
}
"""SQL: which rows of `series` a list has, by what is asked."""

# Not as EXISTS: PostgreSQL would look for all files of all series first, however few series a page has.
_HAS_FILE: Final = (
    "(SELECT 1 FROM episodes AS had CROSS JOIN episode_files AS its CROSS JOIN library_files AS file "
    "WHERE had.series_id = series.id AND its.episode_id = had.id AND file.id = its.file_id AND file.is_missing = 0 "
    "LIMIT 1) IS NOT NULL"
)
SERIES_SHELVES: Final = {
    SeriesShelf.COLLECTION: f"AND (state = 'followed' OR {_HAS_FILE})",
    SeriesShelf.LIBRARY_ONLY: f"AND state <> 'followed' AND {_HAS_FILE}",
    # Not as "state = 'ignored'": SQLite would read all of them by the index on titles, in no order of theirs.
    SeriesShelf.NOT_FOLLOWED: f"AND NOT (state <> 'ignored' OR {_HAS_FILE})",
}
"""SQL: the rows of `series` on a shelf."""

SHELF_STATES: Final = {
    SeriesShelf.COLLECTION: tuple(SeriesState),
    SeriesShelf.LIBRARY_ONLY: tuple(state for state in SeriesState if state is not SeriesState.FOLLOWED),
    SeriesShelf.NOT_FOLLOWED: (SeriesState.IGNORED,),
}
"""What the series on a shelf can be."""


class EpisodeState(StrEnum):
    """How far an episode is, as it is shown. Stored are only have, downloading and wanted: no release of what is stored as have
    is fetched, whatever became of it."""

    HAVE = "have"
    """A library has a file of it."""
    DOWNLOADED = "downloaded"
    """Its download is complete, and its file is not in a library yet."""
    MISSING = "missing"
    """A library had a file of it, which is not there any more."""
    DOWNLOADING = "downloading"
    WANTED = "wanted"
    UNAIRED = "unaired"
    UNWANTED = "unwanted"
    """Nothing is there of it, and its keeper does not want it."""


SHOWN_STATE: Final = """CASE
    WHEN episodes.state = 'wanted' AND episodes.is_unwanted = 1 THEN 'unwanted'
    WHEN episodes.state = 'wanted' AND episodes.aired_at > :now THEN 'unaired'
    WHEN episodes.state <> 'have' THEN episodes.state
    WHEN (SELECT 1 FROM episode_files AS had JOIN library_files AS file ON file.id = had.file_id
          WHERE had.episode_id = episodes.id AND file.is_missing = 0 LIMIT 1) IS NOT NULL THEN 'have'
    WHEN (SELECT 1 FROM episode_files AS had WHERE had.episode_id = episodes.id LIMIT 1) IS NOT NULL
        THEN CASE WHEN episodes.is_unwanted = 1 THEN 'unwanted' ELSE 'missing' END
    WHEN (SELECT 1 FROM anime_links AS link CROSS JOIN downloads AS download
          WHERE link.episode_id = episodes.id AND download.link_id = link.id AND download.status = 'completed'
              AND download.given_back_at IS NULL LIMIT 1) IS NOT NULL THEN 'downloaded'
    ELSE 'have' END"""
"""SQL: the state of a row of `episodes` as it is shown. Not with EXISTS: PostgreSQL would look for the files of all episodes first."""


UNWANTED: Final = """(
    episodes.is_unwanted = 1
    OR (series.wanted <> 'all' AND episodes.state = 'have')
    OR (series.wanted = 'future' AND episodes.state <> 'have' AND (
        episodes.aired_at < series.wanted_since
        OR (episodes.aired_at IS NULL AND (episodes.created_at <= series.wanted_since OR EXISTS (
            SELECT 1 FROM episodes AS later
            WHERE later.series_id = episodes.series_id AND later.kind = episodes.kind AND later.state = 'have'
                AND later.number > episodes.number))))))"""
"""SQL: whether its keeper, or its series, which is followed, does not want a row of `episodes`. Without a date, what comes before the last one
that is in the library was shown already."""


class FilterReason(StrEnum):
    """Why a link is filtered; the value is the message's key below `filter_reason`, and is stored."""

    OTHER = "other"
    """In the words of an earlier version: `text`."""
    EXCLUDED = "excluded"
    """`rule` excludes it."""
    NOT_INCLUDED = "not_included"
    """`rule` includes others, and not this one."""


class DoubtReason(StrEnum):
    """Why what was read from a title is doubtful; the value is the message's key below `doubt_reason`, and is stored."""

    OTHER = "other"
    """In the words of another version: `text`."""
    SEASON_IMPLAUSIBLE = "season_implausible"
    """`season` is beyond any that was counted, or a year."""
    RANGE_TOO_LONG = "range_too_long"
    """More than `most` episodes."""
    EPISODE_IS_YEAR = "episode_is_year"
    """`episode` could be a year."""
    SPLIT_NUMBER = "split_number"
    """One number was read as `season` and `episode`."""
    BEYOND_COUNT = "beyond_count"
    """`episode` is far beyond the `known` ones that the record says."""
    WHOLE_SEASON = "whole_season"
    """A batch that does not name its episodes, while single ones are in the library or under way."""


class HeldReason(StrEnum):
    """Why a link is not downloaded automatically."""

    NO_EPISODE = "no_episode"
    """Its title names no episode, and it is neither a film nor a batch."""
    SERIES_ASKED = "series_asked"
    SERIES_IGNORED = "series_ignored"
    IN_DOUBT = "in_doubt"
    """It may be of several series; a question asks which."""
    DOUBTFUL_READING = "doubtful_reading"
    """What was read from its title is not plausible."""
    READ_AGAIN = "read_again"
    """It was read again and belongs elsewhere; downloading it waits for a person to confirm it."""


HELD_BY_SERIES: Final = {
    SeriesState.FOLLOWED: None,
    SeriesState.ASKED: HeldReason.SERIES_ASKED,
    SeriesState.IGNORED: HeldReason.SERIES_IGNORED,
}
"""Why the links of a series are held back, by what its keeper wants of it."""

"""What is known of a series when the files of a download are read and named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

from kurabito.catalog import series as catalog_series
from kurabito.catalog.series import Series
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.db.rows import ColumnList
from kurabito.metadata import records
from kurabito.metadata.franchises import episodes_known
from kurabito.metadata.records import Details
from kurabito.placements.filing.destination import Destination, find_destination
from kurabito.placements.filing.naming_facts import read_named_by
from kurabito.placements.library_naming import naming_of
from kurabito.placements.naming.numbering import (
    EntryNumbers,
    NumberingScheme,
    NumberSpan,
    ShowEntry,
    TmdbShow,
    tmdb_spans,
)
from kurabito.placements.naming.presets import NamingSettings
from kurabito.placements.naming.tokens import NameFacts
from kurabito.placements.plans import PlanContext, ShowContext
from kurabito.placements.plans.model import HadFile, ReleaseFacts
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reading import read_video
from kurabito.protocol.enums import LibraryUpgrades
from kurabito.titles import Episode

_RECORD: Final = ColumnList(
    "id, title_japanese, title_chinese, title_english, year, air_date, episode_count, bgm_id, tmdb_id, tmdb_kind, tmdb_season, "
    "anidb_id, anilist_id, mal_id"
)
_SQL: Final = Queries("kurabito.placements.filing", "show_facts.sql", record=_RECORD)
_CHINESE: Final = ("zh-Hans", "zh-Hant")


@dataclass(frozen=True, slots=True)
class DownloadFacts:
    """What a download was fetched for."""

    series: Series
    title: str
    """What the feed called it."""
    episodes: tuple[Episode, ...]


def read_download(conn: Connection, download_id: int) -> DownloadFacts | None:
    """What a download, and all with the same content, was fetched for; None when that is gone."""
    rows = conn.all(_SQL.links, {"id": download_id})
    if not rows:
        return None
    series_id, title, _ = rows[0]
    numbers = sorted(
        {_number(number) for of_series, _, number in rows if number is not None and of_series == series_id}
    )
    return DownloadFacts(catalog_series.find(conn, series_id), title, tuple(numbers))


@dataclass(frozen=True, slots=True)
class NamedShow:
    """What the files of a series are named and numbered by."""

    names: tuple[str, ...]
    facts: NameFacts
    numbers: EntryNumbers
    episode_count: int | None
    has_tmdb: bool
    """Its record says where it is at TMDB."""
    titles: Mapping[Episode, str] = field(default_factory=dict)
    """The titles of its episodes, where they were asked for."""


def read_show(conn: Connection, series: Series, *, with_titles: bool = False) -> NamedShow:
    """What the files of a series are named by, as it is known now."""
    row = None if series.metadata_id is None else conn.one(_SQL.record, {"id": series.metadata_id})
    record = None if row is None else _RECORD.row(row)
    spans = () if record is None else _spans(conn, record, series)
    return NamedShow(
        names=_names(series, record),
        facts=_facts(series, record),
        numbers=EntryNumbers(season=series.season, tmdb=spans, before=_before(series)),
        episode_count=None if record is None else record.episode_count,
        has_tmdb=record is not None and record.tmdb_id is not None,
        titles=_titles(conn, series) if with_titles and record is not None else {},
    )


def read_context(conn: Connection, download: DownloadFacts, destination: Destination) -> PlanContext:
    """What is known before the names of the files are read."""
    naming = naming_of(conn, destination.library.id)
    series = download.series
    with_titles = naming.uses("episode_title")
    named = read_show(conn, series, with_titles=with_titles)
    others = (other for other in _other_seasons(conn, series) if _lies_there(conn, other, destination))
    return PlanContext(
        shows=(_season_context(conn, series, named, destination),),
        seasons=tuple(
            _season_context(conn, other, read_show(conn, other, with_titles=with_titles), destination)
            for other in others
        ),
        release_title=download.title,
        link_episodes=download.episodes,
        naming=_naming(naming, has_tmdb=named.has_tmdb),
    )


def _season_context(conn: Connection, series: Series, named: NamedShow, destination: Destination) -> ShowContext:
    episodes = conn.all(_SQL.episodes, {"series_id": series.id})
    return ShowContext(
        series_id=series.id,
        names=named.names,
        season=series.season,
        is_film=series.kind is SeriesKind.MOVIE,
        episode_offset=series.episode_offset,
        episodes=_known(named.episode_count, [_number(number) for kind, number in episodes if kind == "tv"]),
        had=_had(conn, series.id, destination),
        numbers=named.numbers,
        facts=named.facts,
        titles=named.titles,
        folder=destination.folder,
        season_folders=destination.season_folders,
    )


def _other_seasons(conn: Connection, series: Series) -> list[Series]:
    """The other seasons of the same show that are known, as far as each of them is one series."""
    values = {"id": series.id, "metadata_id": series.metadata_id, "season": series.season}
    found = [catalog_series.find(conn, other) for (other,) in conn.all(_SQL.other_seasons, values)]
    counts = Counter(other.season for other in found)
    return [other for other in found if counts[other.season] == 1]


def _lies_there(conn: Connection, series: Series, destination: Destination) -> bool:
    """Whether the files of a season go into the same folder of the same library."""
    found = find_destination(conn, series.id, series.metadata_id, series.kind.value, destination.library.id)
    return (
        isinstance(found, Destination)
        and found.library.id == destination.library.id
        and found.folder in (None, destination.folder)
    )


def _had(conn: Connection, series_id: int, destination: Destination) -> dict[Episode, HadFile]:
    """What libraries have of the episodes. Only what Kurabito put into the library of new files gives way to a better one."""
    library = destination.library
    found: dict[Episode, HadFile] = {}
    for number, library_id, path, is_placed, stored, source in conn.all(_SQL.had, {"series_id": series_id}):
        is_ours = bool(is_placed) and library_id == library.id
        found[_number(number)] = HadFile(
            release=_release(stored, source) if is_ours else ReleaseFacts(),
            replaceable=is_ours and library.upgrades is not LibraryUpgrades.NONE,
            only_newer_version=library.upgrades is LibraryUpgrades.SAME_GROUP,
            path=path if library_id == library.id else None,
        )
    return found


def _release(stored: str | None, source: str | None) -> ReleaseFacts:
    """What is known of the release that a file came from: what it was named by, else what its own name says."""
    if stored is not None:
        return read_named_by(stored).release
    return read_video(SplitPath.of(source or "")).release


def _naming(naming: NamingSettings, *, has_tmdb: bool) -> NamingSettings:
    """Numbers of TMDB for what TMDB has; what it does not have, or is not known to have, has only its own."""
    if naming.numbering is NumberingScheme.TMDB and not has_tmdb:
        return replace(naming, numbering=NumberingScheme.ENTRY)
    return naming


def _names(series: Series, record: Any) -> tuple[str, ...]:
    titles = () if record is None else (record.title_english, record.title_japanese, record.title_chinese)
    return tuple(dict.fromkeys(name for name in (series.title, *titles, *(one.name for one in series.aliases)) if name))


def _known(episode_count: int | None, numbers: list[Episode]) -> frozenset[Episode]:
    """The numbers that a series has; none while it is not known how many there will be."""
    if not episode_count:
        return frozenset()
    return frozenset({*range(1, episode_count + 1), *numbers})


def _before(series: Series) -> int | None:
    return series.episode_offset if series.episode_offset or series.season == 1 else None


def _facts(series: Series, record: Any) -> NameFacts:
    # The year of a later season is not that of its show.
    year = None if series.season > 1 and series.kind is SeriesKind.TV else series.year or (record and record.year)
    if record is None:
        return NameFacts(title=series.title, year=year)
    return NameFacts(
        title=series.title,
        title_en=record.title_english,
        title_ja=record.title_japanese,
        title_zh=record.title_chinese,
        year=year,
        tmdb_id=record.tmdb_id,
        bgm_id=record.bgm_id,
        anidb_id=record.anidb_id,
        anilist_id=record.anilist_id,
        mal_id=record.mal_id,
    )


def _spans(conn: Connection, record: Any, series: Series) -> tuple[NumberSpan, ...]:
    """Where its episodes lie at TMDB, as far as the records of the same show tell. The first season is the first there, too."""
    if record.tmdb_id is None or record.tmdb_kind != "tv":
        return ()
    own = record.tmdb_season or (1 if series.season == 1 else None)
    entries = tuple(
        ShowEntry(
            key=key, tmdb_season=own if key == record.id else season, begins=_date(begins), episode_count=count or None
        )
        for key, season, begins, count in conn.all(_SQL.entries, {"tmdb_id": record.tmdb_id})
    )
    return tmdb_spans(TmdbShow(entries=entries)).get(record.id, ())


def title_languages(title: str, details: Details) -> tuple[str, ...]:
    """The languages of what else is told of a series: the one that it is called in comes first."""
    if title == details.title_chinese:
        return *_CHINESE, "ja", "en"
    return ("ja", "en") if title == details.title_japanese else ("en", "ja")


def _titles(conn: Connection, series: Series) -> dict[Episode, str]:
    details = records.find(conn, series.metadata_id or 0).details
    languages = title_languages(series.title, details)
    found = {one.number: one.title(*languages) for one in episodes_known(conn, details)}
    return {number: title for number, title in found.items() if number is not None and title}


def _date(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        return None


def _number(number: float) -> Episode:
    return int(number) if float(number).is_integer() else float(number)

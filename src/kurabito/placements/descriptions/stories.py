"""What is known of the series that share a folder of a library, and which of their videos Kurabito put there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kurabito.catalog import series as catalog_series
from kurabito.catalog.series import Series
from kurabito.catalog.states import SeriesKind
from kurabito.db import Connection, Queries
from kurabito.metadata import records
from kurabito.metadata.franchises import episodes_known
from kurabito.metadata.pending import POSTER_URL_PREFIX, is_local
from kurabito.metadata.records import Details, TmdbKind
from kurabito.metadata.stories.store import story_of
from kurabito.placements.descriptions.files import DescribedSeries, DescribedVideo
from kurabito.placements.filing.naming_facts import NamedBy, read_named_by
from kurabito.placements.filing.show_facts import title_languages
from kurabito.placements.library_naming import naming_of
from kurabito.placements.naming.nfo import WorkFacts
from kurabito.placements.naming.renames import FiledFile
from kurabito.placements.plans.model import FileClass, WorkKind
from kurabito.placements.renames.named_files import NamedFile, filed_files

_SQL: Final = Queries("kurabito.placements.descriptions", "stories.sql")


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    """The series that share a folder of a library."""

    folder: str | None
    """None: the one series has no folder of its own."""
    series: tuple[DescribedSeries, ...]
    """Those that have a record and a video here, the first season first."""
    members: tuple[int, ...]
    """All of them."""


def read_group(conn: Connection, library_id: int, series_id: int) -> DescribedGroup:
    """A series with those that share its folder."""
    rows = conn.all(_SQL.members, {"library_id": library_id, "series_id": series_id})
    members = tuple(found for found, _ in rows)
    known = [catalog_series.find(conn, found) for found in members or (series_id,)]
    ordered = sorted(
        (series for series in known if series.metadata_id is not None), key=lambda one: (one.season, one.id)
    )
    described = [_described(conn, library_id, series, series.metadata_id or 0) for series in ordered]
    return DescribedGroup(
        folder=next((folder for _, folder in rows), None),
        series=tuple(series for series in described if series.videos),
        members=members or (series_id,),
    )


def _described(conn: Connection, library_id: int, series: Series, metadata_id: int) -> DescribedSeries:
    details = records.find(conn, metadata_id).details
    is_film = series.kind is SeriesKind.MOVIE
    languages = title_languages(series.title, details)
    poster = details.poster_url or ""
    episodes = () if is_film else episodes_known(conn, details)
    return DescribedSeries(
        id=series.id,
        facts=_facts(conn, series, metadata_id, details, languages),
        is_film=is_film,
        videos=tuple(_videos(conn, library_id, series.id)),
        known={float(one.number): one for one in episodes if one.number is not None},
        languages=languages,
        poster=poster.removeprefix(POSTER_URL_PREFIX) if is_local(poster) else None,
    )


def _facts(
    conn: Connection, series: Series, metadata_id: int, details: Details, languages: tuple[str, ...]
) -> WorkFacts:
    told = story_of(conn, metadata_id).summaries
    summary = next((told[one] for one in languages if one in told), details.summary)
    is_its_kind = details.tmdb_kind is (TmdbKind.MOVIE if series.kind is SeriesKind.MOVIE else TmdbKind.TV)
    ids = {
        "tmdb": details.tmdb_id if is_its_kind else None,
        "bangumi": details.bgm_id,
        "anidb": details.anidb_id,
        "anilist": details.anilist_id,
        "myanimelist": details.mal_id,
    }
    return WorkFacts(
        title=series.title,
        original_title=details.title_japanese,
        summary=summary or next(iter(told.values()), None),
        year=details.year or series.year,
        aired=details.air_date,
        ids={service: number for service, number in ids.items() if number is not None},
    )


def _videos(conn: Connection, library_id: int, series_id: int) -> list[DescribedVideo]:
    rows = conn.all(_SQL.videos, {"library_id": library_id, "series_id": series_id})
    files = {path: NamedFile(path, size, mtime_ns, stored) for path, size, mtime_ns, stored in rows}
    named = filed_files(conn, library_id, naming_of(conn, library_id), files)
    found = [(file, read_named_by(files[file.path].named_by)) for file in named]
    return [_video(file, by) for file, by in found if by.file_class is FileClass.VIDEO]


def _video(file: FiledFile, by: NamedBy) -> DescribedVideo:
    work = by.work
    if work.kind is WorkKind.FILM:
        return DescribedVideo(path=file.path, label=None if work.part is None else f"part{work.part}")
    return DescribedVideo(
        path=file.path,
        season=file.facts.season,
        numbers=file.facts.episode,
        episodes=tuple(float(number) for number in work.episodes),
        label=work.label if work.kind is WorkKind.SPECIAL else None,
    )

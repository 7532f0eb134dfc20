"""Which files describe the series of a folder, and what is in each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from kurabito.metadata.episodes import KnownEpisode
from kurabito.placements.naming.nfo import WorkFacts, episode_nfo, film_nfo, season_nfo, show_nfo


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedVideo:
    """An episode or a film in a library, with its numbers as the library counts."""

    path: str
    season: int | None = None
    numbers: tuple[int, ...] = ()
    episodes: tuple[float, ...] = ()
    """The same as its series counts them."""
    label: str | None = None
    """What a special is called."""

    @property
    def folder(self) -> str:
        """The folder that it lies in; empty for the library's own."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSeries:
    """What is known of a series, and which videos of it are in the library."""

    id: int
    facts: WorkFacts
    is_film: bool
    videos: tuple[DescribedVideo, ...]
    known: dict[float, KnownEpisode] = field(default_factory=dict)
    """Its episodes by their numbers."""
    languages: tuple[str, ...] = ()
    """In which the titles of episodes are preferred."""
    poster: str | None = None
    """The name under which its poster is kept."""


@dataclass(frozen=True, slots=True)
class DescriptionFile:
    """A file that describes something."""

    subject: str
    """What it describes: the same for the same thing, wherever it lies."""
    path: str
    content: bytes

    @property
    def digest(self) -> str:
        """Another one for another content."""
        return hashlib.sha256(self.content).hexdigest()


def nfo_files(group: Sequence[DescribedSeries], folder: str | None) -> list[DescriptionFile]:
    """The NFO files of series that share a folder; the first series is the one that the show is described by."""
    found = [file for series in group for file in _beside_videos(series, group[0].facts.title)]
    shows = [series for series in group if not series.is_film]
    if folder and shows:
        found += _of_show(shows, folder)
    return [DescriptionFile(subject, path, text.encode()) for subject, path, text in found]


def poster_file(group: Sequence[DescribedSeries], folder: str | None, picture: bytes) -> DescriptionFile | None:
    """The poster of the first series that has one, where servers look for it; None when no place is its own."""
    series = next(series for series in group if series.poster is not None)
    extension = str(series.poster).rpartition(".")[2]
    if folder:
        path = f"{folder}/poster.{extension}"
    elif series.is_film and series.videos:
        path = f"{PurePosixPath(series.videos[0].path).with_suffix('')}-poster.{extension}"
    else:
        return None
    return DescriptionFile(f"{_key(group)}/poster", path, picture)


def _of_show(shows: Sequence[DescribedSeries], folder: str) -> Iterator[tuple[str, str, str]]:
    seasons: dict[int, tuple[DescribedSeries, DescribedVideo]] = {}
    for series in shows:
        for video in series.videos:
            if video.season is not None:
                seasons.setdefault(video.season, (series, video))
    # A show of one season has its name already.
    names = {number: series.facts.title or "" for number, (series, _) in seasons.items() if number > 0}
    yield (
        f"{_key(shows)}/show",
        f"{folder}/tvshow.nfo",
        show_nfo(shows[0].facts, names if len(names) > 1 else None),
    )
    for number, (series, video) in seasons.items():
        if video.folder != folder and number > 0:
            # TMDB numbers shows, and its number of a season is not known.
            facts = replace(series.facts, ids=_without_tmdb(series.facts))
            yield f"{_key(shows)}/season/{number}", f"{video.folder}/season.nfo", season_nfo(facts, number)


def _beside_videos(series: DescribedSeries, show_title: str | None) -> Iterator[tuple[str, str, str]]:
    for video in series.videos:
        path = str(PurePosixPath(video.path).with_suffix(".nfo"))
        if series.is_film:
            yield f"{series.id}/film/{video.label or ''}", path, film_nfo(series.facts)
        elif video.season is not None and video.numbers:
            counted = video.label or "-".join(f"{number:g}" for number in video.episodes)
            yield f"{series.id}/episode/{counted}", path, _episode_text(series, video, show_title)


def _episode_text(series: DescribedSeries, video: DescribedVideo, show_title: str | None) -> str:
    return episode_nfo(
        [
            (_episode_facts(series, video, place), video.season or 0, number)
            for place, number in enumerate(video.numbers)
        ],
        show_title=show_title,
    )


def _episode_facts(series: DescribedSeries, video: DescribedVideo, place: int) -> WorkFacts:
    """What is known of one of the episodes in a file. It has no ids: those of its series are not its own."""
    counted = video.episodes[place] if place < len(video.episodes) and video.label is None else None
    known = None if counted is None else series.known.get(counted)
    if known is None:
        return WorkFacts(title=video.label)
    return WorkFacts(title=known.title(*series.languages), aired=known.air_date)


def _without_tmdb(facts: WorkFacts) -> dict[str, int]:
    return {service: number for service, number in facts.ids.items() if service != "tmdb"}


def _key(group: Sequence[DescribedSeries]) -> int:
    """The series that was there first: it stays the same when others come into the folder."""
    return min(series.id for series in group)

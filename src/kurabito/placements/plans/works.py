"""From what is said of the videos to what each is: episodes, specials, films, and what a person has to say."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from kurabito.placements.plans.folders import OF_FILMS, FolderKind, folder_kind, read_folder
from kurabito.placements.plans.model import PlanContext, ShowContext, Work, WorkKind, because
from kurabito.placements.plans.own_names import is_of_camera
from kurabito.placements.plans.reading import VideoReading
from kurabito.placements.plans.reasons import PlanReason
from kurabito.placements.plans.seasons import (
    WorkReading,
    episode_work,
    place_by_names,
    place_in_series,
    with_show_of_part,
)
from kurabito.titles import fold_title, parse_title

_SAYS_MOVIE: Final = re.compile(r"(?<![A-Za-z])Movies? ?\d", re.I)
_DISC: Final = re.compile(r"(?<![A-Za-z])(?:cd|disc|disk)[ ._-]?\d", re.I)
_VOLUME: Final = re.compile(r"(?:dis[ck]|vol|volume|dvd|bd|cd|box|part)[ ._-]?\d", re.I)
# A year that is no word of the name: `(2001)`, `.2001.`.
_BETWEEN_MARKS: Final = re.compile(r"[(\[.](?:19|20)\d\d[)\].]|[.](?:19|20)\d\d$")
_MANY: Final = 3
_DWARFED: Final = 20
"""No film is so much smaller than what lies beside it."""
MOST_EPISODES: Final = 6
"""One file with more of them is a whole season in one, or a range that is none."""


def place_videos(readings: Sequence[VideoReading], context: PlanContext) -> list[WorkReading]:
    """What each video is, as far as it can be told without comparing it with the others' outcome."""
    unnumbered = _Unnumbered(readings, context)
    resolved = [unnumbered.resolve(reading) for reading in readings]
    told = [one if isinstance(one, VideoReading) else None for one in resolved]
    numbered = [one for one in told if one is not None and one.kind is WorkKind.EPISODE]
    placed = iter(place_in_series(numbered, context) if _series(context) else place_by_names(numbered))
    return with_show_of_part([_one(one, placed.__next__, context) for one in resolved])


def _series(context: PlanContext) -> tuple[ShowContext, ...]:
    return tuple(show for show in context.shows if not show.is_film)


def _one(one: VideoReading | WorkReading, next_episode: Callable[[], WorkReading], context: PlanContext) -> WorkReading:
    if isinstance(one, WorkReading):
        return one
    if one.kind is WorkKind.EPISODE:
        return _checked(one, next_episode())
    return _film(one, context) if one.kind is WorkKind.FILM else _special(one, context)


def _checked(reading: VideoReading, placed: WorkReading) -> WorkReading:
    """An episode, unless its own name says two things."""
    if placed.work is None:
        return placed
    if reading.other_season is not None:
        other = episode_work(reading, reading.other_season)
        folder = next((name for name in reversed(reading.path.folders) if read_folder(name).season is not None), None)
        return WorkReading(None, because(PlanReason.TWO_SEASONS, folder=folder), (placed.work, other))
    episodes = placed.work.episodes
    follows = all(later - sooner == 1 for sooner, later in pairwise(episodes))
    if len(episodes) > MOST_EPISODES or not follows:
        return WorkReading(None, because(PlanReason.MANY_EPISODES, episodes=list(episodes)), (placed.work,))
    return placed


def _special(reading: VideoReading, context: PlanContext) -> WorkReading:
    series = _series(context)
    show = series[0] if series else None
    label = f"S{reading.special_of} {reading.label}" if reading.special_of and reading.label else reading.label
    work = Work(
        kind=WorkKind.SPECIAL,
        title=show.names[0] if show and show.names else reading.title,
        season=0,
        episodes=reading.episodes,
        label=label,
        year=show.facts.year if show else reading.year,
        series_id=show.series_id if show else None,
    )
    return WorkReading(work, because(PlanReason.SPECIAL, label=label))


def _film(reading: VideoReading, context: PlanContext) -> WorkReading:
    title = reading.title
    if reading.film_number is not None and title is not None and not _SAYS_MOVIE.search(title):
        title = f"{title} Movie {reading.film_number}"
    work = Work(kind=WorkKind.FILM, title=title, year=reading.year, part=reading.part)
    films = [show for show in context.shows if show.is_film]
    if films:
        show = films[0]
        named = Work(
            kind=WorkKind.FILM,
            title=show.names[0] if show.names else title,
            year=show.facts.year or reading.year,
            part=reading.part,
            series_id=show.series_id,
        )
        return WorkReading(named, because(PlanReason.FILM))
    if context.shows:
        # A film among the episodes of a series is a work of its own, and no one said that it is wanted.
        return WorkReading(None, because(PlanReason.OTHER_SHOW, title=title), (work,))
    return WorkReading(work, because(PlanReason.FILM if reading.said_film or reading.year else PlanReason.ONLY_VIDEO))


class _Unnumbered:
    """Tells what a video without a number is, from what lies beside it."""

    def __init__(self, readings: Sequence[VideoReading], context: PlanContext) -> None:
        self.context = context
        self._count = len(readings)
        self._in_folder = Counter(reading.path.folders for reading in readings)
        self._titles = Counter(_folded(reading) for reading in readings)
        self._told = {_folded(reading) for reading in readings if reading.kind is not None}
        self._numbered = {_folded(reading) for reading in readings if reading.kind is WorkKind.EPISODE} - {""}
        loose = [reading for reading in readings if reading.kind is None]
        self._years: dict[str, Counter[int | None]] = defaultdict(Counter)
        for reading in loose:
            self._years[_folded(reading)][reading.own_year] += reading.part is None
        self._begun = Counter(_beginning(reading) for reading in loose)
        self._loose = Counter(reading.path.folders for reading in loose if reading.own_year is None)
        names = {fold_title(name) for show in context.shows if show.is_film for name in show.names}
        self._of_context = {title for title in self._titles if title and title in names}
        self._largest = max((reading.path.size for reading in readings), default=0)

    def resolve(self, reading: VideoReading) -> VideoReading | WorkReading:
        """The reading with a kind, or a question."""
        if self._of_context and self._count > 1 and reading.kind in (None, WorkKind.FILM):
            return self._named_film(reading)
        if reading.kind is not None:
            return self._film_of_context(reading)
        if found := self._by_folder(reading):
            return found
        if self.context.shows and not self.context.shows[0].is_film:
            return self._only_episode(reading)
        film = replace(reading, kind=WorkKind.FILM, episodes=())
        is_no_film = reading.dated or reading.sectioned or reading.season is not None or is_of_camera(reading.path)
        if not is_no_film and self._stands_alone(reading):
            return film
        work = Work(kind=WorkKind.FILM, title=reading.title, year=reading.year)
        return WorkReading(None, because(PlanReason.NO_NUMBER), (work,))

    def _named_film(self, reading: VideoReading) -> VideoReading | WorkReading:
        """Of several films the one that has the name of the film that is wanted."""
        if _folded(reading) in self._of_context:
            return replace(reading, kind=WorkKind.FILM, episodes=())
        work = Work(kind=WorkKind.FILM, title=reading.title, year=reading.year, part=reading.part)
        return WorkReading(None, because(PlanReason.OTHER_SHOW, title=reading.title), (work,))

    def _film_of_context(self, reading: VideoReading) -> VideoReading:
        """The only video of a film's download is that film, whatever number its name has."""
        shows = self.context.shows
        if self._count == 1 and shows and all(show.is_film for show in shows):
            return replace(reading, kind=WorkKind.FILM, episodes=())
        return reading

    def _by_folder(self, reading: VideoReading) -> VideoReading | None:
        """A release in a folder of its own: the folder has the name that the file lacks."""
        above = [read_folder(name) for name in reading.path.folders[-1:]]
        episodes = above[0].episodes if above and self._in_folder[reading.path.folders] == 1 else ()
        title, season = (above[0].title, above[0].season) if above else (None, None)
        if not above and self._count == 1 and self.context.release_title:
            told = parse_title(self.context.release_title)
            episodes, title, season = told.episodes, told.title, told.season
        if not episodes or len(episodes) > MOST_EPISODES:
            return None
        return replace(reading, kind=WorkKind.EPISODE, title=title or reading.title, season=season, episodes=episodes)

    def _only_episode(self, reading: VideoReading) -> VideoReading | WorkReading:
        wanted = self.context.link_episodes
        if self._count == 1 and 0 < len(wanted) <= MOST_EPISODES:
            show = self.context.shows[0]
            work = replace(episode_work(reading, show.season, wanted), series_id=show.series_id)
            named = replace(work, title=show.names[0] if show.names else reading.title, year=show.facts.year)
            return WorkReading(named, because(PlanReason.ONLY_EPISODE, episodes=list(wanted)))
        alone = self._count == 1 and not wanted
        film = Work(kind=WorkKind.FILM, title=reading.title, year=reading.year)
        return WorkReading(None, because(PlanReason.NO_NUMBER), (film,) if alone else ())

    def _stands_alone(self, reading: VideoReading) -> bool:
        """Whether no other video has its title, or one that begins or ends it."""
        own = _folded(reading)
        if self._count == 1:
            return True
        if reading.title is None:
            return False
        if self._is_programme(own):
            return False
        if self._titles[own] > 1:
            # Several files of one film: which one is for a person to say, but a film it is.
            parts = reading.part is not None and (self._titles[own] == 2 or bool(_DISC.search(reading.path.stem)))
            return parts or (reading.part is None and own not in self._told and reading.year is not None)
        if self._is_one_of_many(reading):
            return False
        if (reading.own_year is not None and reading.own_title) or self._has_own_folder(reading, own):
            return True
        if self._is_part_of_folder(reading, own):
            return False
        return not any(own.startswith(title) or title.startswith(own) for title in self._numbered)

    def _is_programme(self, own: str) -> bool:
        """Whether some videos of one title have one year and others another: films of a name are shown once a year."""
        years = self._years[own]
        return len(years) > 1 and max(years.values()) > 1

    def _is_one_of_many(self, reading: VideoReading) -> bool:
        """Whether others beside it are called alike, or lie with it in the folder of a show: episodes that only have names."""
        if reading.own_year is None and self._largest > _DWARFED * reading.path.size > 0:
            return True
        if reading.own_title and _beginning(reading)[1] and self._begun[_beginning(reading)] >= _MANY:
            return True
        folder = reading.path.folders[-1] if reading.path.folders else ""
        is_sorted = folder_kind(folder) is not FolderKind.NAMED and _VOLUME.match(folder) is None
        is_shelf = not folder or is_sorted or OF_FILMS.search(folder) is not None
        is_dated = reading.own_year is not None and _BETWEEN_MARKS.search(reading.path.stem) is not None
        return not is_dated and not is_shelf and self._loose[reading.path.folders] >= _MANY

    def _is_part_of_folder(self, reading: VideoReading, own: str) -> bool:
        """Whether the folder is one work, by its year, and has other videos beside this one: a day of a race, a pilot."""
        above = read_folder(reading.path.folders[-1]) if reading.path.folders else None
        if above is None or above.year is None or self._in_folder[reading.path.folders] == 1:
            return False
        return fold_title(above.title or "") != own

    def _has_own_folder(self, reading: VideoReading, own: str) -> bool:
        """Whether it is the only video of a folder that is called as it is."""
        folders = reading.path.folders
        alone = bool(folders) and self._in_folder[folders] == 1
        return alone and fold_title(read_folder(folders[-1]).title or "") == own


def _beginning(reading: VideoReading) -> tuple[tuple[str, ...], str, int | None]:
    """Its folder, what its title begins with, and its year: `Koji` of `Koji - Rice`."""
    begun, dash, _ = (reading.title or "").partition(" - ")
    return reading.path.folders, fold_title(begun) if dash else "", reading.own_year


def _folded(reading: VideoReading) -> str:
    return fold_title(reading.title or reading.path.stem)

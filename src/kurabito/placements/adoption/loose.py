"""Files that lie in no folder of a show: on a shelf, or several seasons in one folder. Their own names say what they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kurabito.catalog.matching.clues import FolderReading
from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind
from kurabito.placements.adoption.units import LibraryVideo
from kurabito.placements.plans.model import WorkKind
from kurabito.placements.plans.paths import SplitPath
from kurabito.placements.plans.reading import VideoReading, read_video
from kurabito.titles import parse_title


@dataclass(frozen=True, slots=True)
class LooseGroup:
    """Files of one folder whose names say the same show and season."""

    folder: str
    reading: FolderReading
    word: str | None
    """What makes them specials: `OVA`."""
    videos: tuple[LibraryVideo, ...]
    is_stray: bool = False
    """They lie in a folder that is not known."""

    @property
    def title(self) -> str:
        return self.reading.names[0].shown

    @property
    def as_special(self) -> FolderReading | None:
        """The same as an entry of its own: `Yoru no Kurabito OVA`; None for what is no special."""
        if self.word is None:
            return None
        return replace(self.reading, names=tuple(Name.of(f"{name.shown} {self.word}") for name in self.reading.names))


def group_by_names(
    videos: Iterable[LibraryVideo], *, only_own: bool = False
) -> tuple[list[LooseGroup], list[LibraryVideo]]:
    """The files by what their names say, and those whose names say nothing; `only_own` where folders do not count."""
    groups: dict[tuple[str, FolderReading, str | None], list[LibraryVideo]] = defaultdict(list)
    silent: list[LibraryVideo] = []
    for video in videos:
        told = read_video(SplitPath.of(video.path))
        reading = _reading(told)
        if reading is None or (only_own and not told.own_title):
            silent.append(video)
        else:
            groups[video.path.rpartition("/")[0], reading, _word(told)].append(video)
    return [LooseGroup(*key, tuple(some)) for key, some in groups.items()], silent


def _word(told: VideoReading) -> str | None:
    is_special = told.kind is WorkKind.SPECIAL and told.label and told.label[0].isalpha()
    return (told.label or "").partition(" ")[0] if is_special and not (told.label or "").startswith("S00") else None


def _reading(told: VideoReading) -> FolderReading | None:
    if not told.title:
        return None
    path = told.path
    titles = [told.title, *parse_title(path.name).titles] if told.own_title else [told.title]
    names = {name.folded: name for name in map(Name.of, titles) if name.folded}
    if not names:
        return None
    is_episode = told.kind is WorkKind.EPISODE
    return FolderReading(
        names=tuple(names.values()),
        season=told.season if is_episode else None,
        # Files of one show may name the year or not; of a film it tells which one it is.
        year=None if is_episode and told.own_year is None else told.year,
        kind=SeriesKind.MOVIE if told.kind is WorkKind.FILM else SeriesKind.TV if is_episode else None,
    )

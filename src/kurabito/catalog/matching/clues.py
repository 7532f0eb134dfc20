"""What a folder says it is about: by its own name, and where that is silent by the folders above it and the files in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kurabito.catalog.releases import Name
from kurabito.catalog.states import SeriesKind
from kurabito.metadata.lookup import read_sequel
from kurabito.titles import ReleaseKind, ReleaseTitle, parse_title

VIDEOS: Final = frozenset("mkv mp4 avi wmv m4v mov mpg mpeg webm flv rmvb ogm m2ts ts".split())
_FILMS: Final = frozenset(("movies", "movie", "films", "film", "映画", "劇場版", "电影", "電影", "剧场版"))
_SHELVES: Final = _FILMS | frozenset(
    (
        "anime",
        "tv",
        "tv shows",
        "shows",
        "series",
        "videos",
        "video",
        "media",
        "downloads",
        "アニメ",
        "动画",
        "動畫",
        "动漫",
    )
)
# What lies beside the episodes of a show, and is about no other.
_BESIDES: Final = frozenset(
    "extras extra specials special sp sps bonus featurettes trailers trailer nc ncop nced menu menus cm cms pv pvs cd cds "
    "ost scans sample samples subs subtitles interviews shorts other 特典 特典映像 映像特典".split()
) | {"behind the scenes", "deleted scenes"}
_BESIDES_KINDS: Final = frozenset((ReleaseKind.SPECIAL, ReleaseKind.OPENING, ReleaseKind.ENDING, ReleaseKind.TRAILER))
_IN_BRACKETS: Final = re.compile(r"\[[^\]]*\]|\([^)]*\)|【[^】]*】")
_MOST_LEVELS: Final = 3
_LARGEST: Final = 9999


@dataclass(frozen=True, slots=True)
class FolderReading:
    """What a folder, or a series, says that it is about."""

    names: tuple[Name, ...]
    season: int | None = None
    year: int | None = None
    kind: SeriesKind | None = None
    """None where nothing tells a film from a show."""
    has_several_seasons: bool = False
    names_of_files: tuple[Name, ...] = ()
    """What its files are called, all of them; for a folder whose own name is unknown."""
    whole: Name | None = None
    """Its name as it is written, without what stands in brackets: R2 is a mark of discs, and a part of a title."""
    country: str | None = None
    """Whose version of a show it is, as a code of ISO 3166-1: The Office (US)."""

    def as_sequel(self) -> FolderReading | None:
        """The same, read as a later season of a show: a number behind a name that is unknown with it is one."""
        if self.season is not None or self.kind is SeriesKind.MOVIE or self.has_several_seasons:
            return None
        names = self.names if self.whole is None else (*self.names, self.whole)
        sequels = [found for name in names if (found := read_sequel(name.shown)) is not None]
        if len({sequel.season for sequel in sequels}) != 1:
            return None
        shows = tuple(dict.fromkeys(Name.of(sequel.name) for sequel in sequels))
        return FolderReading(shows, sequels[0].season, self.year, SeriesKind.TV)

    def as_stored(self) -> dict[str, Any]:
        """As the database keeps it."""
        return {
            "names": [name.shown for name in self.names],
            "season": self.season,
            "year": self.year,
            "kind": self.kind,
            "has_several_seasons": self.has_several_seasons,
            "names_of_files": [name.shown for name in self.names_of_files],
            "whole": None if self.whole is None else self.whole.shown,
            "country": self.country,
        }

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> FolderReading:
        """What `as_stored` wrote."""
        names, of_files = (tuple(map(Name.of, stored[field])) for field in ("names", "names_of_files"))
        kind = None if stored["kind"] is None else SeriesKind(stored["kind"])
        whole = Name.of(text) if (text := stored.get("whole")) else None
        several, country = stored["has_several_seasons"], stored.get("country")
        return cls(names, stored["season"], stored["year"], kind, several, of_files, whole, country)


def is_video(path: str) -> bool:
    """Whether a file is one that a show or a film is made of."""
    return path.rpartition(".")[2].lower() in VIDEOS


def read_folder(folder: str, files: Sequence[str]) -> FolderReading | None:
    """What a folder is about; None when it is about nothing of its own: a shelf, or extras of the folder above.

    `files` are the names of files in it, in their order. Only the first and the last are read.
    """
    parts = folder.split("/")
    found = _read_part(parts[-1])
    if _is_besides(parts[-1], found) or parts[-1].casefold() in _SHELVES:
        return None
    season, year = found.season, found.year
    whole = None if found.title is None else _whole(parts[-1])
    for part in parts[-2 : -_MOST_LEVELS - 1 : -1]:
        if found.title is not None or part.casefold() in _SHELVES:
            break
        found = _read_part(part)
        season = found.season if season is None else season
        year = found.year if year is None else year
    if season == 0:
        return None
    # A folder that says all of it needs no help from its files.
    asked = dict.fromkeys((files[0], files[-1])) if files and (season is None or found.title is None) else ()
    titles = [parse_title(name) for name in asked]
    seasons = {one.season for one in titles if one.season is not None}
    if season is None and len(seasons) == 1:
        (season,) = seasons
    if year is None:
        year = next((one.year for one in titles if one.year is not None), None)
    return FolderReading(
        _names(found),
        _within(season),
        _within(year),
        _kind(found, parts, season),
        has_several_seasons=season is None and len(seasons) > 1,
        names_of_files=_shared(titles),
        whole=whole,
        country=found.country,
    )


def _read_part(name: str) -> ReleaseTitle:
    found = parse_title(name)
    if found.episodes and found.title and not (found.seasons or found.source or found.resolution or found.group):
        # A folder is no episode: the number belongs to the name.
        return ReleaseTitle(title=name.strip(), titles=(name.strip(),), year=found.year, kind=found.kind)
    return found


def _whole(name: str) -> Name | None:
    bare = " ".join(_IN_BRACKETS.sub(" ", name).split())
    return Name.of(bare) if bare else None


def _is_besides(name: str, found: ReleaseTitle) -> bool:
    return name.casefold().strip() in _BESIDES or (found.title is None and found.kind in _BESIDES_KINDS)


def _kind(found: ReleaseTitle, parts: Sequence[str], season: int | None) -> SeriesKind | None:
    if season is not None:
        return SeriesKind.TV
    if found.kind is ReleaseKind.MOVIE or any(part.casefold() in _FILMS for part in parts[:-1]):
        return SeriesKind.MOVIE
    return None


def _names(found: ReleaseTitle) -> tuple[Name, ...]:
    titles = (title for title in (found.title, *found.titles) if title and title.strip())
    names = (Name.of(title) for title in titles)
    return tuple({name.folded: name for name in names}.values())


def _shared(titles: Iterable[ReleaseTitle]) -> tuple[Name, ...]:
    """The names that all of the files have."""
    names = [_names(one) for one in titles]
    if not names:
        return ()
    in_all = set[str].intersection(*({name.folded for name in each} for each in names))
    return tuple(name for name in names[0] if name.folded in in_all)


def _within(number: int | None) -> int | None:
    return number if number is not None and 0 < number <= _LARGEST else None

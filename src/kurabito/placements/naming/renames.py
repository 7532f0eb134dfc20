"""What another naming would rename: every file of a library that has a name from us, before anything is touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from kurabito.placements.errors import ValueUnknown
from kurabito.placements.naming.presets import NamingSettings
from kurabito.placements.naming.safe_names import twin_key
from kurabito.placements.naming.sidecars import TrackTag
from kurabito.placements.naming.spelling import Spelling
from kurabito.placements.naming.targets import (
    beside,
    episode_stem,
    extra_stem,
    film_stem,
    season_folder_of,
    series_folder,
    with_extension,
)
from kurabito.placements.naming.tokens import NameFacts


class FiledFile(NamedTuple):
    """A file that has a name from us, and what it was named by."""

    path: str
    facts: NameFacts
    is_film: bool = False
    tag: TrackTag | None = None
    """For a subtitle or audio file: it is named after its video."""
    folder: str | None = None
    """The folder that its series keeps; None: the template says it."""
    part: int | None = None
    """Of a film in several files."""
    is_extra: bool = False
    """An opening, a trailer, a menu: it keeps its own name."""
    season_folder: str | None = None
    """The folder that its season keeps below that of its series; None: the template says it."""


class Rename(NamedTuple):
    """A file that would be called otherwise."""

    path: str
    target: str


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """What a naming would change."""

    renames: tuple[Rename, ...] = ()
    unchanged: int = 0
    unknown: tuple[tuple[str, str], ...] = ()
    """Files that keep their names because a fact is not known: the path and the token."""
    twins: tuple[str, ...] = ()
    """Files that keep their names because two of them would get the same."""


def plan_renames(files: Iterable[FiledFile], naming: NamingSettings, others: Iterable[str] = ()) -> RenamePlan:
    """What each of these files would be called. Nothing is renamed onto the name of another.

    `others` are the paths of files that stay: their folders are used as they are spelled.
    """
    spelling = Spelling({path.rpartition("/")[0] for path in others})
    namer = _Namer(naming)
    found: list[Rename] = []
    unknown: list[tuple[str, str]] = []
    for file in files:
        try:
            found.append(Rename(file.path, spelling.of_folder(namer.name(file))))
        except ValueUnknown as missing:
            unknown.append((file.path, missing.token))
    keys = [twin_key(rename.target) for rename in found]
    names = Counter(keys)
    names.update(twin_key(path) for path, _ in unknown)
    twins = tuple(rename.path for rename, key in zip(found, keys, strict=True) if names[key] > 1)
    changed = tuple(
        rename for rename, key in zip(found, keys, strict=True) if rename.path != rename.target and names[key] == 1
    )
    return RenamePlan(changed, len(found) - len(changed) - len(twins), tuple(unknown), twins)


class _Namer:
    """Names the files of a library; the folders of a series and of its seasons are made once for all of their files."""

    def __init__(self, naming: NamingSettings) -> None:
        self._naming = naming
        self._series = _Folders(naming, "series_folder", series_folder)
        self._seasons = _Folders(naming, "season_folder", season_folder_of)

    def name(self, file: FiledFile) -> str:
        extension = file.path.rpartition(".")[2]
        if file.is_extra:
            stem = extra_stem(self._naming, file.facts, file.folder, film=file.is_film)
        elif file.is_film:
            stem = film_stem(self._naming, file.facts, file.folder, file.part)
        else:
            folder = file.folder or self._series.of(file.facts)
            season = file.season_folder or self._seasons.of(file.facts)
            stem = episode_stem(self._naming, file.facts, folder, season)
        return with_extension(stem, extension) if file.tag is None else beside(stem, file.tag, self._naming, extension)


class _Folders:
    """One kind of folder, each made once: by the facts that its template names."""

    def __init__(self, naming: NamingSettings, template: str, make: Callable[[NamingSettings, NameFacts], str]) -> None:
        self._naming = naming
        self._make = make
        # A title in a language falls back to the title, and `episodes` is made of the numbers.
        tokens = {"title", "episode" if "episodes" in (used := {*naming.template(template).tokens}) else "title", *used}
        self._told = attrgetter(*sorted(tokens - {"episodes"}))
        self._known: dict[object, str] = {}

    def of(self, facts: NameFacts) -> str:
        told = self._told(facts)
        folder = self._known.get(told)
        if folder is None:
            folder = self._known[told] = self._make(self._naming, facts)
        return folder

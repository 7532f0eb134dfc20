"""Which folders and files of a library go together: everything below the folder of one show. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kurabito.placements.plans.classes import classify
from kurabito.placements.plans.folders import FolderKind, read_folder
from kurabito.placements.plans.model import FileClass
from kurabito.placements.plans.paths import SplitPath

_OF_A_SHOW: Final = frozenset((FolderKind.SEASON, FolderKind.SPECIALS, FolderKind.NEUTRAL, FolderKind.FILMS))
"""What such a folder is called says nothing about the show: that is what the folder above it is called."""


class LibraryVideo(NamedTuple):
    """A video of a library."""

    id: int
    path: str
    size: int


class FolderLook(NamedTuple):
    """What matching found out about a folder."""

    folder: str
    metadata_id: int | None
    is_ignored: bool
    has_several_seasons: bool
    """Its files are of several seasons, so that it is no single one."""
    is_unknown: bool = False
    """Nothing is known by its name: `incoming`, `to sort`."""


@dataclass(frozen=True, slots=True)
class AdoptionUnit:
    """The folder of a show, with its seasons and specials below it."""

    folder: str
    records: tuple[int, ...]
    """What it is about: one record for each season that has a folder of its own."""
    videos: tuple[LibraryVideo, ...]


@dataclass(frozen=True, slots=True)
class SortedLibrary:
    """The videos of a library, by what can be done with them."""

    units: tuple[AdoptionUnit, ...]
    loose: tuple[LibraryVideo, ...]
    """They lie in no folder of a single show. Their names may say it."""
    unmatched: tuple[LibraryVideo, ...]
    """They lie in a folder that a person has to identify."""
    stray: tuple[LibraryVideo, ...]
    """The same, but nothing is known by the folder's name, so that their own may say more."""
    ignored: tuple[LibraryVideo, ...]
    """They lie in a folder that a person called unknown."""


def show_folder(folder: str) -> str:
    """The folder of the show that a folder is part of.

    >>> show_folder("Anime/Yoru no Kurabito/Season 2")
    'Anime/Yoru no Kurabito'
    """
    above, slash, last = folder.rpartition("/")
    while slash and read_folder(last).kind in _OF_A_SHOW and read_folder(above.rpartition("/")[2]).title:
        folder = above
        above, slash, last = folder.rpartition("/")
    return folder


def sort_library(looks: Sequence[FolderLook], videos: Iterable[LibraryVideo]) -> SortedLibrary:
    """Put the videos of a library with their shows."""
    records: dict[str, dict[int, None]] = defaultdict(dict)
    for one in looks:
        if one.metadata_id is not None and not one.is_ignored:
            records[show_folder(one.folder)].setdefault(one.metadata_id)
    others = {one.folder: one for one in looks if one.metadata_id is None or one.is_ignored}
    beside = _beside(records)
    found: dict[str, list[LibraryVideo]] = defaultdict(list)
    loose: list[LibraryVideo] = []
    unmatched: list[LibraryVideo] = []
    stray: list[LibraryVideo] = []
    ignored: list[LibraryVideo] = []
    for video in videos:
        if classify(SplitPath.of(video.path)).file_class is not FileClass.VIDEO:
            continue
        folder, look = _home(video.path, records, others)
        if folder is None and (look is None or not look.is_ignored):
            folder = _special_home(video.path, beside)
        if folder is not None:
            found[folder].append(video)
        elif look is not None and look.is_ignored:
            ignored.append(video)
        elif look is None or look.has_several_seasons:
            loose.append(video)
        else:
            (stray if look.is_unknown else unmatched).append(video)
    units = [AdoptionUnit(folder, tuple(records[folder]), tuple(some)) for folder, some in sorted(found.items())]
    return SortedLibrary(tuple(units), tuple(loose), tuple(unmatched), tuple(stray), tuple(ignored))


def _home(
    path: str, records: dict[str, dict[int, None]], others: dict[str, FolderLook]
) -> tuple[str | None, FolderLook | None]:
    """The folder of the show that a file lies in; or the nearest folder that is not known."""
    folder = path.rpartition("/")[0]
    while folder:
        if folder in records:
            return folder, None
        if (look := others.get(folder)) is not None and not (
            show_folder(folder) != folder and show_folder(folder) in records and not look.is_ignored
        ):
            return None, look
        folder = folder.rpartition("/")[0]
    return None, None


def _beside(roots: Iterable[str]) -> dict[str, str]:
    """By the folder that several seasons lie in, the first of them: what lies beside them is of the show."""
    found: dict[str, str] = {}
    for root in sorted(roots, reverse=True):
        above = root.rpartition("/")[0]
        if above and read_folder(above.rpartition("/")[2]).title:
            found[above] = root
    return found


def _special_home(path: str, beside: dict[str, str]) -> str | None:
    """`Show/OVA/01.mkv` beside `Show/Show S1`: a special of the first season."""
    folder = path.rpartition("/")[0]
    above, _, last = folder.rpartition("/")
    return beside.get(above) if read_folder(last).kind is FolderKind.SPECIALS else None
